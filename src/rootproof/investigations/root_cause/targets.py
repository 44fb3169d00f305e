"""Which tests are red: named, recorded by the runner, listed in a JUnit report, or found by running the suite."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from rootproof import contract, text
from rootproof.errors import NotRunnable
from rootproof.experiments.spectrum import is_test_file
from rootproof.runners.interface import Project, Runner, Session, TestRequest
from rootproof.sandbox.interface import Limits, Sandbox

MAX_RECORD = 4 * 1024 * 1024
MOST_RECORDS = 20
MAX_LINE = 1 << 16
CHIEF_LINES = 6
_BEGUN = re.compile(rb'"kind": ?"begin"')
_FAILED = re.compile(rb'"outcome": ?"failed"')

Tell = Callable[[str], None]
BROKEN = ("collection_error", "config_error", "crashed", "timeout", "incomplete", "unknown")
"""A session that tells nothing of the tests asked for."""
RED = ("failed", "error", "xpassed_strict", "crashed", "timeout")


@dataclass(frozen=True)
class Found:
    """The red tests, and how they were found."""

    tests: tuple[str, ...]
    how: str
    unmatched: tuple[tuple[str, str], ...] = ()
    """Tests that were named and are no target, each with why."""


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

    def ask(self, asked: TestRequest, limits: Limits, heard: Callable[[bytes], None] | None = None) -> Session:
        """One run of the runner.

        Args:
            heard: given what comes over the private channel while it comes.
        """
        project = self.project(contract.file_of(asked.tests[0]))
        command = replace(self.runner.command(project, asked, limits), heard=heard)
        return self.runner.session(project, asked, self.sandbox.run(command))

    def groups(self, tests: Iterable[str]) -> list[tuple[str, ...]]:
        """Tests that can run in one process: of one package, and of one file where the runner wants it so."""
        found: dict[object, list[str]] = {}
        for test in tests:
            file = contract.file_of(test)
            found.setdefault(self.project(file).package_root if self.runner.together else file, []).append(test)
        return [tuple(group) for group in found.values()]


class Counting:
    """Counts the tests of a run while they come. What the suite writes is no more than a number shown."""

    def __init__(self, tell: Callable[[str], None], most: float) -> None:
        self._tell, self._most, self._began = tell, most, time.monotonic()
        self._rest, self._begun, self._failed = b"", 0, 0

    def __call__(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MAX_LINE]
        self._begun += sum(_BEGUN.search(line) is not None for line in lines)
        self._failed += sum(_FAILED.search(line) is not None for line in lines)
        passed = time.monotonic() - self._began
        self._tell(
            f"{self._begun} tests begun, {self._failed} red so far, {passed:.0f} s of at most {self._most:.0f} s"
        )


def test_files(root: Path, runner: Runner) -> tuple[str, ...]:
    """Root-relative paths of the project's test files, by the names the runner looks for."""
    names = runner.file_names(root)
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in contract.UNASKED)
        here = os.path.relpath(folder, root)
        for name in files:
            path = name if here == "." else f"{here}/{name}"
            if any(_is_named(path, glob) for glob in names):
                found.append(path)
    return tuple(sorted(found))


def _is_named(path: str, glob: str) -> bool:
    """Whether the glob is meant for this file: one that says nothing of tests (``*.py``) is for the usual ones."""
    if not fnmatchcase(path if "/" in glob else path.rpartition("/")[2], glob):
        return False
    return "test" in glob.lower() or "spec" in glob.lower() or is_test_file(path)


def last_failed(root: Path, files: Sequence[str], runner: str) -> Found | None:
    """What pytest or vitest itself noted as last failed, as far as those files still exist; vitest notes files only.

    The record lies in the folder the runner was started in: the root, or a package's own.
    """
    known = set(files)
    folders = sorted({"", *(file[:at] for file in files for at, c in enumerate(file) if c == "/")})
    tests: list[str] = []
    for folder in folders:
        inner = root / folder
        noted = _noted_by_vitest(inner) if runner == "vitest" else _noted_by_pytest(inner)
        tests += [f"{folder}/{test}" if folder else test for test in noted]
    kept = tuple(dict.fromkeys(test for test in tests if contract.file_of(test) in known))
    return Found(kept, f"noted by {'vitest' if runner == 'vitest' else 'pytest'} as last failed") if kept else None


