"""One cold run: given tests under a change, in a fresh throw-away view, with empty caches and a chosen hash seed.

The only source of facts about outcomes. Whatever a faster engine saw is an observation that says where to look.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rootproof.canonical import digest, digest_bytes
from rootproof.experiments.change import Change, Refused
from rootproof.experiments.mask_paths import is_guard
from rootproof.experiments.progress import Tell, silent
from rootproof.experiments.record import Outcome, Run
from rootproof.runners.interface import Project, Runner, Session, TestRequest, TestResult
from rootproof.sandbox.interface import Completed, Limits, Sandbox
from rootproof.sandbox.side_by_side import side_by_side
from rootproof.signature import line

STAGES = {
    "reproduce": "does it fail as said",
    "flip": "does the change turn it green",
    "flip_again": "does it fail with the change each time",
    "neighbours": "do the neighbours still pass",
    "neighbours_again": "do the broken ones break each time, and pass without the change",
    "reduce": "is all of the change needed",
    "pair": "unchanged against changed",
    "inert": "an edit that changes nothing",
    "place": "the same change elsewhere",
    "place_neighbours": "the neighbours of the other place",
    "assertion": "the assertion turned round",
    "renamed": "the test under another name",
    "assertion_again": "does the turned test do so each time",
    "renamed_again": "does it fail under another name each time",
}
"""What a stage asks, in words."""


@dataclass(frozen=True)
class Site:
    """Where and with what cold runs happen."""

    root: Path
    project: Project
    runner: Runner
    sandbox: Sandbox
    test_files: tuple[str, ...]
    """Root-relative files that hold tests: the whole project's."""
    limits: Limits = field(default_factory=Limits)
    guards: tuple[str, ...] = ()
    """Root-relative files that must be the same in every run: tests, fixtures, configuration."""
    jobs: int = 1
    """Runs at once where they do not wait for each other; only contained ones, which share nothing but the machine."""
    sources: tuple[str, ...] = ()
    """Root-relative files in scope: where the other side of a relation is looked for if nothing tells what ran."""

    def read(self, path: str) -> bytes:
        """A file of the unchanged tree; empty if it cannot be read."""
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return b""


def guard_files(root: Path, files: Sequence[str], tests: Sequence[str]) -> tuple[str, ...]:
    """Of the given root-relative files those that are tests, fixtures, snapshots or configuration."""
    return tuple(sorted({path for path in (*files, *tests) if is_guard(path, tests) and (root / path).is_file()}))


@dataclass(frozen=True)
class Wanted:
    """What one run is for."""

    stage: str
    variant: str
    tests: tuple[str, ...]
    order: tuple[str, ...] = ()
    seed: int = 0
    environment: tuple[tuple[str, str], ...] = ()
    told: tuple[str, ...] = ()
    """Of which tests outcomes are kept; empty: of all."""


@dataclass
class Meter:
    """What the runs of one confirmation have cost, and what they may."""

    seconds: float = 3600.0
    cpu_seconds: float = 3600.0
    test_runs: int = 1_000_000
    spent_seconds: float = 0.0
    spent_cpu: float = 0.0
    runs: int = 0

    def take(self, seconds: float, cpu: float) -> None:
        self.spent_seconds += seconds
        self.spent_cpu += cpu
        self.runs += 1

    def short(self, runs: int = 1, each: float = 0.0) -> str:
        """Why so many more runs cannot be paid for; empty where they can."""
        if self.runs + runs > self.test_runs:
            return f"{self.test_runs - self.runs} test runs are left, {runs} are needed (--test-runs)"
        if self.spent_seconds + runs * each > self.seconds:
            return f"{self.seconds - self.spent_seconds:.0f} s are left, {runs * each:.0f} are needed (--seconds)"
        if self.spent_cpu + runs * each > self.cpu_seconds:
            return (
                f"{self.cpu_seconds - self.spent_cpu:.0f} CPU s are left, {runs * each:.0f} are needed (--cpu-seconds)"
            )
        return ""


