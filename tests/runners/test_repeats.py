"""Repeated runs: their plan, and what their outcomes say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.runners.interface import Failure, TestRequest, TestResult, TestStatus
from rootproof.runners.repeats import plan, tally, wilson

REQUEST = TestRequest(("a.py::one", "a.py::two", "a.py::three"), seed=5)


def result(status: TestStatus, message: str = "", seconds: float = 1.0) -> TestResult:
    failure = Failure("AssertionError", message) if status == "failed" else None
    return TestResult("a.py::one", status, failure=failure, seconds=seconds)


def test_both_outcomes_are_flaky_with_a_rate() -> None:
    told = tally([result("passed")] * 15 + [result("failed", "lost at 0x7f0000000001")] * 5)
    assert (told.passed, told.failed, told.flaky, told.stable) == (15, 5, True, False)
    rate = told.failure_rate
    assert rate is not None
    assert rate.estimate == 0.25
    assert (round(rate.low, 3), round(rate.high, 3)) == (0.112, 0.469)


def test_equal_failures_are_one_signature() -> None:
    told = tally([result("failed", "lost at 0x7f0000000001"), result("failed", "lost at 0x7f00000000ff")])
    assert told.stable
    assert list(told.signatures.values()) == [2]
    assert not tally([result("failed", "lost"), result("failed", "found")]).stable


@pytest.mark.parametrize("status", ["skipped", "timeout", "unknown", "xfailed", "xpassed", "incomplete"])
def test_other_outcomes_decide_nothing(status: TestStatus) -> None:
    told = tally([result("passed"), result(status)])
    assert (told.undecided, told.stable, told.flaky) == (1, False, False)
    assert tally([result(status)]).failure_rate is None


def test_no_runs_say_nothing() -> None:
    told = tally([])
    assert (told.runs, told.stable, told.failure_rate) == (0, False, None)


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0)],
)
def test_wilson_against_published_values(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(hits, trials)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_estimate_and_mirrors(pair: tuple[int, int]) -> None:
    hits, trials = pair
    found, mirror = wilson(hits, trials), wilson(trials - hits, trials)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert abs(found.low - (1 - mirror.high)) < 1e-9


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="trial"):
        wilson(0, 0)


def test_a_plan_is_the_same_each_time_but_for_its_marks() -> None:
    one, other = plan(REQUEST, 4, "different", "shuffled"), plan(REQUEST, 4, "different", "shuffled")
    assert one == other
    assert [request.seed for request in one] == [5, 6, 7, 8]
    assert len({request.nonce for request in (*one, *other)}) == 8
    assert all(sorted(request.order) == sorted(REQUEST.tests) for request in one)
    assert len({request.order for request in plan(REQUEST, 20, "same", "shuffled")}) > 1


def test_orders_and_seeds_are_kept_unless_asked_otherwise() -> None:
    assert [(r.seed, r.order) for r in plan(REQUEST, 2)] == [(5, ()), (5, ())]
    assert plan(REQUEST, 1, order="reversed")[0].order == ("a.py::three", "a.py::two", "a.py::one")
    with pytest.raises(ValueError, match="repeat"):
        plan(REQUEST, 0)
