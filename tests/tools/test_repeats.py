"""Repeated runs: what their outcomes say together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof import interval
from rootproof.tools.repeats import APART, Told, combined

PASS, FAIL, OTHER = (
    Told("passed"),
    Told("failed", "AssertionError in call: lost"),
    Told("failed", "KeyError in call: x"),
)


def test_both_outcomes_are_flaky_with_a_rate() -> None:
    told = combined([PASS] * 15 + [FAIL] * 5, 20, one_seed=True)
    assert (told.status, told.passed, told.failed) == ("flaky", 15, 5)
    assert told.fields() == {
        "runs": 20,
        "counts": {"failed": 5, "passed": 15},
        "signatures": {"AssertionError in call: lost": 5},
        "failure_rate": 0.25,
        "failure_rate_low": 0.1119,
        "failure_rate_high": 0.4687,
    }


def test_under_several_seeds_it_may_be_the_seed() -> None:
    assert combined([PASS, FAIL], 2, one_seed=False).status == "mixed"


def test_failures_of_two_kinds_are_mixed() -> None:
    assert combined([FAIL, OTHER], 2, one_seed=True).status == "mixed"
    assert combined([FAIL, FAIL], 2, one_seed=True).status == "failed"


def test_several_tests_must_each_end_alike() -> None:
    one = Told("failed", outcomes=(("a", "failed"), ("b", "passed")))
    other = Told("failed", outcomes=(("a", "passed"), ("b", "failed")))
    assert combined([one, other], 2, one_seed=True).status == "mixed"


@pytest.mark.parametrize("status", ["skipped", "timeout", "unknown", "xfailed", "xpassed", "incomplete"])
def test_other_outcomes_decide_nothing(status: str) -> None:
    assert combined([PASS, Told(status)], 2, one_seed=True).status == "mixed"
    assert combined([Told(status)], 1, one_seed=True).failure_rate is None


def test_runs_that_were_not_made_leave_it_incomplete() -> None:
    told = combined([PASS, PASS], 3, one_seed=True)
    assert told.status == "incomplete"
    assert told.line().startswith("2 of 3 runs: 2 passed; failure rate 0.00 (95 %: 0.00 to 0.6")


def test_no_runs_say_nothing() -> None:
    with pytest.raises(ValueError, match="no run"):
        combined([], 1, one_seed=True)


STATUSES = st.sampled_from(["passed", "failed", "error", "xpassed_strict", "skipped", "timeout", "unknown"])


@given(st.lists(st.builds(Told, STATUSES, st.sampled_from(["", "a", "b"])), min_size=1, max_size=9), st.booleans())
def test_a_status_of_one_run_is_told_only_where_all_have_it(told: list[Told], one_seed: bool) -> None:
    status = combined(told, len(told), one_seed=one_seed).status
    assert (status in APART) == (len(set(told)) > 1)
    assert status in APART or {one.status for one in told} == {status}


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0)],
)
def test_wilson_against_published_values(hits: int, trials: int, low: float, high: float) -> None:
    found = interval.wilson(hits, trials)
    assert (round(found[0], 4), round(found[1], 4)) == (low, high)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_estimate_and_mirrors(pair: tuple[int, int]) -> None:
    hits, trials = pair
    (low, high), mirror = interval.wilson(hits, trials), interval.wilson(trials - hits, trials)
    assert 0 <= low <= hits / trials <= high <= 1
    assert abs(low - (1 - mirror[1])) < 1e-9