class Cold:
    """Starts cold runs and numbers them."""

    def __init__(self, site: Site, meter: Meter, tell: Tell = silent) -> None:
        self.site = site
        self.meter = meter
        self.tell = tell
        self.number = 0
        self.failures: dict[tuple[int, str], TestResult] = {}
        """(run, test) → what the runner told in full; for the controller's own use, not part of the record."""

    def run(self, wanted: Wanted, files: Mapping[str, bytes] | None = None) -> Run:
        """One run. Never raises for what the tests do.

        Raises:
            ContainmentUnavailable: nothing was started.
        """
        return self.run_all([(wanted, files or {})])[0]

    def run_all(self, asked: Sequence[tuple[Wanted, Mapping[str, bytes]]]) -> list[Run]:
        """Runs that do not wait for each other's outcome, numbered as asked for; side by side where each is contained.

        Each is said to have taken its share of the whole time.

        Raises:
            ContainmentUnavailable: one of them was not started.
        """
        if not asked:
            return []
        self._told(asked[0][0], len(asked))
        limits, guards = self._limits(), self._guards()
        began = time.monotonic()
        apart = self.site.sandbox.level == "contained"
        ended = side_by_side([partial(self._start, *each, limits) for each in asked], self.site.jobs if apart else 1)
        seconds = (time.monotonic() - began) / max(len(asked), 1)
        after = self._guards()
        runs = []
        for (wanted, files), (session, completed) in zip(asked, ended, strict=True):
            self.meter.take(seconds, completed.cpu_seconds)
            self.number += 1
            self.failures.update({(self.number, r.id): r for r in session.results})
            runs.append(
                Run(
                    number=self.number,
                    stage=wanted.stage,
                    variant=wanted.variant,
                    seed=wanted.seed,
                    tests=wanted.tests,
                    order=wanted.order,
                    files=tuple(sorted((path, digest_bytes(data)) for path, data in files.items())),
                    guards=guards if guards == after else "changed during the run",
                    session=session.status,
                    outcomes=tuple(outcome_of(r) for r in session.results if not wanted.told or r.id in wanted.told),
                    retried="retried" in session.flags,
                    environment=wanted.environment,
                    problem=session.problem[-400:],
                    seconds=round(seconds, 3),
                    cpu_seconds=round(completed.cpu_seconds, 3),
                    cut=completed.limit or ("killed" if completed.signal == signal.SIGKILL else ""),
                )
            )
        return runs

    def _told(self, wanted: Wanted, count: int) -> None:
        left = max(self.meter.seconds - self.meter.spent_seconds, 0.0)
        words = STAGES.get(wanted.stage, wanted.stage)
        first = self.meter.runs + 1
        runs = f"cold run {first}" if count == 1 else f"cold runs {first} to {first + count - 1}"
        self.tell(f"{words}: {runs}, at most {left:.0f} s left")

    def _start(self, wanted: Wanted, files: Mapping[str, bytes], limits: Limits) -> tuple[Session, Completed]:
        site = self.site
        request = TestRequest(
            wanted.tests,
            wanted.order,
            seed=wanted.seed,
            env=dict(wanted.environment),
            changes=dict(files),
        )
        completed = site.sandbox.run(site.runner.command(site.project, request, limits))
        return site.runner.session(site.project, request, completed), completed

    def _limits(self) -> Limits:
        limits, meter = self.site.limits, self.meter
        seconds = max(1.0, min(limits.seconds, meter.seconds - meter.spent_seconds))
        cpu = max(1.0, min(limits.cpu_seconds, meter.cpu_seconds - meter.spent_cpu))
        return replace(limits, seconds=seconds, cpu_seconds=cpu)

    def _guards(self) -> str:
        return digest({path: digest_bytes(self.site.read(path)) for path in self.site.guards})

    def changed(self, wanted: Wanted, change: Change, also: Change | None = None) -> Run | Refused:
        """One run with a change in place, and with a second one beside it (a copy of the test)."""
        files: dict[str, bytes] = {}
        for each in (change, also):
            if each is None:
                continue
            applied = each.apply({path: files.get(path) or self.site.read(path) for path in each.files})
            if isinstance(applied, Refused):
                return applied
            files.update(applied)
        return self.run(wanted, files)


def outcome_of(result: TestResult) -> Outcome:
    """The kept part of one test's result."""
    failure = result.failure
    failed = result.status in ("failed", "error")
    return Outcome(
        test=result.id,
        status=result.status,
        phases=tuple((phase.name, phase.outcome) for phase in result.phases),
        signature=line(failure, result.status) if failed else "",
        phase=failure.phase if failure else "",
        path=failure.path if failure else "",
        line=failure.line if failure else 0,
        blocked=tuple(line for phase in result.phases for line in phase.blocked)[:20],
    )
