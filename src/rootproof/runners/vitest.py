"""vitest, through a reporter of ours that writes to the private channel. Ids are PATH#SUITE > TEST."""

from __future__ import annotations

import os
from pathlib import Path

from rootproof.errors import NotRunnable
from rootproof.runners import node_project, outcome, records, test_id
from rootproof.runners.interface import Project, Session, TestRequest
from rootproof.sandbox.interface import Command, Completed, Limits

_CONFIGS = tuple(f"vitest.config.{ending}" for ending in ("ts", "mts", "cts", "js", "mjs", "cjs"))
_FIXED = ("--retry=0", "--bail=0", "--coverage.enabled=false", "--no-color", "--watch=false")
"""What would change the report: retries, stopping early, coverage thresholds."""
_FILES = ("*.test.ts", "*.test.tsx", "*.test.js", "*.test.mjs", "*.spec.ts", "*.spec.tsx", "*.spec.js")


class Vitest:
    """Runs tests with vitest 1 and later on Node 20 and later."""

    name = "vitest"
    separator = node_project.SEPARATOR
    arranges = False
    seeded = True
    together = True

    def detect(self, root: Path) -> str | None:
        """A vitest configuration, or a package.json that asks for it."""
        for name in _CONFIGS:
            if (root / name).is_file():
                return f"{name} is there"
        return "package.json asks for vitest" if node_project.asks_for(root, "vitest") else None

    def file_names(self, root: Path) -> tuple[str, ...]:
        """The usual names."""
        return _FILES

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """See :func:`node_project.find`.

        Raises:
            NotRunnable: there is no node, or vitest is not installed in the project.
        """
        found = node_project.find(root, test, interpreter)
        if node_project.module_file(found, "vitest/vitest.mjs") is None:
            raise NotRunnable("vitest is not installed in the project", "npm install")
        return found

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """One vitest process over the files asked for; names go in as one anchored pattern."""
        script = node_project.module_file(project, "vitest/vitest.mjs") or Path("node_modules/vitest/vitest.mjs")
        split = [test_id.split(test, self.separator) for test in request.tests]
        files = dict.fromkeys(self._argument(project, file) for file, _name in split)
        names = [node_project.pattern(name) for _file, name in split]
        chosen = (f"--testNamePattern={'|'.join(names)}",) if all(name for _file, name in split) else ()
        arguments = (f"--reporter={node_project.INSIDE / 'vitest_reporter.mjs'}", f"--sequence.seed={request.seed}")
        whole = (str(script), "run", *arguments, *self._fixed(request), *chosen, *files)
        return node_project.command(project, request, limits, whole)

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read the channel."""
        read = records.read(completed.channel, request.nonce)
        session = outcome.session(read, request, completed, outcome.Dialect(self.separator, exit_none=1))
        return node_project.judged(session, project, request)

    def _argument(self, project: Project, file: str) -> str:
        return test_id.argument(os.path.relpath(project.root / file, project.package_root))

    def _fixed(self, request: TestRequest) -> tuple[str, ...]:
        return _FIXED if request.retries_off else _FIXED[1:]
