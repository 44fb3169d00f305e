"""Changes of several edits, made from what single ones did: half of all fixes need more than one hunk.

Two ways, both inside one function:

* one slip made several times: the very same rewrite at every statement where it was possible (four at most);
* two halves: an edit that made the test fail otherwise, or pass at a neighbour's cost, beside another edit.

Order and content depend on what was heard alone. A combination is tried like any other change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rootproof.experiments.change import MAX_EDITS, Change, Edit
from rootproof.experiments.mutants import Mutant, Verdict

HALVES = 24
"""Edits of one function that are paired at most."""


@dataclass(frozen=True)
class Tried:
    """One single-edit change and what it did."""

    mutant: Mutant
    verdict: Verdict

    @property
    def edit(self) -> Edit:
        return self.mutant.change.edits[0]

    @property
    def moved(self) -> bool:
        """The test failed otherwise, or passed and a neighbour broke: a half of something, perhaps."""
        verdict = self.verdict
        return (verdict.status == "passed" and not verdict.clean) or (
            verdict.status in ("failed", "error") and not verdict.same
        )


def combined(tried: Sequence[Tried], most: int) -> list[Mutant]:
    """At most ``most`` changes of several edits, the most promising first, none of them twice."""
    groups: dict[str, list[Tried]] = defaultdict(list)
    for each in tried:
        if len(each.mutant.change.edits) == 1 and each.verdict.status not in ("invalid", "unswappable"):
            groups[each.mutant.function].append(each)
    found: dict[str, Mutant] = {}
    rated = [pair for group in groups.values() for pair in (*_everywhere(group), *_halves(group))]
    for _, mutant in sorted(rated, key=lambda pair: pair[0]):
        found.setdefault(mutant.change.digest, mutant)
    return list(found.values())[:most]


def _everywhere(group: Sequence[Tried]) -> Iterator[tuple[int, Mutant]]:
    """The same rewrite at every place of the function that it was tried at."""
    alike: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    for each in group:
        alike[each.edit.operator, each.edit.note].append(each)
    for same in alike.values():
        edits = _apart([each.edit for each in same])
        if 2 <= len(edits) <= MAX_EDITS:
            yield len(edits), _made(same[0], edits)


def _halves(group: Sequence[Tried]) -> Iterator[tuple[int, Mutant]]:
    """Pairs with at least one edit that did something, those that did first."""
    ordered = sorted(group, key=lambda each: not each.moved)[:HALVES]
    for (i, one), (j, other) in combinations(enumerate(ordered), 2):
        edits = _apart([one.edit, other.edit])
        if one.moved and len(edits) == 2:
            yield i + j + (0 if other.moved else HALVES // 2), _made(one, edits)


def _made(first: Tried, edits: Sequence[Edit]) -> Mutant:
    mutant = first.mutant
    return Mutant(Change(tuple(edits)), mutant.function, mutant.neighbours, mutant.at_import)


def _apart(edits: Sequence[Edit]) -> list[Edit]:
    """The edits that touch none before them; two insertions at one place touch."""
    kept: list[Edit] = []
    for edit in sorted(edits):
        before = kept[-1] if kept else None
        if before is None or before.file != edit.file or edit.first > max(before.last, before.first):
            kept.append(edit)
    return kept
