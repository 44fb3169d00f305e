"""The public surface is pinned and small, and importing the package does nothing."""

from __future__ import annotations

import subprocess
import sys

import rootproof

SURFACE = {
    "Contract", "ContractError", "Model", "Observation", "Options", "Outcome", "Reply", "RootproofError", "Tool",
    "ToolSpec", "View", "load_contract", "resume", "run",
}  # fmt: skip
HEAVY = {
    "asyncio", "duckdb", "httpx2", "jinja2", "mcp", "openai", "opentelemetry", "procrastinate", "psycopg", "pydantic",
    "pydantic_ai", "pygments", "re2", "rich",
    "sqlite3", "starlette", "subprocess", "typer", "xllamacpp", "yaml",
}  # fmt: skip


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_the_surface_is_pinned() -> None:
    assert set(rootproof.__all__) == SURFACE
    assert len(rootproof.__all__) == len(set(rootproof.__all__)) <= 20


def test_every_public_name_is_there_and_has_words() -> None:
    for name in rootproof.__all__:
        assert getattr(rootproof, name).__doc__, name


def test_a_name_that_is_not_public_is_missing() -> None:
    assert not hasattr(rootproof, "investigate")


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = set(_python("import sys, rootproof; print(*sys.modules)").split())
    assert not HEAVY & loaded
    assert [name for name in loaded if name.startswith("rootproof.")] == []


def test_help_imports_no_part_that_it_does_not_need() -> None:
    code = (
        "import sys, contextlib\nsys.argv = ['rootproof', '--help']\nfrom rootproof.__main__ import main\n"
        "with contextlib.suppress(SystemExit): main()\nprint('LOADED', *sys.modules)"
    )
    loaded = set(_python(code).split("LOADED")[1].split())
    assert not {"asyncio", "pydantic", "pydantic_ai", "jinja2", "re2", "sqlite3", "rootproof.assemble"} & loaded
