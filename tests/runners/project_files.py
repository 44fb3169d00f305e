"""Small projects for the runner tests, and one way to run them for real."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rootproof.runners.interface import Runner, Session, TestRequest
from rootproof.sandbox.bare import Bare
from rootproof.sandbox.interface import Completed, Limits

QUICK = Limits(seconds=30)
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Our own test environment holds plugins that take longer to import than the tests run."""


def lay(root: Path, files: Mapping[str, str]) -> Path:
    """Write files under a new root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content), "utf-8")
    return root


def run(runner: Runner, root: Path, request: TestRequest, limits: Limits = QUICK) -> tuple[Session, Completed]:
    """One real run at level none."""
    project = runner.project(root, request.tests[0], None)
    request = replace(request, env={**NO_PLUGINS, **request.env})
    completed = Bare().run(runner.command(project, request, limits))
    return runner.session(project, request, completed), completed
