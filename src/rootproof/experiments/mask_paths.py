"""Which files no intervention may touch: tests and what they rest on. A change there shows nothing about the code."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatch
from pathlib import PurePosixPath

TEST_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "e2e"})
FIXTURE_FOLDERS = frozenset(
    {"fixtures", "__fixtures__", "testdata", "test_data", "test-data", "cassettes", "__mocks__"}
)
SNAPSHOT_FOLDERS = frozenset({"__snapshots__", "snapshots", "__image_snapshots__"})
DEPENDENCY_FOLDERS = frozenset({"node_modules", "site-packages", "dist-packages", ".venv", "venv", "vendor", "_vendor"})
TEST_FILES = ("test_*.py", "*_test.py", "tests.py", "test.py", "*.test.*", "*.spec.*", "*_test.go")
FIXTURE_FILES = ("conftest.py", "setup-tests.*", "setupTests.*", "vitest.setup.*", "jest.setup.*")
SNAPSHOT_FILES = ("*.snap", "*.ambr", "*.approved.*", "*.golden", "*.gold")
CONFIGURATION_FILES = (
    "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "noxfile.py", "setup.cfg", "setup.py", "pyproject.toml",
    ".coveragerc", "tsconfig*.json", "*.config.js", "*.config.ts", "*.config.mjs", "*.config.cjs", "*.config.mts",
    ".mocharc*", ".babelrc*", "Makefile", "manage.py", "sitecustomize.py", "usercustomize.py", "*.pth", ".env*",
)  # fmt: skip
DEPENDENCY_FILES = (
    "requirements*.txt", "requirements*.in", "constraints*.txt", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile*",
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.*", "go.mod",
    "go.sum",
)  # fmt: skip

_RULES = (
    ("edits_dependency", DEPENDENCY_FOLDERS, DEPENDENCY_FILES),
    ("edits_snapshot", SNAPSHOT_FOLDERS, SNAPSHOT_FILES),
    ("edits_fixture", FIXTURE_FOLDERS, FIXTURE_FILES),
    ("edits_test", TEST_FOLDERS, TEST_FILES),
    ("edits_configuration", frozenset[str](), CONFIGURATION_FILES),
)


def protected(path: str, tests: Collection[str] = ()) -> str:
    """The rule that an edit of this root-relative path breaks; empty where it may be edited.

    Args:
        tests: files known to hold tests, whatever their names.
    """
    pure = PurePosixPath(path)
    if path in tests:
        return "edits_test"
    for rule, folders, files in _RULES:
        if not folders.isdisjoint(pure.parts[:-1]) or any(fnmatch(pure.name, name) for name in files):
            return rule
    return ""


def is_guard(path: str, tests: Collection[str] = ()) -> bool:
    """Whether the file belongs to what must be byte for byte the same in every run: test, fixtures, configuration."""
    return protected(path, tests) in ("edits_test", "edits_fixture", "edits_configuration", "edits_snapshot")
