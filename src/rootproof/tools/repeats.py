"""What the outcomes of a repeated test say together. Pure.

One outcome is only told where every run had it. The interval is Wilson's score interval (Wilson 1927, J. Am. Stat.
Assoc. 22): unlike the textbook one it stays inside 0 to 1 and is sound for few runs and for rates near 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rootproof import interval

PASSED = frozenset({"passed"})
FAILED = frozenset({"failed", "error", "xpassed_strict"})
"""What decides a run. All other outcomes (skipped, timed out, unknown ...) are counted and decide nothing."""
APART = ("flaky", "mixed")
"""Outcomes that only many runs together have."""


@dataclass(frozen=True)
class Told:
    """The outcome of one run."""

    status: str
    signature: str = ""
    """Of its failure; empty where there is none to show."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """Test and status, where several tests were asked for."""


@dataclass(frozen=True)
class Repeats:
    """The outcomes of the same request over several runs."""

    told: tuple[Told, ...]
    wanted: int
    """Runs that were asked for; fewer were made where time ran out."""
    one_seed: bool = True

    @property
    def counts(self) -> Mapping[str, int]:
        """Status → runs."""
        return dict(sorted(Counter(told.status for told in self.told).items()))

    @property
    def signatures(self) -> Mapping[str, int]:
        """Failure signature → runs that failed so."""
        return dict(sorted(Counter(told.signature for told in self.told if told.signature).items()))

    @property
    def passed(self) -> int:
        return sum(told.status in PASSED for told in self.told)

    @property
    def failed(self) -> int:
        return sum(told.status in FAILED for told in self.told)

    @property
    def status(self) -> str:
        """The status all runs had. ``flaky``: passes and failures under one order and seed. ``mixed``: they differ
        otherwise, be it in their failure. ``incomplete``: alike, but not all were made."""
        if self.passed and self.failed and self.one_seed:
            return "flaky"
        if len(set(self.told)) > 1:
            return "mixed"
        return self.told[0].status if len(self.told) == self.wanted else "incomplete"

    @property
    def failure_rate(self) -> tuple[float, float, float] | None:
        """Share of failures among the runs that decided, and its 95 % interval; None where none did."""
        decided = self.passed + self.failed
        if not decided:
            return None
        return (self.failed / decided, *interval.wilson(self.failed, decided))

    def fields(self) -> dict[str, object]:
        """As result fields."""
        fields: dict[str, object] = {"runs": len(self.told), "counts": self.counts, "signatures": self.signatures}
        if self.failure_rate is not None:
            names = ("failure_rate", "failure_rate_low", "failure_rate_high")
            fields |= {name: round(value, 4) for name, value in zip(names, self.failure_rate, strict=True)}
        return fields

    def line(self) -> str:
        """For people and models."""
        counted = ", ".join(f"{count} {status}" for status, count in self.counts.items())
        rate = self.failure_rate
        share = f"; failure rate {rate[0]:.2f} (95 %: {rate[1]:.2f} to {rate[2]:.2f})" if rate else ""
        short = f" of {self.wanted}" if len(self.told) < self.wanted else ""
        return f"{len(self.told)}{short} runs: {counted}{share}"


def combined(told: Sequence[Told], wanted: int, *, one_seed: bool) -> Repeats:
    """The outcomes together.

    Raises:
        ValueError: there is none.
    """
    if not told:
        raise ValueError("no run was made")
    return Repeats(tuple(told), wanted, one_seed)
