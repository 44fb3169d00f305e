"""Running a test many times: which runs, and what their outcomes say. Without a clock; drawn orders are repeatable.

The interval is Wilson's score interval (Wilson 1927, J. Am. Stat. Assoc. 22): unlike the textbook one it stays inside
0 to 1 and is sound for few runs and for rates near 0 or 1.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rootproof import interval
from rootproof.interval import Z_95
from rootproof.runners.interface import TestRequest, TestResult, TestStatus
from rootproof.signature import Signature, of

Order = Literal["given", "reversed", "shuffled"]
Seeds = Literal["same", "different"]

GOOD: frozenset[TestStatus] = frozenset({"passed"})
BAD: frozenset[TestStatus] = frozenset({"failed", "error", "xpassed_strict"})
"""What decides a run. All other outcomes (skipped, timed out, unknown ...) are counted and decide nothing."""


@dataclass(frozen=True)
class Interval:
    """A share with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Repeats:
    """The outcomes of one test over many runs."""

    runs: int
    counts: Mapping[TestStatus, int]
    signatures: Mapping[Signature, int]
    """Of the runs that failed with a failure to show."""
    seconds: tuple[float, float, float]
    """Least, median, most."""

    @property
    def passed(self) -> int:
        return sum(self.counts.get(status, 0) for status in GOOD)

    @property
    def failed(self) -> int:
        return sum(self.counts.get(status, 0) for status in BAD)

    @property
    def undecided(self) -> int:
        return self.runs - self.passed - self.failed

    @property
    def flaky(self) -> bool:
        """Both outcomes were seen. With equal order, seed and environment that is the test's own doing."""
        return self.passed > 0 and self.failed > 0

    @property
    def stable(self) -> bool:
        """Every run decided, all one way and, where they failed, with one signature."""
        one_way = self.undecided == 0 and not self.flaky
        return self.runs > 0 and one_way and len(self.signatures) <= 1

    @property
    def failure_rate(self) -> Interval | None:
        """Share of failures among the runs that decided; None where none did."""
        decided = self.passed + self.failed
        return wilson(self.failed, decided) if decided else None


def tally(results: Sequence[TestResult]) -> Repeats:
    """Count the outcomes of one test's runs."""
    failures = [r.failure for r in results if r.status in BAD and r.failure is not None]
    seconds = sorted(result.seconds for result in results) or [0.0]
    return Repeats(
        runs=len(results),
        counts=dict(Counter(result.status for result in results)),
        signatures=dict(Counter(of(failure) for failure in failures)),
        seconds=(seconds[0], seconds[len(seconds) // 2], seconds[-1]),
    )


def wilson(hits: int, trials: int, z: float = Z_95) -> Interval:
    """Wilson's score interval for a share.

    Raises:
        ValueError: no trials, or hits outside 0 to trials.
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise ValueError("hits must lie between 0 and trials, and there must be a trial")
    low, high = interval.wilson(hits, trials, z)
    return Interval(hits / trials, low, high)


def plan(request: TestRequest, repeat: int, seeds: Seeds = "same", order: Order = "given") -> tuple[TestRequest, ...]:
    """The requests of a repeated run, the same for the same arguments.

    ``seeds="different"`` counts up from the request's seed. ``order`` arranges the requested tests; shuffled orders
    are drawn from each run's own seed and number.

    Raises:
        ValueError: ``repeat`` is below 1.
    """
    if repeat < 1:
        raise ValueError("repeat must be at least 1")
    planned = []
    for number in range(repeat):
        seed = request.seed + number if seeds == "different" else request.seed
        arranged = _arranged(request, order, f"{seed}:{number}")
        planned.append(replace(request, seed=seed, order=arranged, nonce=secrets.token_hex(16)))
    return tuple(planned)


def _arranged(request: TestRequest, order: Order, key: str) -> tuple[str, ...]:
    tests = request.order or request.tests
    if order == "reversed":
        return tests[::-1]
    if order == "shuffled":
        shuffled = list(tests)
        random.Random(key).shuffle(shuffled)
        return tuple(shuffled)
    return request.order
