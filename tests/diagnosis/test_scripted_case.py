"""A scripted policy through `rootproof diagnose`, on each runner: success with both sides as one subject, confirmed in
another checkout, stale after one changed line, refuted after an edit.

``make test`` has a small case on node:test; the reference case on every runner is part of ``make test-suites``.
"""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rootproof import assemble, verify
from rootproof.assemble import Options
from rootproof.report.build import Ledger, build
from small_project import dedented

EXAMPLES = Path(__file__).parents[2] / "examples" / "login-redirect"
VITEST = EXAMPLES / "typescript" / "node_modules" / "vitest" / "vitest.mjs"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_modules = pytest.mark.skipif(
    shutil.which("node") is None or not VITEST.is_file(),
    reason="vitest is not installed in examples/login-redirect/typescript (npm ci)",
)

SMALL: Mapping[str, str] = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "src/entry.mjs": """
        export function enter(session, page) {
          session['wanted_page'] = page
          return '/sign-in'
        }
        """,
    "src/back.mjs": """
        export function comeBack(session, name) {
          if (!name) return '/refused'
          return session['next_page'] ?? '/'
        }
        """,
    "test/sign-in.test.mjs": """
        import assert from 'node:assert/strict'
        import { test } from 'node:test'
        import { comeBack } from '../src/back.mjs'
        import { enter } from '../src/entry.mjs'

        test('comes back to the page', () => {
          const session = {}
          enter(session, '/settings')
          assert.equal(comeBack(session, 'mina'), '/settings')
        })

        test('asks to sign in', () => {
          assert.equal(enter({}, '/settings'), '/sign-in')
        })

        test('goes home without a page', () => {
          assert.equal(comeBack({}, 'mina'), '/')
        })

        test('refuses the nameless', () => {
          assert.equal(comeBack({}, ''), '/refused')
        })
        """,
}
SMALL_POLICY = [
    {"type": "action", "tool": "read_file", "input": {"path": "src/entry.mjs"}},
    {"type": "action", "tool": "read_file", "input": {"path": "src/back.mjs"}},
    {
        "type": "action",
        "tool": "try_change",
        "input": {
            "edits": [
                {"path": "src/back.mjs", "start": 3, "end": 3, "text": "  return session['wanted_page'] ?? '/'"},
            ]
        },
    },
    {"type": "final"},
]


@dataclass(frozen=True)
class Played:
    """One case, and where it was diagnosed."""

    project: Path
    sides: tuple[str, ...]
    grade: str
    report: dict[str, Any]
    told: str


@dataclass(frozen=True)
class Kind:
    """One project with its target."""

    source: Path | None
    runner: str
    target: str
    sides: tuple[str, ...]
    grade: str = "B"
    """Where nothing tells what ran, B is the best there is."""


TS_SIDES = ("src/auth/callback.ts", "src/auth/login.ts")
KINDS = {
    "small": Kind(None, "", "test/sign-in.test.mjs#comes back to the page", ("src/back.mjs", "src/entry.mjs")),
    "vitest": Kind(
        EXAMPLES / "typescript", "", "tests/auth/login-redirect.test.ts#returns-to-requested-page", TS_SIDES
    ),
    "node_test": Kind(
        EXAMPLES / "typescript",
        "node_test",
        "tests-node/auth/login-redirect-test.mjs#returns-to-requested-page",
        TS_SIDES,
    ),
    "pytest": Kind(
        EXAMPLES / "python",
        "",
        "tests/auth/test_login_redirect.py::test_returns_to_requested_page",
        ("src/shop/auth/callback.py", "src/shop/auth/login.py"),
        "A",
    ),
}


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "rootproof", *map(str, words)]
    return subprocess.run(whole, capture_output=True, text=True, timeout=900)


def lay(kind: Kind, project: Path) -> Path:
    """The project, and the script that plays the model."""
    if kind.source is not None:
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv", ".vite")
        shutil.copytree(kind.source, project, ignore=ignored, symlinks=True)
        return EXAMPLES / "diagnose_policy.py"
    for path, text in SMALL.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(dedented(text))
    script = project.parent / "policy.json"
    script.write_text(json.dumps(SMALL_POLICY))
    return script


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("small", marks=needs_node),
        pytest.param("vitest", marks=[needs_modules, pytest.mark.suites]),
        pytest.param("node_test", marks=[needs_modules, pytest.mark.suites]),
        pytest.param("pytest", marks=pytest.mark.suites),
    ],
)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    kind = KINDS[request.param]
    place = tmp_path_factory.mktemp(request.param)
    project, store = place / "project", place / "runs.db"
    script = lay(kind, project)
    words: list[str | Path] = ["diagnose", kind.target, "--root", project, "--store", store]
    words += ["--model", f"scripted:{script}", *(["--runner", kind.runner] if kind.runner else [])]
    if request.param == "pytest":
        words += ["--python", sys.executable]
    done = command(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    opened = assemble.open_store(store, read_only=True)
    run = opened.find("last")
    report = json.loads(json.dumps(build(Ledger(run, tuple(opened.events(run)), opened.blob))))
    return Played(project, kind.sides, kind.grade, report, done.stdout)


def is_python(repo: Path) -> bool:
    return (repo / "pyproject.toml").is_file()


def copied(project: Path, place: Path) -> Path:
    return Path(shutil.copytree(project, place / "another checkout", symlinks=True))


def test_both_sides_are_one_subject(played: Played) -> None:
    cause = played.report["derived"]["cause"]
    assert "status=success" in played.told
    assert sorted({span["path"] for span in cause["spans"]}) == list(played.sides)
    contained = played.report["derived"]["containment"] == "contained"
    assert cause["grade"] == (played.grade if contained else "B")
    assert cause["neighbours"]["kept"] >= 3 and not cause["neighbours"]["broken"]


def test_one_changed_source_line_makes_it_stale(played: Played, tmp_path: Path) -> None:
    other = copied(played.project, tmp_path)
    with (other / played.sides[1]).open("a") as file:
        file.write("# more\n" if is_python(other) else "// more\n")
    found = verify.verify(played.report, other, Options())
    assert found.answer == "stale" and played.sides[1] in found.reasons[0]


def test_an_edited_field_is_refuted(played: Played) -> None:
    for key, value in (("grade", "A+"), ("spans", played.report["derived"]["cause"]["spans"][:1])):
        edited = copy.deepcopy(played.report)
        assert edited["derived"]["cause"][key] != value
        edited["derived"]["cause"][key] = value
        assert verify.verify(edited, played.project, Options()).answer == "refuted"


def test_another_checkout_confirms_it(played: Played, tmp_path: Path) -> None:
    file, other = tmp_path / "report.json", copied(played.project, tmp_path)
    file.write_text(json.dumps(played.report))
    done = command("verify", file, "--repo", other, *(["--python", sys.executable] if is_python(other) else []))
    assert done.returncode == 0 and done.stdout.startswith("confirmed"), done.stdout + done.stderr
    assert "run again here" in done.stdout
