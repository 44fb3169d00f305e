"""How a test is to be run: how often, among which others, in which order and under which seeds.

A request says it; a runner may not be able to do it, and then the request cannot be meant. What was asked for is
checked against what happened: a run whose tests came in another order is no evidence about the order asked for.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rootproof import contract
from rootproof.canonical import Json
from rootproof.runners.interface import Runner, Session, TestRequest, TestResult, TestStatus
from rootproof.tools.interface import Declined

Order = Literal["file", "random"]
ORDERS: tuple[str, ...] = get_args(Order)
OF_TESTS: tuple[TestStatus, ...] = ("passed", "xfailed", "skipped", "xpassed", "xpassed_strict", "failed", "error")
"""What a test can be in a session that ended well, best first. Any other status is the whole session's."""


@dataclass(frozen=True)
class Arrangement:
    """One request, read."""

    test: str
    repeat: int = 1
    order: str = ""
    """Empty: what was asked for and nothing else. ``file``: its whole file, in the runner's order. ``random``: its
    whole file, in an order drawn from the seed."""
    after: tuple[str, ...] = ()
    """Tests that run before it in the same process, in this order."""
    seed: int = 0
    vary_seed: bool = False
    """Each repeat has a seed of its own, counted up from ``seed``."""

    @classmethod
    def of(cls, given: Mapping[str, Json]) -> Arrangement:
        """From the canonical input of a request."""
        after, seed, repeat = given.get("after"), given.get("seed"), given.get("repeat")
        return cls(
            test=str(given["test"]),
            repeat=repeat if type(repeat) is int else 1,
            order=str(given.get("order") or ""),
            after=tuple(str(test) for test in after) if isinstance(after, list) else (),
            seed=seed if type(seed) is int else 0,
            vary_seed=given.get("vary_seed") is True,
        )

    @property
    def runs(self) -> int:
        """Test processes it needs: a random order has to know first which tests there are."""
        return self.repeat + (self.order == "random")

    def refused(self, runner: Runner, scope: contract.Scope, room: int) -> Declined | None:
        """Why it cannot be meant here; None where it can."""
        file = contract.file_of(self.test)
        if self.after and (self.order or self.test in self.after):
            return Declined("after names what runs before the test, and nothing else runs", "leave order out")
        if (self.after or self.order == "random") and not runner.arranges:
            return Declined(f"{runner.name} cannot be told an order", "it can run the test alone, or with order file")
        if (self.seed or self.vary_seed) and not runner.seeded:
            return Declined(f"{runner.name} has no seed", "leave seed and vary_seed out")
        if self.vary_seed and self.repeat == 1:
            return Declined("one run has one seed", "ask with repeat")
        if self.order and not scope.allows("tests", file):
            reason = f"order {self.order} runs all of {file}, and the contract lists single tests of it"
            return Declined(reason, "name in after what should run before the test")
        if self.runs > room:
            return Declined(f"{self.runs} test runs are needed, {room} are left", "ask with a smaller repeat")
        return None

    def request(self, number: int, collected: Sequence[str] = ()) -> TestRequest:
        """The request of run ``number``, from 0; ``collected`` are the tests of the file, for a random order."""
        seed = self.seed + number if self.vary_seed else self.seed
        if self.after:
            tests = (*self.after, self.test)
            return TestRequest(tests, tests, seed)
        if not self.order:
            return TestRequest((self.test,), seed=seed)
        order = list(collected)
        random.Random(seed).shuffle(order)
        return TestRequest((contract.file_of(self.test),), tuple(order), seed)

    def collecting(self) -> TestRequest:
        """The request that only tells which tests the file holds."""
        return TestRequest((contract.file_of(self.test),), seed=self.seed, collect_only=True)

    def results(self, session: Session, separator: str) -> list[TestResult]:
        """Of a session those results that the test asked for stands for."""
        begins = tuple(self.test + mark for mark in (separator, "[", "/"))
        return [
            result
            for result in session.results
            if result.id == self.test
            or result.id.startswith(begins)
            or (result.status == "skipped" and self.test.startswith(result.id + separator))  # its whole file
        ]

    def status(self, session: Session, separator: str, order: Sequence[str]) -> TestStatus:
        """The outcome of the test asked for, whatever became of the others that ran with it."""
        if session.status not in OF_TESTS:
            return session.status
        if not _in_order(order, [result.id for result in session.results]):
            return "unknown"
        if not self.order and not self.after:
            return session.status
        found = [result.status for result in self.results(session, separator)]
        return max(found, key=_rank, default="not_found")


def _rank(status: TestStatus) -> int:
    return OF_TESTS.index(status) if status in OF_TESTS else len(OF_TESTS)


def _in_order(wanted: Sequence[str], found: Sequence[str]) -> bool:
    """Whether tests ran in the order asked for, as far as they were named in it."""
    places = {test: place for place, test in enumerate(wanted)}
    came = [places[test] for test in found if test in places]
    return came == sorted(came) and len(came) == len(set(came))
