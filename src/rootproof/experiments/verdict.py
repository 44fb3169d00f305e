"""What follows from a confirmation: supported, refuted, masked or inconclusive, with grade, rule and reason. Pure.

The judgements are asked in the order of the protocol; the first that has something against the change decides. The
same functions steer the confirmation while it runs and judge its stored record afterwards, here or anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

from rootproof.experiments import controls
from rootproof.experiments.change import Change
from rootproof.experiments.conclusion import Judgement, Verdict, counted, undecided
from rootproof.experiments.control_judgements import asserted, compared, comparison_methods, inert, placed, renamed
from rootproof.experiments.grade import change_exceptions, grade
from rootproof.experiments.judgements import (
    applies,
    contained,
    executed,
    flipped,
    minimal,
    narrow_enough,
    neighbours,
    not_masked,
    not_stopped,
    paired,
    reproduced,
    same_sources,
    unswayed,
)  # fmt: skip
from rootproof.experiments.listed import listed
from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Confirmation

FEW_NEIGHBOURS = 3


def judge(record: Confirmation, sources: Mapping[str, bytes]) -> Verdict:
    """The verdict over a whole record."""
    matter = Matter(record, sources)
    for judgement in PROTOCOL:
        verdict = judgement(matter)
        if verdict is not None:
            return verdict
    return graded(matter)


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
    kept = counted(record)
    cut = "neighbours_cut" if record.neighbours_cut else ""
    # All of them passed when they were chosen: one that does not count now had another outcome without any change.
    unsteady = "unsteady_neighbours" if len(kept) < len(record.neighbours) else ""
    if not kept and record.covered and not record.earlier_assertions:
        lacking = "no other test runs the changed place, and no earlier assertion of the target did"
        return undecided(
            cut or unsteady or "no_neighbours", f"{lacking}{', as far as the look for them came' if cut else ''}"
        )
    found = grade(tuple(changes), tuple(checks), record.level)
    if not found.letter:
        return undecided(cut or unsteady or "too_many_exceptions", found.reason)
    if found.letter == "A" and _only_stand_ins(matter):
        return Verdict("supported", "confirmed", "stand_in: no place has an operator like the change's", "B")
    return Verdict("supported", "confirmed", found.reason, found.letter)


def _only_stand_ins(matter: Matter) -> bool:
    """Whether each place control was another kind of change than the one it stands beside."""
    record = matter.record
    return all(controls.stand_in(record.change, Change(place.edits), matter.sources) for place in record.places)


def check_exceptions(record: Confirmation) -> tuple[str, ...]:
    """Checks that were not made or are thin. What a missing trace takes away counts once."""
    found: list[str] = []
    kept = counted(record)
    if not record.covered:
        found.append("no_coverage: this language has no trace here")
        return (*found, *(f"{check}: {why}" for check, why in record.unmade if check in ("assertion", "inert")))
    if record.neighbours_cut:
        found.append("neighbours_cut: the look for tests that run what is changed did not come to its end")
    elif len(kept) < FEW_NEIGHBOURS:
        found.append(f"few_neighbours: {len(kept)} other passing tests run what is changed, {FEW_NEIGHBOURS} are asked")
    elif record.witnesses == 0:
        found.append(
            "no_witness: no passing test runs the changed statement itself, so any other effect would do there"
        )
    if not record.places:
        found.append("no_place: nothing else that the target runs could be changed to see whether that helps too")
    found.extend(f"{check}: {why}" for check, why in record.unmade)
    return tuple(found)
