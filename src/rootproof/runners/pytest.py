"""pytest, through a plugin of ours that writes to the private channel. See ``inside/rootproof_pytest_plugin.py``.

What the project's settings say is followed, ``addopts`` included, save what would change the report: stopping early,
retries, distribution over processes, colours and verbosity, coverage and, where single tests are named, selection by
keyword. The cache lives in a fresh temporary folder instead of the tree.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rootproof.errors import UsageError
from rootproof.runners import mend, outcome, pytest_names, python_project, records, test_id
from rootproof.runners.interface import Project, Session, TestRequest
from rootproof.sandbox.interface import Command, Completed, Limits

INSIDE = Path(__file__).with_name("inside")
"""Holds every file that runs in the project's interpreter, and nothing else."""
SETTINGS_VARIABLE = "ROOTPROOF_SETTINGS"
_SECTIONS = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
MAX_SETTINGS = 100_000
"""Linux allows one environment string 128 KiB."""


class Pytest:
    """Runs tests with pytest 6 and later on Python 3.8 and later."""

    name = "pytest"
    separator = "::"
    arranges = True
    seeded = True
    together = True

    def detect(self, root: Path) -> str | None:
        """pytest settings, a conftest, or test files that import pytest or define bare test functions."""
        for name in ("pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py", "test/conftest.py"):
            if (root / name).is_file():
                return f"{name} is there"
        for name, section in _SECTIONS.items():
            if section in python_project.read_config(root / name):
                return f"{name} has a {section} section"
        for name in ("pyproject.toml", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "setup.cfg"):
            if re.search(r"(?m)^[\s\"']*pytest\b", python_project.read_config(root / name)):
                return f"{name} asks for pytest"
        return _bare_tests(root)

    def file_names(self, root: Path) -> tuple[str, ...]:
        """As the settings say, or pytest's own."""
        return pytest_names.names(root)

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """See :func:`python_project.find`."""
        return python_project.find(root, test, interpreter)

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """One process; every id is one argument after our own options."""
        return python_command("start_pytest.py", project, request, limits)

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read the channel."""
        return python_session(project, request, completed)


def python_command(script: str, project: Project, request: TestRequest, limits: Limits) -> Command:
    """The command both Python runners share.

    Raises:
        UsageError: an id that must never reach a runner, or settings too large for an environment variable.
    """
    for test in (*request.tests, *request.order):
        fault = test_id.fault(test, "::")
        if fault:
            raise UsageError(f"the test id cannot be used: {fault}", "name tests as PATH::NAME, relative to the root")
    settings = json.dumps(
        {
            "nonce": request.nonce,
            "root": os.path.relpath(project.root, project.package_root),
            "tests": request.tests,
            "order": request.order,
            "seed": request.seed,
            "retries_off": request.retries_off,
            "collect_only": request.collect_only,
            "hidden": project.hidden,
        }
    )
    if len(settings) > MAX_SETTINGS:
        raise UsageError("too many tests for one run", "run them in parts")
    python = project.interpreter or Path("python3")
    return Command(
        argv=(str(python), str(INSIDE / script), *(_argument(project, test) for test in request.tests)),
        root=project.root,
        cwd=project.package_root,
        env={**request.env, **environment(request), SETTINGS_VARIABLE: settings},
        readable=(*project.readable, INSIDE),
        hidden=project.hidden,
        writable=request.writable,
        changes=request.changes,
        channel=True,
        limits=limits,
    )


def environment(request: TestRequest) -> Mapping[str, str]:
    """Fresh bytecode and one hash seed for every run."""
    return {"PYTHONHASHSEED": str(request.seed % 2**32), "PYTHONDONTWRITEBYTECODE": "1"}


def python_session(project: Project, request: TestRequest, completed: Completed) -> Session:
    """The outcome, with what to install where a module, or a plugin that the settings ask for, is missing."""
    read = records.read(completed.channel, request.nonce)
    session = outcome.session(read, request, completed, outcome.Dialect())
    if session.status not in ("config_error", "collection_error", "failed", "error"):
        return session
    said = [session.problem]
    said.extend(f"{r.failure.exception}: {r.failure.message}" for r in session.results if r.failure is not None)
    needed = mend.for_python("\n".join(said), lambda name: python_project.is_own_package(project, name))
    asked = "" if needed or session.status != "config_error" else mend.for_settings(session.problem, project.config)
    return replace(session, mend=needed or asked)


def _argument(project: Project, test: str) -> str:
    """The id as the runner needs it: the file relative to the working directory."""
    file, name = test_id.split(test, "::")
    path = test_id.argument(os.path.relpath(project.root / file, project.package_root))
    return f"{path}::{name}" if name else path


def _bare_tests(root: Path) -> str | None:
    for folder in ("tests", "test", "."):
        for path in sorted((root / folder).glob("test_*.py"))[:20]:
            if re.search(r"(?m)^(?:async )?def test_|^import pytest|^from pytest", python_project.read_config(path)):
                return f"{path.relative_to(root).as_posix()} holds pytest tests"
    return None
