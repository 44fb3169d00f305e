"""What a test runner is: how a test is started and how its outcome is read, without ever reading stdout for it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from rootproof.sandbox.interface import Command, Completed, Limits

TestStatus = Literal[
    "passed",
    "failed",
    "error",
    "xfailed",
    "xpassed",
    "xpassed_strict",
    "skipped",
    "not_found",
    "not_addressable",
    "no_tests",
    "collection_error",
    "config_error",
    "crashed",
    "timeout",
    "incomplete",
    "unknown",
]
"""``failed``: the call phase failed. ``error``: set-up or tear-down failed. ``unknown``: the records contradict
each other, came twice or late, or the exit code disagrees with them; it is never read as a pass."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True)
class Project:
    """Where and with what the tests of one repository run."""

    root: Path
    package_root: Path
    """The test's own package (a monorepo has several); the working directory of the run."""
    interpreter: Path | None = None
    """Python or node executable, found or named by the user."""
    readable: tuple[Path, ...] = ()
    """Prefixes the interpreter needs."""
    reason: str = ""
    """Why these were chosen, in one line."""
    hidden: tuple[str, ...] = ()
    """Root-relative paths that must not be there inside (secret files); touching one is noted per phase."""
    config: str = ""
    """Root-relative file the runner takes its settings from; empty: none was found."""


@dataclass(frozen=True)
class TestRequest:
    """Which tests to run and how. Never holds an argument for the runner written by somebody else."""

    __test__ = False

    tests: tuple[str, ...]
    """Test ids as the runner writes them; a file alone means every test of it."""
    order: tuple[str, ...] = ()
    """Ids in the order they must run in; empty: the runner's own order."""
    seed: int = 0
    """Hash seed, and seed of random-order plugins."""
    retries_off: bool = True
    env: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, bytes] = field(default_factory=dict)
    """Replaced files, for interventions in a throw-away view."""
    collect_only: bool = False
    writable: bool = True
    """Whether the tests may write into a throw-away layer over the tree, as many suites do."""
    nonce: str = field(default_factory=lambda: secrets.token_hex(16), compare=False, repr=False)
    """Marks the records of this one run; no part of what was asked."""


@dataclass(frozen=True)
class Operand:
    """One side of a failed comparison: strings, numbers, booleans and None by value, else by repr."""

    value: str | int | float | bool | None
    by: Literal["value", "repr"] = "value"


@dataclass(frozen=True)
class Phase:
    """One phase of one test: ``setup``, ``call`` or ``teardown``."""

    name: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    seconds: float = 0.0
    blocked: tuple[str, ...] = ()
    """What containment may have refused in this phase: connects and lookups beyond loopback, and OS errors
    that name a path containment hides or makes read-only. One short line each."""


@dataclass(frozen=True)
class Failure:
    """Why a test failed, in structured fields."""

    exception: str
    """Type name of the exception."""
    message: str
    """The failure's own message, without traceback."""
    expected: Operand | None = None
    """For ``assert a == b``: b."""
    actual: Operand | None = None
    """For ``assert a == b``: a."""
    path: str = ""
    """Root-relative file of the failing line."""
    line: int = 0
    phase: Literal["setup", "call", "teardown"] = "call"
    traceback: str = ""
    """Root-relative, bounded. For people and models to read; never matched by evidence."""
    frames: tuple[tuple[str, int, str], ...] = ()
    """(root-relative path, line, function), outermost first; frames outside the root are left out."""


@dataclass(frozen=True)
class TestResult:
    """What one test did."""

    __test__ = False

    id: str
    status: TestStatus
    executed: bool = True
    """False: the body was never entered (xfail with run=False, skipped by a mark)."""
    phases: tuple[Phase, ...] = ()
    failure: Failure | None = None
    subtests: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Session:
    """What one run of the runner did, from its private channel alone."""

    status: TestStatus
    """Worst status over the requested tests; the one that ``run_test`` reports."""
    results: tuple[TestResult, ...] = ()
    collected: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()
    """Collected but never reported, among them the test that was running when the session died."""
    last_started: str = ""
    finished: bool = False
    problem: str = ""
    """For config_error, collection_error, crashed, unknown: what was captured about it."""
    mend: str = ""
    """For a missing dependency: what to install."""
    versions: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def result(self, test: str) -> TestResult | None:
        return next((r for r in self.results if r.id == test), None)


class Runner(Protocol):
    """One test runner."""

    name: str
    separator: str
    """Between file and test in an id: ``::`` or ``#``."""
    arranges: bool
    """Whether it runs tests in the order a request gives."""
    seeded: bool
    """Whether a request's seed has any effect."""
    together: bool
    """Whether one run can hold tests of several files."""

    def detect(self, root: Path) -> str | None:
        """Why this runner fits the repository, in one line; None where it does not."""
        ...

    def file_names(self, root: Path) -> tuple[str, ...]:
        """Globs of what it takes for test files there; one without a slash is for the name alone."""
        ...

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """Find package root and interpreter for one test.

        Raises:
            NotRunnable: nothing here can run it; the remedy says what to install.
        """
        ...

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """The one command that runs the requested tests.

        Raises:
            UsageError: an id that must never reach a runner (``test_id.fault`` says which those are).
        """
        ...

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read what happened. Never raises for what the tests did."""
        ...
