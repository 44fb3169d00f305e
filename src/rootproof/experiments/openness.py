"""Which changes may explain the target as well, because nothing has shown that they do not. Pure.

A rule that names what is wrong with a change ends its case. A budget, a limit, a busy machine, what containment may
have refused or a target that gives no steady outcome does not: such a change stays open, and another conclusion cannot
stand beside it.
"""

from __future__ import annotations

from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.cut import any_cut
from rootproof.experiments.matter import Matter
from rootproof.experiments.owners import rough_owners
from rootproof.experiments.reduce import MAX_LINE_TRIES

ENDED = (
    "assertion_control",
    "no_neighbours",
    "not_executed",
    "one_sided_comparison",
    "renamed_copy",
    "too_many_exceptions",
    "too_wide",
)
"""Rules that leave a change without any grade, for what it is."""


def is_open(matter: Matter, verdict: Verdict) -> bool:
    """Whether the change may still be a cause: its case did not come to an end."""
    if verdict.answer != "inconclusive":
        return False
    record = matter.record
    if verdict.rule == "too_wide" and len(record.of("reduce")) >= MAX_LINE_TRIES:
        return True  # the tries to make it smaller may have run out
    return verdict.rule not in ENDED or any_cut(record)


def open_in(matter: Matter, verdict: Verdict) -> tuple[str, ...]:
    """``file::function`` of each place of an open change; its files where no place can be named."""
    if not is_open(matter, verdict):
        return ()
    edits = [edit for edit in matter.edits if edit.file in matter.sources]
    named = matter.functions or tuple(owner.key for owner in rough_owners(edits, matter.sources))
    return tuple(sorted(set(named))) or tuple(sorted({edit.file for edit in matter.edits}))
