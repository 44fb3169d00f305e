"""Where there is nothing to diagnose, `rootproof diagnose` says what is the case and what to do, and ends with 9."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rootproof import diagnosis
from rootproof.assemble import Options
from rootproof.diagnosis import Question
from rootproof.errors import NotRunnable
from tree_guard import manifest

pytestmark = pytest.mark.contained

GREEN = "def test_a():\n    assert 1 + 1 == 2\n\n\ndef test_apples():\n    assert True\n"


@dataclass(frozen=True)
class Case:
    """A project, what is asked, and the essential words of the answer."""

    files: Mapping[str, str]
    statement: str
    remedy: str
    tests: tuple[str, ...] = ()


def asked_for(settings: str) -> dict[str, str]:
    return {"pytest.ini": f"[pytest]\n{settings}\n", "test_a.py": GREEN}


CASES = {
    "green": Case({"test_a.py": GREEN}, "all 2 tests of the suite pass", "name a test that fails"),
    "no tests": Case({"mod.py": "X = 1\n", "pytest.ini": "[pytest]\n"}, "no tests here", "name a test file"),
    "collection error": Case(
        {"test_a.py": "def test_a(:\n    pass\n"}, "cannot be collected", "mend what is named"
    ),
    "missing dependency": Case(
        {"test_a.py": "import a_module_nobody_has\n\n\ndef test_a():\n    assert a_module_nobody_has\n"},
        "a_module_nobody_has",
        "pip install a_module_nobody_has",
    ),
    "a dependency by another name": Case(
        {"test_a.py": "import MySQLdb\n\n\ndef test_a():\n    assert MySQLdb\n"}, "MySQLdb", "pip install mysqlclient"
    ),
    "empty folder": Case({}, "no test runner was recognised", "--runner"),
    "an option of a plugin": Case(
        asked_for("addopts = --cov=src --cov-report=term"),
        "unrecognized arguments: --cov=src",
        "pip install pytest-cov (the settings ask for --cov, --cov-report), or take --cov, --cov-report out of addopts of pytest.ini",
    ),
    "an option nobody knows": Case(
        asked_for("addopts = --frobnicate"), "--frobnicate", "or take --frobnicate out of addopts of pytest.ini"
    ),
    "a required plugin": Case(
        asked_for("required_plugins = pytest-nobody>=2"), "pytest-nobody>=2", "pip install 'pytest-nobody>=2'"
    ),
    "a plugin loaded by name": Case(asked_for("addopts = -p pytest_nobody"), "pytest_nobody", "-p pytest_nobody"),
    "a setting of a plugin": Case(
        asked_for("addopts = --strict-config\nasyncio_mode = auto"), "asyncio_mode", "pip install pytest-asyncio"
    ),
    "an unknown test": Case(
        {"test_a.py": GREEN}, "there is no such test; near are test_a.py::test_apples", "name a test", ("test_a.py::test_aples",)
    ),
    "an unknown file": Case(
        {"test_a.py": GREEN}, "there is no file test_b.py; near are test_a.py", "name a test", ("test_b.py::test_a",)
    ),
    "a target that passes": Case(
        {"test_a.py": GREEN}, "test_a.py::test_a: it passes here, also in the order of its file", "name a test that fails", ("test_a.py::test_a",)
    ),
    "a file that passes": Case({"test_a.py": GREEN}, "all 2 tests of it pass", "name a test that fails", ("test_a.py",)),
    "a target that is skipped": Case(
        {"test_a.py": "import pytest\n\n\n@pytest.mark.skip(reason='not today')\ndef test_a():\n    assert 0\n"},
        "test_a.py::test_a: it is skipped: not today",
        "name a test that fails",
        ("test_a.py::test_a",),
    ),
}  # fmt: skip


def diagnosed(project: Path, place: Path, *more: str) -> tuple[str, str]:
    """(statement, hint) of a diagnosis that ends with 9 and leaves nothing behind."""
    command = [sys.executable, "-m", "rootproof", "diagnose", *more, "--root", str(project)]
    command += ["--store", str(place / "runs.db"), "--python", sys.executable]
    before = manifest(project) if project.is_dir() else {}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 9, done.stdout + done.stderr
    assert not (place / "runs.db").exists(), "nothing was diagnosed, so nothing is stored"
    assert (manifest(project) if project.is_dir() else {}) == before, "the project was written"
    said = done.stderr.splitlines()
    statement = next(line for line in said if line.startswith("error:"))
    return statement, next(line for line in said if line.startswith("hint:"))


def found(project: Path, *tests: str, python: Path | None = Path(sys.executable)) -> tuple[str, str]:
    """The same without a process of its own: (statement, remedy)."""
    before = manifest(project)
    with pytest.raises(NotRunnable) as caught:
        diagnosis.find(Question(project, tests), Options(interpreter=python), lambda text: None)
    assert manifest(project) == before, "the project was written"
    assert caught.value.exit_status == 9
    return str(caught.value), caught.value.remedy


@pytest.mark.parametrize("name", CASES)
def test_a_clear_statement(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for path, content in case.files.items():
        (tmp_path / path).write_text(content)
    statement, remedy = found(tmp_path, *case.tests)
    assert case.statement in statement
    assert case.remedy in remedy


@pytest.mark.parametrize("name", ["green", "an option of a plugin"])
def test_exit_nine(name: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for path, content in CASES[name].files.items():
        (project / path).write_text(content)
    statement, hint = diagnosed(project, tmp_path)
    assert CASES[name].statement in statement and CASES[name].remedy in hint


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    statement, hint = diagnosed(tmp_path / "file", tmp_path)
    assert "file is no folder" in statement and "--root" in hint
    with pytest.raises(NotRunnable, match="nowhere does not exist"):
        diagnosis.find(Question(tmp_path / "nowhere"), Options(), print)


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no /usr/bin/python3")
def test_an_interpreter_without_pytest(tmp_path: Path) -> None:
    if subprocess.run(["/usr/bin/python3", "-c", "import pytest"], capture_output=True).returncode == 0:
        pytest.skip("/usr/bin/python3 has pytest")
    (tmp_path / "test_a.py").write_text(GREEN)
    statement, hint = found(tmp_path, python=Path("/usr/bin/python3"))
    assert "No module named 'pytest'" in statement
    assert "pip install pytest" in hint and "/usr/bin/python3" in hint and "--python" in hint


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_script_project(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module", "scripts": {"test": "node --test"}}')
    for name in ("a", "b"):
        (tmp_path / f"{name}.test.mjs").write_text("import { test } from 'node:test'\ntest('adds', () => {})\n")
    assert "all 2 tests of the suite pass" in found(tmp_path, python=None)[0]
    assert "it passes here" in found(tmp_path, "a.test.mjs#adds", python=None)[0]
    assert "near are a.test.mjs#adds" in found(tmp_path, "a.test.mjs#ads", python=None)[0]
    (tmp_path / "package.json").write_text('{"devDependencies": {"vitest": "^4"}}')
    statement, remedy = found(tmp_path, python=None)
    assert "vitest is not installed" in statement and "npm install" in remedy
