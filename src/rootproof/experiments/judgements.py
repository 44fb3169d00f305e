"""The judgements up to the pairs: is it the failure, the change, the place? Pure, on the record alone."""

from __future__ import annotations

from rootproof.experiments import controls
from rootproof.experiments.change import Refused
from rootproof.experiments.conclusion import Verdict, counted, lasting, not_done, refuted, undecided
from rootproof.experiments.cut import cut
from rootproof.experiments.executed import not_executed
from rootproof.experiments.masks import forbidden_files, tree_of
from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Run


def same_sources(matter: Matter) -> Verdict | None:
    stranger = matter.strangers()
    return undecided("stale", f"{stranger} is not what the record was made with") if stranger else None


def applies(matter: Matter) -> Verdict | None:
    forbidden = forbidden_files([e.file for e in matter.record.proposed], matter.record.tests)
    if forbidden:
        return Verdict("masked", forbidden[0].rule, str(forbidden[0]))
    changed = matter.changed(matter.record.proposed)
    if isinstance(changed, Refused):
        return refuted("does_not_apply", changed.reason)
    unreadable = next((f for f in changed if f.endswith(".py") and tree_of(changed[f]) is None), "")
    return refuted("unparseable", f"{unreadable} is no Python with the change") if unreadable else None


def reproduced(matter: Matter) -> Verdict | None:
    """The target fails alone and in file order with one signature; not for what containment may have caused."""
    record = matter.record
    runs = record.of("reproduce")
    if not runs:
        return not_done(matter, "reproduce")
    outcomes = [run.outcome(record.target) for run in runs]
    if any(outcome is None for outcome in outcomes):
        return undecided(
            "not_reproduced", f"{record.target} gave no outcome: {runs[0].session} {runs[0].problem[:120]}"
        )
    passed = [run for run in runs if run.passed(record.target)]
    alone = [run for run in runs if run.variant == "alone"]
    whole = [run for run in runs if run.variant == "file_order"]
    if len(passed) == len(runs):
        return undecided("not_reproduced", "the target passes")
    if passed and (all(r in passed for r in alone) or all(r in passed for r in whole)):
        return undecided("order_dependent", "the target's outcome follows which tests run before it")
    if passed:
        return undecided("flaky", "the unchanged target both passes and fails under equal conditions")
    if not all(run.failed(record.target, record.signature) for run in runs):
        seen = sorted({o.signature or o.status for o in outcomes if o})
        return undecided("unstable_failure", "the failure differs from run to run: " + " / ".join(seen)[:300])
    return None if alone and whole else undecided("not_reproduced", "it was not run both alone and in file order")


def not_masked(matter: Matter) -> Verdict | None:
    """No rule is broken, by the change as proposed nor as reduced."""
    for edits in (matter.record.proposed, matter.record.reduced):
        found = matter.masks(edits, known=True) if edits else ()
        if found:
            return Verdict("masked", found[0].rule, str(found[0]))
    return None


def flipped(matter: Matter) -> Verdict | None:
    """The target passes with the proposed change, in a cold run; only one that fails in each run refutes it."""
    record = matter.record
    runs = record.of("flip")
    if not runs:
        return not_done(matter, "flip")
    run, again = runs[0], record.of("flip_again")
    if any(each.files != matter.files_of(record.proposed) for each in (run, *again)):
        return undecided("other_change", "the run had other bytes in place than the change")
    if run.passed(record.target):
        return None
    ended = cut(record, run, *again)
    if ended is not None:
        return ended
    if any(each.passed(record.target) for each in again):
        return undecided("unsteady_target", "with the change the target failed, then passed")
    if len(again) < controls.AGAIN and not run.cut:
        return not_done(matter, "flip_again")
    outcome = run.outcome(record.target)
    if outcome is None:
        return refuted("still_fails", f"the target gives no outcome with the change: {run.session} {run.problem[:120]}")
    return refuted("still_fails", f"with the change the target is {outcome.status}: {outcome.signature[:160]}")


def contained(matter: Matter) -> Verdict | None:
    """What containment may have refused happens in the passing run too, or it is no evidence of a cause."""
    record = matter.record
    before = {
        line for run in record.of("reproduce") for o in run.outcomes if o.test == record.target for line in o.blocked
    }
    after = {line for run in record.of("flip") for o in run.outcomes if o.test == record.target for line in o.blocked}
    missing = sorted(before - after)
    return (
        undecided("possibly_containment", f"containment may have caused the failure: {missing[0]}") if missing else None
    )


def executed(matter: Matter) -> Verdict | None:
    if not matter.record.covered:
        return None
    if not matter.record.traces:
        return not_done(matter, "trace")
    reason = not_executed(matter)
    if reason and not all(trace.told for trace in matter.record.traces):
        return undecided("not_finished", f"a traced run did not come to its end, or to another one: {reason}")
    return undecided("not_executed", reason) if reason else None


def narrow_enough(matter: Matter) -> Verdict | None:
    if not matter.record.reduced:
        return not_done(matter, "reduce")
    if matter.shape.width == "too_wide":
        return undecided("too_wide", f"a cause this wide cannot be confirmed: {matter.shape.reason}")
    return None


