"""Where there is nothing to diagnose, `rootproof diagnose` says what is the case and what to do, and ends with 9."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CASES = {
    "green": ({"test_a.py": "def test_a():\n    assert 1 + 1 == 2\n"}, "pass", "name a test that fails"),
    "no tests": ({"mod.py": "X = 1\n", "pytest.ini": "[pytest]\n"}, "no tests here", "name a test file"),
    "collection error": ({"test_a.py": "def test_a(:\n    pass\n"}, "cannot be collected", "mend what is named"),
    "missing dependency": (
        {"test_a.py": "import a_module_nobody_has\n\n\ndef test_a():\n    assert a_module_nobody_has\n"},
        "a_module_nobody_has",
        "a_module_nobody_has",
    ),
    "empty folder": ({}, "no test runner was recognised", "--runner"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_clear_statement_and_exit_nine(name: str, tmp_path: Path) -> None:
    files, statement, remedy = CASES[name]
    project = tmp_path / "project"
    project.mkdir()
    for path, content in files.items():
        (project / path).write_text(content)
    command = [sys.executable, "-m", "rootproof", "diagnose", "--root", str(project)]
    command += ["--store", str(tmp_path / "runs.db"), "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 9, done.stderr
    assert statement in done.stderr
    hint = [line for line in done.stderr.splitlines() if line.startswith("hint:")]
    assert hint and remedy in hint[0]
    assert not (tmp_path / "runs.db").exists(), "nothing was run, so nothing is stored"
