"""The standard library's unittest, for projects without pytest. Ids are PATH::CLASS::METHOD, as pytest writes them."""

from __future__ import annotations

import re
from pathlib import Path

from rootproof.runners import python_project
from rootproof.runners.interface import Project, Session, TestRequest
from rootproof.runners.pytest import python_command, python_session
from rootproof.sandbox.interface import Command, Completed, Limits

MAX_FILES = 50
"""Test files looked into before giving up."""


class Unittest:
    """Runs tests with unittest on Python 3.8 and later; nothing has to be installed."""

    name = "unittest"
    separator = "::"
    arranges = True
    seeded = True
    together = True

    def detect(self, root: Path) -> str | None:
        """A test file that defines a unittest case."""
        for folder in ("tests", "test", "."):
            for path in sorted((root / folder).glob("**/test*.py" if folder != "." else "test*.py"))[:MAX_FILES]:
                if re.search(r"(?m)^(?:import unittest|from unittest)", python_project.read_config(path)):
                    return f"{path.relative_to(root).as_posix()} holds unittest cases"
        return None

    def file_names(self, root: Path) -> tuple[str, ...]:
        """The usual names."""
        return ("test*.py",)

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """See :func:`python_project.find`."""
        return python_project.find(root, test, interpreter)

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """One process; the tests are named in the settings, none on the command line."""
        return python_command("start_unittest.py", project, request, limits)

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read the channel."""
        return python_session(project, request, completed)