def minimal(matter: Matter) -> Verdict | None:
    """Without any one edit the target or a neighbour fails."""
    edits = matter.record.reduced
    if len(edits) == 1:
        return None
    for edit in edits:
        files = matter.files_of([e for e in edits if e != edit])
        seen = [run for run in matter.record.of("reduce") if run.files == files]
        runs = [run for run in seen if cut(matter.record, run) is None]
        if not runs or any(_kept(matter, run) for run in runs):
            return undecided("not_reduced", f"the edit at {edit.file}:{edit.first} was not shown to be needed")
    return None


def _kept(matter: Matter, run: Run) -> bool:
    return all(run.passed(test) for test in (matter.record.target, *lasting(matter.record)))


def neighbours(matter: Matter) -> Verdict | None:
    """Every neighbour still passes; those that fail unchanged in the same order too do not count."""
    record = matter.record
    if not record.neighbours:
        return None
    before, after = record.of("neighbours", "unchanged"), record.of("neighbours", "changed")
    if not before or not after:
        return not_done(matter, "neighbours")
    ended = cut(record, before[0], *record.of("neighbours_again"))
    if ended is not None:
        return ended
    if after[-1].order != before[0].order or after[-1].seed != before[0].seed:
        return undecided("neighbours", "the neighbours ran in another order or with another seed")
    if after[-1].files != matter.change_files:
        return undecided("other_change", "the neighbours ran with other bytes in place than the change")
    silent = [test for test in lasting(record) if before[0].silent(test)]
    if silent:
        said = f"{', '.join(silent[:3])}: the run without the change ended before they did"
        return undecided("unsteady_neighbours", said)
    doubtful = broken(matter)
    if not doubtful:
        return None
    with_it = _with_it(matter)
    ended = cut(record, *with_it)
    if ended is not None:
        return ended
    each_time = [test for test in doubtful if not any(run.passed(test) for run in with_it)]
    if len(with_it) <= controls.PAIRS_AGAIN or not each_time:
        said = f"{', '.join(doubtful[:3])}: with the change it failed, and whether by chance is open"
        return undecided("unsteady_neighbours", said)
    return refuted(
        "breaks_neighbours",
        f"with the change {len(each_time)} of {len(counted(record))} neighbours fail ({', '.join(each_time[:3])}): "
        "the change is wrong, or these tests and the target contradict each other",
    )


def broken(matter: Matter) -> tuple[str, ...]:
    """Neighbours that failed with the change at least once, and never without it."""
    record, with_it = matter.record, _with_it(matter)
    before = (*record.of("neighbours", "unchanged"), *record.of("neighbours_again", "unchanged"))
    return tuple(
        test
        for test in lasting(record)
        if all(run.passed(test) or run.silent(test) for run in before) and not all(run.passed(test) for run in with_it)
    )


def _with_it(matter: Matter) -> tuple[Run, ...]:
    """Runs of the neighbours with just this change in place."""
    record = matter.record
    after = (*record.of("neighbours", "changed"), *record.of("neighbours_again", "changed"))
    return tuple(run for run in after if run.files == matter.change_files)


def paired(matter: Matter) -> Verdict | None:
    """k interleaved pairs: unchanged fails with the signature, changed passes, each pair under one seed of its own."""
    record = matter.record
    runs, k = record.of("pair"), controls.pairs_needed(record.tries)
    for number, run in enumerate(runs):
        wrong = _pair_fault(matter, run, number, runs)
        if wrong is not None:
            return wrong
    if len(runs) < 2 * k:
        return not_done(matter, "pairs")
    seeds = [run.seed for run in runs[::2]]
    return None if len(set(seeds)) == len(seeds) else undecided("pairs", "two pairs have one seed")


def _pair_fault(matter: Matter, run: Run, number: int, runs: tuple[Run, ...]) -> Verdict | None:
    record, changed = matter.record, number % 2 == 1
    wanted = "changed" if changed else "unchanged"
    if run.variant != wanted or (number and run.number <= runs[number - 1].number):
        return undecided("pairs", "the pairs are not interleaved")
    if changed and (run.seed != runs[number - 1].seed or run.files != matter.change_files):
        return undecided("pairs", "the two runs of a pair differ in more than the change")
    if not changed and run.files:
        return undecided("pairs", "an unchanged run had something in place")
    if not changed and run.passed(record.target):
        return undecided("flaky", f"pair {number // 2 + 1}: the unchanged target passes")
    ended = cut(record, run)
    if ended is not None:
        return ended
    if changed and not run.passed(record.target):
        said = f"pair {number // 2 + 1}: the target fails with the change, with which it passed before"
        return undecided("unsteady_target", said)
    if not changed and not run.failed(record.target, record.signature):
        return undecided("unstable_failure", f"pair {number // 2 + 1}: the unchanged target fails otherwise")
    return None


def unswayed(matter: Matter) -> Verdict | None:
    """Tests, fixtures and configuration were the same in every run."""
    if len({run.guards for run in matter.record.runs}) <= 1:
        return None
    return undecided("guards_changed", "tests, fixtures or configuration changed between runs")


def not_stopped(matter: Matter) -> Verdict | None:
    """It did not end early."""
    stage, _ = matter.record.stopped
    return not_done(matter, stage) if stage else None
