"""Take anything away from the record of a supported change, or alter it, and it is supported no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from masking.shop import EDGE, FILES
from rootproof.experiments.cold import Cold, Meter
from rootproof.experiments.confirm import confirm
from rootproof.experiments.record import Confirmation, Run
from rootproof.experiments.verdict import judge
from small_project import small

Honest = tuple[Confirmation, Mapping[str, bytes]]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    shop = small(tmp_path_factory.mktemp("evidence") / "shop", FILES)
    fixed = shop.read("shop/pricing.py").decode().replace("amount > limits", "amount >= limits")
    cold = Cold(shop.site(), Meter())
    record, sources = confirm(shop.site(), cold, shop.baseline(EDGE), shop.edits({"shop/pricing.py": fixed}), 1)
    assert judge(record, sources).answer == "supported"
    return record, sources


def supported(record: Confirmation, honest: Honest) -> bool:
    return judge(record, honest[1]).answer == "supported"


def test_every_run_is_needed(honest: Honest) -> None:
    record, _ = honest
    needless = [
        run.stage
        for run in record.runs
        if supported(replace(record, runs=tuple(r for r in record.runs if r is not run)), honest)
    ]
    # The target is run alone twice: a failure that shows under one hash seed only would be no failure of the code.
    assert needless in ([], ["reproduce", "reproduce"]), needless


def turned(run: Run, target: str) -> Run:
    """The same run with the other outcome of everything in it."""
    passed = tuple((phase, "passed") for phase in ("setup", "call", "teardown"))
    outcomes = tuple(
        replace(
            o, status="failed", signature="x", phases=(("setup", "passed"), ("call", "failed"), ("teardown", "passed"))
        )
        if o.status == "passed"
        else replace(o, status="passed", signature="", phase="", phases=passed)
        for o in run.outcomes
    )
    return replace(run, outcomes=outcomes)


def with_run(record: Confirmation, place: int, run: Run) -> Confirmation:
    return replace(record, runs=(*record.runs[:place], run, *record.runs[place + 1 :]))


def test_every_outcome_counts(honest: Honest) -> None:
    record, _ = honest
    for place, run in enumerate(record.runs):
        if run.stage == "place" or (run.stage == "neighbours" and run.variant == "unchanged"):
            continue
        assert not supported(with_run(record, place, turned(run, record.target)), honest), (run.stage, run.variant)


@pytest.mark.parametrize("status", ["skipped", "xpassed", "xfailed", "unknown", "crashed", "incomplete", "timeout"])
def test_only_a_pass_is_a_pass(honest: Honest, status: str) -> None:
    record, _ = honest
    for place, run in enumerate(record.runs):
        if run.stage in ("flip", "pair", "renamed") and run.variant == "changed":
            worse = replace(run, outcomes=tuple(replace(o, status=status) for o in run.outcomes))
            assert not supported(with_run(record, place, worse), honest), run.stage


def test_conditions_of_the_runs_count(honest: Honest) -> None:
    record, _ = honest
    for place, run in enumerate(record.runs):
        assert not supported(with_run(record, place, replace(run, guards="others")), honest), run.stage
        if run.stage in ("pair", "flip"):
            for worse in (replace(run, retried=True), replace(run, files=(("shop/pricing.py", "other"),))):
                assert not supported(with_run(record, place, worse), honest), (run.stage, run.variant)
        if run.stage == "pair":
            assert not supported(with_run(record, place, replace(run, seed=99)), honest)


def test_the_rest_of_the_record_counts(honest: Honest) -> None:
    record, _ = honest
    changes = [
        {"tries": 5},
        {"traces": ()},
        {"traces": tuple(replace(t, lines=()) for t in record.traces)},
        {"reduced": ()},
        {"signature": "other"},
        {"target": "tests/test_pricing.py::test_small"},
        {"stopped": ("pairs", "3 test runs are left")},
        {"files": (("shop/pricing.py", "0" * 64), *record.files[1:])},
        {"unmade": (("assertion", "no"), ("inert", "no"))},
        {"neighbours": ()},
    ]
    assert [c for c in changes if supported(replace(record, **c), honest)] == []  # type: ignore[arg-type]


def test_other_sources_are_stale(honest: Honest) -> None:
    record, sources = honest
    for path in sources:
        verdict = judge(record, {**sources, path: sources[path] + b"\n"})
        assert (verdict.answer, verdict.rule) == ("inconclusive", "stale")


def ended(run: Run, cut: str, cpu: float) -> Run:
    """The same run as it is told where something ended it: nothing is heard of its tests."""
    return replace(run, session="timeout", outcomes=(), cut=cut, cpu_seconds=cpu)


TWO_FUNCTIONS = {
    "pytest.ini": "[pytest]\n",
    "mod.py": """
        def wanted(a):
            if a > 3:
                return 1
            return 0


        def shown(a):
            if a > 100:
                return "many"
            return str(wanted(a))
        """,
    "test_mod.py": """
        from mod import shown


        def test_edge():
            assert shown(3) == "1"


        def test_more():
            assert shown(5) == "1"


        def test_less():
            assert shown(1) == "0"


        def test_many():
            assert shown(101) == "many"
        """,
}


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    """A supported change with a place control beside it."""
    project = small(tmp_path_factory.mktemp("placed") / "project", TWO_FUNCTIONS)
    fixed = project.read("mod.py").decode().replace("a > 3", "a >= 3")
    cold, target = Cold(project.site(), Meter()), "test_mod.py::test_edge"
    record, sources = confirm(project.site(), cold, project.baseline(target), project.edits({"mod.py": fixed}), 1)
    assert judge(record, sources).answer == "supported" and record.places
    return record, sources


@pytest.mark.parametrize("cut", ["time", "cpu", "killed"])
def test_a_run_that_load_or_a_short_budget_ended_is_neither_for_nor_against(cut: str, placed: Honest) -> None:
    record, sources = placed
    for place, run in enumerate(record.runs):
        if run.stage == "reproduce" or (run.stage == "reduce" and len(record.reduced) == 1):
            continue
        verdict = judge(with_run(record, place, ended(run, cut, run.cpu_seconds)), sources)
        assert verdict.answer == "inconclusive", (run.stage, run.variant, verdict)
        assert verdict.rule == "cut" or run.stage == "inert", (run.stage, run.variant, verdict)


def test_a_change_elsewhere_that_hangs_by_itself_is_an_outcome(placed: Honest) -> None:
    record, sources = placed
    for number, run in enumerate(record.runs):
        if run.stage == "place":
            assert judge(with_run(record, number, ended(run, "time", 60.0)), sources).answer == "supported"


def test_a_change_that_hangs_by_itself_is_refuted(placed: Honest) -> None:
    record, sources = placed
    number = next(n for n, run in enumerate(record.runs) if run.stage == "flip")
    found = judge(with_run(record, number, ended(record.runs[number], "time", 60.0)), sources)
    assert (found.answer, found.rule) == ("refuted", "still_fails")


def test_neighbours_are_not_dropped_by_a_run_that_was_ended(honest: Honest) -> None:
    record, sources = honest
    before, after = record.of("neighbours", "unchanged")[0], record.of("neighbours", "changed")[-1]
    broken = with_run(record, record.runs.index(after), turned(after, record.target))
    again = ended(replace(before, stage="neighbours_again"), "time", 0.1)
    gone = tuple((test, "it fails unchanged too") for test in record.neighbours)
    found = judge(replace(broken, runs=(*broken.runs, again), dropped=gone), sources)
    assert (found.answer, found.rule) == ("inconclusive", "cut")
