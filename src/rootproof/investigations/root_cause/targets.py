"""Which tests are red: named, recorded by the runner, listed in a JUnit report, or found by running the suite."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rootproof import contract, pattern, text
from rootproof.errors import NotRunnable
from rootproof.runners.interface import Project, Runner, Session, TestRequest
from rootproof.sandbox.interface import Limits, Sandbox

MAX_RECORD = 4 * 1024 * 1024
RED = ("failed", "error", "xpassed_strict", "crashed", "timeout")
TEST_FILES = {
    "pytest": ("test_*.py", "*_test.py"),
    "unittest": ("test*.py",),
    "vitest": ("*.test.ts", "*.test.tsx", "*.test.js", "*.test.mjs", "*.spec.ts", "*.spec.tsx", "*.spec.js"),
    "node_test": ("*.test.js", "*.test.mjs", "*.test.cjs", "*-test.mjs", "*-test.js"),
}


@dataclass(frozen=True)
class Found:
    """The red tests, and how they were found."""

    tests: tuple[str, ...]
    how: str
    session: Session | None = None


@dataclass(frozen=True)
class Workshop:
    """With what the tests of one repository are run."""

    root: Path
    runner: Runner
    sandbox: Sandbox
    interpreter: Path | None = None
    hidden: tuple[str, ...] = ()
    reason: str = ""
    """Why this runner."""

    def project(self, test: str) -> Project:
        return replace(self.runner.project(self.root, test, self.interpreter), hidden=self.hidden)

    def run(self, tests: Sequence[str], limits: Limits) -> Session:
        """Run some tests together, once."""
        project = self.project(contract.file_of(tests[0]))
        asked = TestRequest(tests=tuple(tests))
        return self.runner.session(project, asked, self.sandbox.run(self.runner.command(project, asked, limits)))


def test_files(root: Path, runner: str) -> tuple[str, ...]:
    """Root-relative paths of the project's test files, by the names the runner looks for."""
    names = TEST_FILES.get(runner, ("test*",))
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in contract.UNASKED)
        here = os.path.relpath(folder, root)
        for name in files:
            if any(pattern.matches(glob, name) for glob in names):
                found.append(name if here == "." else f"{here}/{name}")
    return tuple(sorted(found))


def last_failed(root: Path, files: Sequence[str]) -> Found | None:
    """What pytest itself noted as last failed, as far as those files still exist."""
    place = root / ".pytest_cache" / "v" / "cache" / "lastfailed"
    try:
        if place.is_symlink() or place.stat().st_size > MAX_RECORD:
            return None
        noted = json.loads(place.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    known = set(files)
    tests = [test for test in noted if isinstance(test, str)] if isinstance(noted, dict) else []
    kept = tuple(test for test in tests if contract.file_of(test) in known and "::" in test)
    return Found(kept, "noted by pytest as last failed") if kept else None


def by_running(shop: Workshop, files: Sequence[str], limits: Limits, tell: Callable[[str], None]) -> Found:
    """Run the whole suite once and see what is red.

    Raises:
        NotRunnable: nothing is red, there are no tests, or the suite cannot run here.
    """
    if not files:
        raise NotRunnable("there are no tests here", "name a test file, or the runner with --runner")
    tell(f"running the whole suite once ({len(files)} test files, at most {limits.seconds:.0f} s)")
    session = shop.run(files, limits)
    red = tuple(result.id for result in session.results if result.status in RED)
    if not red:
        raise not_runnable(session, f"all {len(session.results)} tests of the suite pass")
    return Found(red, f"red in one run of the whole suite ({len(session.results)} tests)", session)


def not_runnable(session: Session, nothing: str) -> NotRunnable:
    """Why there is nothing to diagnose: green, no tests, or not able to run here, with what to do."""
    problem = text.one_line(session.problem or "", 400)
    if session.mend:
        return NotRunnable(f"the tests cannot run here: {problem}", session.mend)
    if session.status in ("collection_error", "config_error"):
        return NotRunnable(f"the tests cannot be collected: {problem}", "mend what is named, then run this again")
    if session.status in ("no_tests", "not_found", "not_addressable"):
        return NotRunnable(f"no test ran: {problem or session.status}", "name a test that exists, as PATH::NAME")
    if session.status in ("passed", "xfailed", "skipped"):
        return NotRunnable(f"nothing to diagnose: {nothing}", "name a test that fails, or come back with a red one")
    return NotRunnable(f"the run ended as {session.status}: {problem}", "run the tests by hand and see why")
