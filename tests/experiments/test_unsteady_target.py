"""A target that fails by chance with a change in place refutes nothing, and the trace of such a run tells nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from postage import BESIDE, RED, SHOP, tried
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.record import Confirmation
from rootproof.experiments.verdict import judge
from small_project import Small, small

TOSSED = """
    from pathlib import Path

    from price import label, postage


    def tossed():
        # Once the fault is mended: which run of it this is, and whether chance has it that it fails.
        if postage(50) != 0:
            return False
        seen = Path(NOTE)
        said = seen.read_text()
        seen.write_text(said + "x")
        return len(said) in FAILS


    def test_from_fifty():
        assert not tossed(), "chance"
        assert label(50) == "50"
        assert postage(50) == 0
    """
EACH_TIME = range(1000)


def shop_with(folder: Path, fails: Collection[int]) -> Small:
    """Its target fails by chance in these runs of those with the true change."""
    note = folder / "tosses"
    note.write_text("")
    test = TOSSED.replace("NOTE", repr(str(note))).replace("FAILS", repr(fails))
    return small(folder / "shop", {**SHOP, "test_price.py": test + BESIDE})


@pytest.mark.parametrize(
    ("fails", "verdict", "rule"),
    [
        pytest.param((0,), "inconclusive", "unsteady_target", id="failed once, then passed"),
        pytest.param(EACH_TIME, "refuted", "still_fails", id="fails each time", marks=pytest.mark.suites),
    ],
)
def test_one_failure_with_the_change_does_not_refute_it(
    tmp_path: Path, fails: Collection[int], verdict: str, rule: str
) -> None:
    found, _, still_open = tried(shop_with(tmp_path, fails))
    assert (found.answer, found.rule) == (verdict, rule), found.reason
    assert still_open == (verdict == "inconclusive")


IN_A_PAIR = 5
"""Which run with the change it is: the flip is 0, then come the traced runs, the pairs, and the copies of the test."""


def test_a_failure_in_a_pair_after_a_pass_is_chance(tmp_path: Path) -> None:
    found, record, still_open = tried(shop_with(tmp_path, (IN_A_PAIR,)))
    assert record.runs[-1].stage == "pair" and not record.runs[-1].passed(RED)
    assert (found.answer, found.rule) == ("inconclusive", "unsteady_target")
    assert still_open


TRACED, TURNED, RENAMED = 2, 8, 10


@pytest.mark.parametrize(
    ("fails", "control", "ends"),
    [
        pytest.param(
            (TURNED,), "assertion", "assertion_control", id="the turned copy failed elsewhere", marks=pytest.mark.suites
        ),
        pytest.param(
            (TRACED, RENAMED), "renamed", "renamed_copy", id="the renamed copy failed", marks=pytest.mark.suites
        ),
    ],
)
def test_one_run_of_a_copy_does_not_end_the_case(
    tmp_path: Path, fails: Collection[int], control: str, ends: str
) -> None:
    shop = shop_with(tmp_path, fails)
    found, record, still_open = tried(shop)
    assert (found.answer, found.rule) == ("inconclusive", "unsteady_copy"), found.reason
    assert still_open
    sources = shop.sources(record)

    def judged(changed: Confirmation) -> tuple[str, bool]:
        verdict = judge(changed, sources)
        return verdict.rule, is_open(Matter(changed, sources), verdict)

    once = record.of(control)[0].outcomes
    always = [replace(run, outcomes=once) if run.stage == f"{control}_again" else run for run in record.runs]
    assert judged(replace(record, runs=tuple(always))) == (ends, False), "it does so each time"
    assert judged(replace(record, runs=tuple(always[:-1]))) == ("not_finished", True), "a further run is missing"
    before, after = record.traces
    assert after.status == ("unsteady" if TRACED in fails else "passed")
    told = ("not_finished", True) if TRACED in fails else ("not_executed", False)
    assert judged(replace(record, traces=(replace(before, lines=()), after))) == told