def _noted_by_pytest(folder: Path) -> list[str]:
    noted = _record(folder / ".pytest_cache" / "v" / "cache" / "lastfailed")
    return [test for test in noted if isinstance(test, str) and "::" in test] if isinstance(noted, dict) else []


def _noted_by_vitest(folder: Path) -> list[str]:
    found: list[str] = []
    for place in sorted((folder / "node_modules" / ".vite" / "vitest").glob("*/results.json"))[:MOST_RECORDS]:
        noted = _record(place)
        rows = noted.get("results") if isinstance(noted, dict) else None
        for row in rows if isinstance(rows, list) else ():
            match row:
                case [str(name), {"failed": True}]:
                    found.append(name.partition(":")[2])
    return found


def _record(place: Path) -> object:
    """What a runner noted; None where it is no plain file, too large or no JSON."""
    try:
        if place.is_symlink() or not place.is_file() or place.stat().st_size > MAX_RECORD:
            return None
        return json.loads(place.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def by_running(shop: Workshop, files: Sequence[str], limits: Limits, tells: tuple[Tell, Tell]) -> Found:
    """Run the whole suite once and see what is red.

    Args:
        tells: told what is begun; told how far it is.

    Raises:
        NotRunnable: nothing is red, there are no tests, or the suite cannot run here.
    """
    if not files:
        raise NotRunnable("there are no tests here", "name a test file, or the runner with --runner")
    tell, count = tells
    shown = f"{len(files)} test file{'s' if len(files) != 1 else ''}"
    tell(f"running the whole suite once to see what is red ({shown}; at most {limits.seconds:.0f} s)")
    until, counting = time.monotonic() + limits.seconds, Counting(count, limits.seconds)
    sessions: list[Session] = []
    for group in shop.groups(files):
        left = until - time.monotonic()
        if left <= 0:
            break
        sessions.append(shop.ask(TestRequest(tests=group), replace(limits, seconds=left), counting))
    results = [result for session in sessions for result in session.results]
    red = tuple(result.id for result in results if result.status in RED)
    if not red:
        worst = next((each for each in sessions if each.mend or each.status in BROKEN), sessions[0])
        interpreter = shop.project(files[0]).interpreter
        raise not_runnable(worst, f"all {len(results)} tests of the suite pass", interpreter)
    return Found(red, f"red in one run of the whole suite ({len(results)} tests)")


def not_runnable(session: Session, nothing: str, interpreter: Path | None = None) -> NotRunnable:
    """Why there is nothing to diagnose: green, no tests, or not able to run here, with what to do.

    Args:
        interpreter: the one that ran them, for what has to be installed.
    """
    problem = text.one_line(_chief(session.problem), 400)
    if session.mend:
        where = f"; it was run with {interpreter}, --python names another" if session.mend.startswith("pip ") else ""
        return NotRunnable(f"the tests cannot run here: {problem}", f"{session.mend}{where if interpreter else ''}")
    if session.status in ("collection_error", "config_error"):
        return NotRunnable(f"the tests cannot be collected: {problem}", "mend what is named, then run this again")
    if session.status in ("no_tests", "not_found", "not_addressable"):
        return NotRunnable(f"no test ran: {problem or session.status}", "name a test that exists, as PATH::NAME")
    if session.status in ("passed", "xfailed", "skipped"):
        return NotRunnable(f"nothing to diagnose: {nothing}", "name a test that fails, or come back with a red one")
    return NotRunnable(f"the run ended as {session.status}: {problem}", "run the tests by hand and see why")


def _chief(problem: str) -> str:
    """Without what stands before the reason: pytest's usage line, the way down a traceback."""
    said = re.sub(r"(?s)\A(?:ERROR: )?usage: .*?error: ", "", problem)
    marked = [line[1:].strip() for line in said.splitlines() if line.startswith("E  ")]
    if marked:
        return " ".join(marked[:CHIEF_LINES])
    if said.startswith("Traceback ("):
        return next((line for line in reversed(said.splitlines()) if line.strip()), said)
    return said
