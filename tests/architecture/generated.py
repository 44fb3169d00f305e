"""The pages and blocks that are written by a program: ``make docs`` writes them, the tests compare them.

None of them is edited by hand: the source is ``errors.py``, the contract's nouns, or the command line itself.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .house import ROOT, SOURCE

HELP = re.compile(r"(<!-- help:(?P<words>[a-z -]*)-->\n```text\n)(?P<body>.*?)(```)", re.S)
WIDTH = 88


def errors() -> list[type]:
    """Every error class of the project, in the order of ``errors.py``."""
    from rootproof import errors as module

    found = [value for value in vars(module).values() if isinstance(value, type)]
    return [one for one in found if issubclass(one, module.RootproofError) and one.__module__ == module.__name__]


def errors_page() -> str:
    lines = [
        "# Errors",
        "",
        "Every error has a stable code, an exit status and a remedy. The command line prints `error:`, then `hint:`; with",
        "`--json` the same stands in the document. The end of a run (failed, blocked, timed out) is never an error but a",
        "status. This page is made from `errors.py`.",
        "",
        "| code | exit status | what happened | what to do |",
        "|---|---|---|---|",
    ]
    for one in errors():
        if one.__name__ == "RootproofError":
            continue
        said = " ".join((one.__doc__ or "").split())
        lines.append(f"| `{one.code}` | {one.exit_status} | {said} | {one.remedy} |")  # type: ignore[attr-defined]
    return "\n".join(lines) + "\n"


def contract_schema() -> str:
    """JSON Schema of the contract file, with the words that stand below each field in the source."""
    from rootproof.contract import Contract

    schema = Contract.model_json_schema()
    schema["$id"] = "rootproof/contract/1"
    return _with_words(schema, "Contract", SOURCE / "contract.py")


def report_schema() -> str:
    """JSON Schema of ``report.json``, in the same way: what is written, with every field there."""
    from rootproof.report.document import SCHEMA, Report

    schema = Report.model_json_schema(mode="serialization")
    schema["$id"] = SCHEMA
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["required"] = sorted({*schema["required"], "schema"})
    return _with_words(schema, "Report", *(SOURCE / name for name in ("report/document.py", "fact.py", "event.py")))


def _with_words(schema: dict[str, Any], title: str, *sources: Path) -> str:
    words = {name: fields for source in sources for name, fields in _field_words(source).items()}
    for name, part in [(title, schema), *schema.get("$defs", {}).items()]:
        for field, said in words.get(name, {}).items():
            if field in part.get("properties", {}):
                part["properties"][field]["description"] = said
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _field_words(path: Path) -> dict[str, dict[str, str]]:
    words: dict[str, dict[str, str]] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, said in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(said, ast.Expr):
                text = ast.literal_eval(said.value)
                words.setdefault(node.name, {})[field.target.id] = " ".join(str(text).split())
    return words


def help_of(*words: str) -> str:
    """What ``rootproof ... --help`` prints, without colour."""
    from typer.testing import CliRunner

    from rootproof.apps.cli.app import app

    arguments: dict[str, Any] = {"prog_name": "rootproof", "terminal_width": WIDTH, "color": False}
    result = CliRunner().invoke(app, [*words, "--help"], **arguments)
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in result.output.strip().splitlines())


def commands() -> list[str]:
    """Every command's name, as the help lists them."""
    from rootproof.apps.cli.app import app

    return [str(command.name) for command in app.registered_commands]


def command_line_page() -> str:
    parts = ["# Command line", "", "Made from the command line's own help.", "", "```text", help_of(), "```"]
    for name in commands():
        parts += ["", f"## {name}", "", "```text", help_of(name), "```"]
    return "\n".join(parts) + "\n"


def with_help_blocks(text: str) -> str:
    """A page whose ``<!-- help: WORDS -->`` blocks say what the command line says now."""

    def written(found: re.Match[str]) -> str:
        return f"{found.group(1)}{help_of(*found['words'].split())}\n{found.group(4)}"

    return HELP.sub(written, text)


def pages() -> Iterator[tuple[Path, str]]:
    """(file, what it must hold) for every generated file, and every page with generated blocks."""
    yield ROOT / "docs" / "reference" / "errors.md", errors_page()
    yield ROOT / "docs" / "reference" / "command-line.md", command_line_page()
    yield ROOT / "docs" / "schema" / "contract.json", contract_schema()
    yield ROOT / "docs" / "schema" / "report.json", report_schema()
    for page in (*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text("utf-8")
        if HELP.search(text):
            yield page, with_help_blocks(text)


def main() -> None:
    for path, text in pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
