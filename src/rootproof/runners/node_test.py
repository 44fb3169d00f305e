"""Node's own test runner, through a reporter of ours that writes to the private channel. Ids are PATH#SUITE > TEST.

The test file is run itself (not under ``--test``), so that no child process stands between it and the reporter.
TypeScript needs a loader: the one the test file imports itself, ``tsx`` or ``ts-blank-space`` where installed, or a
node that strips types.
"""

from __future__ import annotations

import os
from pathlib import Path

from rootproof.errors import UsageError
from rootproof.runners import node_project, outcome, records, test_id
from rootproof.runners.interface import Project, Session, TestRequest
from rootproof.runners.python_project import read_config
from rootproof.sandbox.interface import Command, Completed, Limits

MAX_FILES = 50
_LOADERS = {"tsx": "tsx/package.json", "ts-blank-space/register": "ts-blank-space/package.json"}


class NodeTest:
    """Runs one test file with node:test on Node 20 and later."""

    name = "node_test"
    separator = node_project.SEPARATOR
    arranges = False
    seeded = False
    together = False

    def detect(self, root: Path) -> str | None:
        """A test script that calls ``node --test``, or a test file that imports node:test."""
        scripts = node_project.package(root).get("scripts")
        if isinstance(scripts, dict) and any("node --test" in str(script) for script in scripts.values()):
            return "a script in package.json calls node --test"
        for folder in ("test", "tests", "src", "."):
            for path in sorted((root / folder).glob("*.*js"))[:MAX_FILES]:
                if "node:test" in read_config(path):
                    return f"{path.relative_to(root).as_posix()} imports node:test"
        return None

    def file_names(self, root: Path) -> tuple[str, ...]:
        """The usual names."""
        return ("*.test.js", "*.test.mjs", "*.test.cjs", "*-test.mjs", "*-test.js")

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """See :func:`node_project.find`."""
        return node_project.find(root, test, interpreter)

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """One node process over one file; names go in as anchored patterns of their innermost part.

        Raises:
            UsageError: tests of several files in one run, or an id that must never reach a runner.
        """
        split = [test_id.split(test, self.separator) for test in request.tests]
        if len({file for file, _name in split}) != 1:
            raise UsageError("node:test runs one file at a time", "ask for the tests of each file apart")
        inside = node_project.INSIDE
        patterns = [f"--test-name-pattern={node_project.leaf_pattern(name)}" for _file, name in split]
        arguments = (
            f"--import={inside / 'start_node_test.mjs'}",
            *self._loader(project, split[0][0]),
            f"--test-reporter={inside / 'node_test_reporter.mjs'}",
            "--test-reporter-destination=stdout",
            *(patterns if all(name for _file, name in split) else ()),
            test_id.argument(os.path.relpath(project.root / split[0][0], project.package_root)),
        )
        return node_project.command(project, request, limits, arguments)

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read the channel."""
        read = records.read(completed.channel, request.nonce)
        session = outcome.session(read, request, completed, outcome.Dialect(self.separator, exit_none=None))
        return node_project.judged(session, project, request)

    def _loader(self, project: Project, file: str) -> tuple[str, ...]:
        if not file.endswith((".ts", ".mts", ".cts", ".tsx")):
            return ()
        for loader, place in _LOADERS.items():
            if node_project.module_file(project, place) is not None:
                return (f"--import={loader}",)
        return ("--experimental-strip-types",)
