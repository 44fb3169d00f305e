"""Which files a project's pytest settings call tests, and which of them a diagnosis counts as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootproof.investigations.root_cause.targets import test_files as files_of
from rootproof.runners.pytest import Pytest
from rootproof.runners.pytest_names import DEFAULT, names

SETTINGS = {
    "none": ({}, DEFAULT),
    "of another tool": ({"setup.cfg": "[metadata]\nname = x\n", "pyproject.toml": "[tool.ruff]\n"}, DEFAULT),
    "ini": ({"pytest.ini": "[pytest]\npython_files = tests.py check_*.py\n"}, ("tests.py", "check_*.py")),
    "over lines": ({"tox.ini": "[pytest]\npython_files =\n    tests.py\n    test_*.py\n"}, ("tests.py", "test_*.py")),
    "setup.cfg": ({"setup.cfg": "[tool:pytest]\npython_files = *_tests.py\n"}, ("*_tests.py",)),
    "toml list": ({"pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['a_test_*.py']\n"}, ("a_test_*.py",)),
    "toml text": ({"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'tests.py'\n"}, ("tests.py",)),
    "the first file counts alone": (
        {"pytest.ini": "[pytest]\naddopts = -q\n", "setup.cfg": "[tool:pytest]\npython_files = tests.py\n"},
        DEFAULT,
    ),
    "percent sign": ({"pytest.ini": "[pytest]\nlog_format = %(message)s\npython_files = tests.py\n"}, ("tests.py",)),
    "no ini at all": ({"pytest.ini": "python_files = tests.py\n"}, DEFAULT),
    "no toml at all": ({"pyproject.toml": "[tool.pytest.ini_options\npython_files = 1"}, DEFAULT),
    "a number": ({"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 3\n"}, DEFAULT),
    "a table is a value": ({"pyproject.toml": "tool = 3\n"}, DEFAULT),
    "empty": ({"pytest.ini": "[pytest]\npython_files =\n"}, DEFAULT),
}


def laid(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


@pytest.mark.parametrize("kind", SETTINGS)
def test_names_of_test_files(tmp_path: Path, kind: str) -> None:
    files, expected = SETTINGS[kind]
    assert names(laid(tmp_path, files)) == expected


def test_a_name_that_says_nothing_of_tests_makes_no_source_a_test(tmp_path: Path) -> None:
    """With ``*.py`` all would be tests, and no source could be changed."""
    settings = "[pytest]\npython_files = *.py tests.py\n"
    laid(tmp_path, {"pytest.ini": settings, "shop/price.py": "", "shop/tests.py": "", "tests/price.py": ""})
    assert files_of(tmp_path, Pytest()) == ("shop/tests.py", "tests/price.py")
