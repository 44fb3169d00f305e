"""Which neighbours a change really broke: one that fails by chance fails without it too, or passes with it again.

A failing neighbour is run again alone, in processes of its own: as often without the change, where it must pass, as
with it, where it must fail. Where all of that holds, the chance that the change had nothing to do with it is at most
0.25 ** RUNS for any rate of failing. All else is not known, and left to be judged in cold runs.
"""

from __future__ import annotations

from typing import Any

RUNS = 8
"""How often a neighbour must pass without a change and fail with it, each time, to count as broken by it."""


class Steady:
    """How often each neighbour passed without any change; one that ever failed so is no witness in this search."""

    def __init__(self) -> None:
        self.passes: dict[str, int] = {}
        self.failed: set[str] = set()

    def take(self, test: str, status: str) -> None:
        """One more outcome without a change."""
        if status == "passed":
            self.passes[test] = self.passes.get(test, 0) + 1
        else:
            self.failed.add(test)

    def holds(self, test: str) -> bool:
        """Whether it passed often enough, and each time."""
        return test not in self.failed and self.passes.get(test, 0) >= RUNS


class Doubt:
    """A change with which the test passed and a neighbour failed, until it is known what broke that neighbour."""

    def __init__(self, mutant: dict[str, Any], record: dict[str, Any]) -> None:
        self.mutant = mutant
        self.record = record
        self.test = str(record["broken"][0])
        self.fails = 1
        self.unsure = False

    def take(self, status: str) -> None:
        """One more outcome with the change."""
        if status in ("passed", "crashed"):
            self.unsure = True
        else:
            self.fails += 1

    def next(self, steady: Steady) -> str:
        """What to run now: ``unchanged``, ``changed``, or nothing more."""
        if self.unsure or self.test in steady.failed:
            return ""
        if not steady.holds(self.test):
            return "unchanged"
        return "changed" if self.fails < RUNS else ""

    def verdict(self, steady: Steady) -> dict[str, Any]:
        """The record of the change; the neighbour's outcome is not known unless it was broken each time."""
        if not self.unsure and steady.holds(self.test) and self.fails >= RUNS:
            return self.record
        return dict(self.record, broken=[], unfinished=True)
