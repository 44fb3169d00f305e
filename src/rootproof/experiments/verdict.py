"""What follows from a confirmation: supported, refuted, masked or inconclusive, with grade, rule and reason. Pure.

The judgements are asked in the order of the protocol; the first that has something against the change decides. The
same functions steer the confirmation while it runs and judge its stored record afterwards, here or anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rootproof.experiments import controls, script_source, test_copies
from rootproof.experiments.change import Refused
from rootproof.experiments.executed import not_executed
from rootproof.experiments.grade import change_exceptions, grade
from rootproof.experiments.listed import listed
from rootproof.experiments.mask_reach import new_comparisons
from rootproof.experiments.masks import forbidden_files, tree_of
from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Confirmation, Run

FEW_NEIGHBOURS = 3
ANSWERS = ("supported", "refuted", "masked", "inconclusive")
Answer = Literal["supported", "refuted", "masked", "inconclusive"]


@dataclass(frozen=True)
class Verdict:
    """One word, and why."""

    answer: Answer
    rule: str
    """Stable name of the rule that decided."""
    reason: str
    grade: Literal["A", "B", ""] = ""


Judgement = Callable[[Matter], Verdict | None]


def judge(record: Confirmation, sources: Mapping[str, bytes]) -> Verdict:
    """The verdict over a whole record."""
    matter = Matter(record, sources)
    for judgement in PROTOCOL:
        verdict = judgement(matter)
        if verdict is not None:
            return verdict
    return graded(matter)


def _refuted(rule: str, reason: str) -> Verdict:
    return Verdict("refuted", rule, reason)


def _open(rule: str, reason: str) -> Verdict:
    return Verdict("inconclusive", rule, reason)


def same_sources(matter: Matter) -> Verdict | None:
    stranger = matter.strangers()
    return _open("stale", f"{stranger} is not what the record was made with") if stranger else None


def applies(matter: Matter) -> Verdict | None:
    forbidden = forbidden_files([e.file for e in matter.record.proposed], matter.record.tests)
    if forbidden:
        return Verdict("masked", forbidden[0].rule, str(forbidden[0]))
    changed = matter.changed(matter.record.proposed)
    if isinstance(changed, Refused):
        return _refuted("does_not_apply", changed.reason)
    unreadable = next((f for f in changed if f.endswith(".py") and tree_of(changed[f]) is None), "")
    return _refuted("unparseable", f"{unreadable} is no Python with the change") if unreadable else None


def reproduced(matter: Matter) -> Verdict | None:
    """The target fails alone and in file order with one signature; not for what containment may have caused."""
    record = matter.record
    runs = record.of("reproduce")
    if not runs:
        return _stopped(matter, "reproduce")
    outcomes = [run.outcome(record.target) for run in runs]
    if any(outcome is None for outcome in outcomes):
        return _open("not_reproduced", f"{record.target} gave no outcome: {runs[0].session} {runs[0].problem[:120]}")
    passed = [run for run in runs if run.passed(record.target)]
    alone = [run for run in runs if run.variant == "alone"]
    whole = [run for run in runs if run.variant == "file_order"]
    if len(passed) == len(runs):
        return _open("not_reproduced", "the target passes")
    if passed and (all(r in passed for r in alone) or all(r in passed for r in whole)):
        return _open("order_dependent", "the target's outcome follows which tests run before it")
    if passed:
        return _open("flaky", "the unchanged target both passes and fails under equal conditions")
    if not all(run.failed(record.target, record.signature) for run in runs):
        seen = sorted({o.signature or o.status for o in outcomes if o})
        return _open("unstable_failure", "the failure differs from run to run: " + " / ".join(seen)[:300])
    return None if alone and whole else _open("not_reproduced", "it was not run both alone and in file order")


def not_masked(matter: Matter) -> Verdict | None:
    """No rule is broken, by the change as proposed nor as reduced."""
    for edits in (matter.record.proposed, matter.record.reduced):
        found = matter.masks(edits, known=True) if edits else ()
        if found:
            return Verdict("masked", found[0].rule, str(found[0]))
    return None


def flipped(matter: Matter) -> Verdict | None:
    """The target passes with the proposed change, in a cold run."""
    record = matter.record
    runs = record.of("flip")
    if not runs:
        return _stopped(matter, "flip")
    run = runs[0]
    if run.files != matter.files_of(record.proposed):
        return _open("other_change", "the run had other bytes in place than the change")
    outcome = run.outcome(record.target)
    if run.passed(record.target):
        return None
    if outcome is None:
        return _refuted(
            "still_fails", f"the target gives no outcome with the change: {run.session} {run.problem[:120]}"
        )
    return _refuted("still_fails", f"with the change the target is {outcome.status}: {outcome.signature[:160]}")


def contained(matter: Matter) -> Verdict | None:
    """What containment may have refused happens in the passing run too, or it is no evidence of a cause."""
    record = matter.record
    before = {
        line for run in record.of("reproduce") for o in run.outcomes if o.test == record.target for line in o.blocked
    }
    after = {line for run in record.of("flip") for o in run.outcomes if o.test == record.target for line in o.blocked}
    missing = sorted(before - after)
    return _open("possibly_containment", f"containment may have caused the failure: {missing[0]}") if missing else None


def executed(matter: Matter) -> Verdict | None:
    if not matter.record.covered:
        return None
    if not matter.record.traces:
        return _stopped(matter, "trace")
    reason = not_executed(matter)
    return _open("not_executed", reason) if reason else None


def narrow_enough(matter: Matter) -> Verdict | None:
    if not matter.record.reduced:
        return _stopped(matter, "reduce")
    if matter.shape.width == "too_wide":
        return _open("too_wide", f"a cause this wide cannot be confirmed: {matter.shape.reason}")
    return None


def minimal(matter: Matter) -> Verdict | None:
    """Without any one edit the target or a neighbour fails."""
    edits = matter.record.reduced
    if len(edits) == 1:
        return None
    for edit in edits:
        files = matter.files_of([e for e in edits if e != edit])
        runs = [run for run in matter.record.of("reduce") if run.files == files]
        if not runs or any(_kept(matter, run) for run in runs):
            return _open("not_reduced", f"the edit at {edit.file}:{edit.first} was not shown to be needed")
    return None


def _kept(matter: Matter, run: Run) -> bool:
    return all(run.passed(test) for test in (matter.record.target, *lasting(matter.record)))


def lasting(record: Confirmation) -> tuple[str, ...]:
    """Neighbours that are neither dropped nor failing without the change."""
    gone = {test for test, _ in record.dropped}
    return tuple(test for test in record.neighbours if test not in gone)


def neighbours(matter: Matter) -> Verdict | None:
    """Every neighbour still passes; those that fail unchanged in the same order too do not count."""
    record = matter.record
    if not record.neighbours:
        return None
    before, after = record.of("neighbours", "unchanged"), record.of("neighbours", "changed")
    if not before or not after:
        return _stopped(matter, "neighbours")
    if after[-1].order != before[0].order or after[-1].seed != before[0].seed:
        return _open("neighbours", "the neighbours ran in another order or with another seed")
    if after[-1].files != matter.change_files:
        return _open("other_change", "the neighbours ran with other bytes in place than the change")
    kept = [test for test in lasting(record) if before[0].passed(test)]
    broken = [test for test in kept if not after[-1].passed(test)]
    if broken:
        return _refuted(
            "breaks_neighbours",
            f"with the change {len(broken)} of {len(kept)} neighbours fail ({', '.join(broken[:3])}): "
            "the change is wrong, or these tests and the target contradict each other",
        )
    return None


def paired(matter: Matter) -> Verdict | None:
    """k interleaved pairs: unchanged fails with the signature, changed passes, each pair under one seed of its own."""
    record = matter.record
    runs, k = record.of("pair"), controls.pairs_needed(record.tries)
    for number, run in enumerate(runs):
        wrong = _pair_fault(matter, run, number, runs)
        if wrong is not None:
            return wrong
    if len(runs) < 2 * k:
        return _stopped(matter, "pairs")
    seeds = [run.seed for run in runs[::2]]
    return None if len(set(seeds)) == len(seeds) else _open("pairs", "two pairs have one seed")


def _pair_fault(matter: Matter, run: Run, number: int, runs: tuple[Run, ...]) -> Verdict | None:
    record, changed = matter.record, number % 2 == 1
    wanted = "changed" if changed else "unchanged"
    if run.variant != wanted or (number and run.number <= runs[number - 1].number):
        return _open("pairs", "the pairs are not interleaved")
    if changed and (run.seed != runs[number - 1].seed or run.files != matter.change_files):
        return _open("pairs", "the two runs of a pair differ in more than the change")
    if not changed and run.files:
        return _open("pairs", "an unchanged run had something in place")
    if changed and not run.passed(record.target):
        return _refuted("pairs", f"pair {number // 2 + 1}: the target fails with the change")
    if not changed and run.passed(record.target):
        return _open("flaky", f"pair {number // 2 + 1}: the unchanged target passes")
    if not changed and not run.failed(record.target, record.signature):
        return _open("unstable_failure", f"pair {number // 2 + 1}: the unchanged target fails otherwise")
    return None


def inert(matter: Matter) -> Verdict | None:
    """An edit that alters bytes and nothing else must leave the failure as it is."""
    record = matter.record
    runs = record.of("inert")
    if not runs:
        return None if _unmade(record, "inert") else _stopped(matter, "inert")
    if all(run.failed(record.target, record.signature) and run.files for run in runs):
        return None
    return _open(
        "inert_control", "an edit that changes nothing changes the outcome: the test reacts to any edit, or to a cache"
    )


def placed(matter: Matter) -> Verdict | None:
    """A like change in another function must not help as cleanly."""
    record = matter.record
    own = set(matter.functions)
    for number, place in enumerate(record.places):
        runs = record.of("place", f"place:{number}")
        if not runs:
            return _stopped(matter, "place")
        if place.function in own or runs[0].files != matter.files_of(place.edits):
            return _open("place_control", f"the control at {place.function} is not what it should be")
        if (
            runs[0].passed(record.target)
            and not _place_breaks(matter, number)
            and not matter.masks(place.edits, known=True)
        ):
            return _open("ambiguous", f"a change in {place.function} makes the target pass as cleanly")
    return None


def _place_breaks(matter: Matter, number: int) -> bool:
    """Whether a neighbour of the other place fails there and not without it."""
    record = matter.record
    after = record.of("place_neighbours", f"place:{number}")
    before = record.of("place_neighbours", f"unchanged:{number}")
    tests = record.places[number].neighbours
    return bool(after and before) and any(before[0].passed(t) and not after[0].passed(t) for t in tests)


def asserted(matter: Matter) -> Verdict | None:
    """With the change in place the failing assertion still decides: turned round, it fails."""
    record = matter.record
    runs = record.of("assertion")
    if not runs:
        return None if _unmade(record, "assertion") else _stopped(matter, "assertion")
    copies = wanted_copies(matter)
    if not copies:
        return _open("assertion_control", "no copy of the test could be derived")
    for copy in copies:
        outcome = next((o for o in (run.outcome(copy.test) for run in runs) if o is not None), None)
        if outcome is None or outcome.status != "failed" or outcome.phase != "call":
            seen = outcome.status if outcome else "without an outcome"
            return _open(
                "assertion_control", f"with its assertion turned round the test is {seen}: it no longer checks anything"
            )
        if copy.marked and test_copies.MARK not in outcome.signature:
            return _open("assertion_control", f"the turned assertion was not reached: {outcome.signature[:120]}")
    return None


def wanted_copies(matter: Matter) -> tuple[test_copies.Copy, ...]:
    record = matter.record
    data = matter.sources.get(matter.test_file, b"")
    if script_source.is_script(matter.test_file):
        return _script_copies(matter, script_source.NEGATED)
    return test_copies.turned(record.target, data, record.failing[1], raised=not matter.at_assertion)


def renamed_copy(matter: Matter) -> test_copies.Copy | None:
    """The test under another name; None where no such copy can be made."""
    if script_source.is_script(matter.test_file):
        return next(iter(_script_copies(matter, script_source.RENAMED)), None)
    return test_copies.renamed(matter.record.target, matter.sources.get(matter.test_file, b""))


def _script_copies(matter: Matter, wanted: str) -> tuple[test_copies.Copy, ...]:
    data, line = matter.sources.get(matter.test_file, b""), matter.record.failing[1]
    made = script_source.copies(matter.record.target, data, line)
    return tuple(test_copies.Copy(edit, test, False) for name, edit, test in made if name == wanted)


def renamed(matter: Matter) -> Verdict | None:
    """The test passes under another name too: nothing looks at its name."""
    record = matter.record
    runs = record.of("renamed")
    if not runs:
        return None if _unmade(record, "renamed") else _stopped(matter, "renamed")
    copy = renamed_copy(matter)
    if copy is not None and runs[0].passed(copy.test):
        return None
    return _open("renamed_copy", "the test does not pass under another name")


def unswayed(matter: Matter) -> Verdict | None:
    """Tests, fixtures and configuration were the same in every run."""
    digests = {run.guards for run in matter.record.runs}
    return (
        None if len(digests) <= 1 else _open("guards_changed", "tests, fixtures or configuration changed between runs")
    )


def compared(matter: Matter) -> Verdict | None:
    """A new comparison method must be seen giving both outcomes."""
    for name in comparison_methods(matter):
        trace = matter.record.trace("changed")
        values = {v for key, given in (trace.returns if trace else ()) for v in given if key == name}
        if not {"True", "False"} <= values:
            return _open("one_sided_comparison", f"{name} was not seen giving both outcomes")
    return None


def comparison_methods(matter: Matter) -> tuple[str, ...]:
    """``file::Class.method`` of comparison methods that the change brings."""
    found: list[str] = []
    for path in matter.new:
        before, after = matter.tree(path), matter.tree(path, new=True)
        if before is not None and after is not None:
            found.extend(f"{path}::{name}" for name, _, _ in new_comparisons(before, after))
    return tuple(found)


def not_stopped(matter: Matter) -> Verdict | None:
    stage, reason = matter.record.stopped
    return _open("budget" if "left" in reason else "not_finished", f"{stage}: {reason}") if stage else None


PROTOCOL: tuple[Judgement, ...] = (
    same_sources, applies, reproduced, not_masked, flipped, contained, neighbours, narrow_enough, minimal, executed,
    paired, inert, placed, asserted, renamed, compared, unswayed, not_stopped,
)  # fmt: skip
"""The judgements in order; what none of them holds against is graded."""


def graded(matter: Matter) -> Verdict:
    """A, B, or no success after all for want of checks."""
    record = matter.record
    changes = list(change_exceptions(matter.shape, matter.old, matter.new, matter.paired_texts))
    if any(each.startswith("free_form") for each in changes) and listed(matter.edits, matter.old):
        changes = [each for each in changes if not each.startswith("free_form")]
    if comparison_methods(matter):
        changes.append("new_comparison: a comparison method is new")
    checks = list(check_exceptions(record))
    kept = (
        [t for t in lasting(record) if record.of("neighbours", "unchanged")[0].passed(t)] if record.neighbours else []
    )
    if not kept and record.covered and not record.earlier_assertions:
        return _open(
            "no_neighbours", "no other test runs the changed place, and no earlier assertion of the target did"
        )
    found = grade(tuple(changes), tuple(checks), record.level)
    if not found.letter:
        return _open("too_many_exceptions", found.reason)
    return Verdict("supported", "confirmed", found.reason, found.letter)


def check_exceptions(record: Confirmation) -> tuple[str, ...]:
    """Checks that were not made or are thin. What a missing trace takes away counts once."""
    found: list[str] = []
    runs = record.of("neighbours", "unchanged")
    kept = [test for test in lasting(record) if runs and runs[0].passed(test)]
    if not record.covered:
        found.append("no_coverage: this language has no trace here")
        return (*found, *(f"{check}: {why}" for check, why in record.unmade if check in ("assertion", "inert")))
    if len(kept) < FEW_NEIGHBOURS:
        found.append(f"few_neighbours: {len(kept)}")
    if not record.places:
        found.append("no_place: nothing else that the target runs has a branch or comparison to negate")
    found.extend(f"{check}: {why}" for check, why in record.unmade)
    return tuple(found)


def _unmade(record: Confirmation, check: str) -> bool:
    return any(name == check for name, _ in record.unmade)


def unfinished(record: Confirmation) -> Verdict:
    """What is said while the pairs are not all there yet."""
    return _stopped(Matter(record, {}), "pairs")


def _stopped(matter: Matter, stage: str) -> Verdict:
    where, reason = matter.record.stopped
    return _open("budget" if "left" in reason else "not_finished", f"{where or stage}: {reason or 'it was not done'}")
