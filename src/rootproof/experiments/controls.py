"""What the controls put in place, and how many runs a confirmation needs. Pure: texts in, changes out.

* inert: bytes differ, the syntax tree does not; a test that reacts to it reacts to any edit.
* place: the same kind of change elsewhere; where that helps too, the place of the cause is not known.
* copies of the test: with the failing assertion turned round (must fail), and under another name (must pass).
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Container, Iterable, Iterator, Mapping

from rootproof.experiments.change import Change, Edit, Refused, decoded, leading, same_tree, split_lines
from rootproof.experiments.listed import ANY, elsewhere, operator_of
from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import Owner, all_owners

MAX_PLACES = 3
PAIRS_AGAIN = 7
"""Further pairs in which a neighbour that broke must break each time: chance alone does so in all eight pairs at most
once in 65,536 times, whatever its rate. One that fails without the change too does not count; else nothing is shown."""
AGAIN = 3
"""Further runs of one that would end a change's case: only what is so in each of them, under other seeds, ends it."""
FIXED_RUNS = 15
"""Of a confirmation, beside its pairs: reproduction, traces, the flip, reduction, neighbours and controls."""


def pairs_needed(tries: int) -> int:
    """k = max(5, 3 + ⌈log2 N⌉) where N is the number of all changes tried for the target in this run.

    One flip and two repeats would confirm a flake of one half almost surely after 300 tries.
    """
    return max(5, 3 + math.ceil(math.log2(max(tries, 1))))


def runs_needed(tries: int) -> int:
    """Runs that one confirmation takes: 2k + 15."""
    return 2 * pairs_needed(tries) + FIXED_RUNS


def inert(change: Change, sources: Mapping[str, bytes]) -> Change | None:
    """An edit at the first span of the change that alters bytes and nothing else; None if none can be made."""
    first = change.edits[0]
    lines = split_lines(decoded(sources[first.file]))
    for edit in _inert_edits(first, lines):
        changed = Change((edit,)).apply(sources)
        if not isinstance(changed, Refused) and _is_inert(first.file, sources[first.file], changed[first.file]):
            return Change((edit,))
    return None


def _inert_edits(at: Edit, lines: list[str]) -> Iterator[Edit]:
    """A comment above the span, then a blank line, then white space at a line's end; the same further up."""
    for line in range(min(at.first, len(lines) + 1), 0, -1):
        shown = lines[line - 1] if line <= len(lines) else ""
        if at.file.endswith(".py"):
            yield Edit(at.file, line, line - 1, "", f"{leading(shown)}# nothing is changed here\n", "inert")
        yield Edit(at.file, line, line - 1, "", "\n", "inert")
        if shown.strip():
            yield Edit(at.file, line, line, shown, shown.rstrip("\r\n") + "  \n", "inert")


def _is_inert(file: str, old: bytes, new: bytes) -> bool:
    return old != new and (not file.endswith(".py") or same_tree(old, new))


def places(
    change: Change,
    ran: Mapping[str, Iterable[int]],
    sources: Mapping[str, bytes],
    own: Iterable[str],
) -> list[tuple[str, Change]]:
    """Up to three (function, change) elsewhere, one a function: the same operator, else a negation, else any operator.

    Args:
        ran: lines the target executed, by file; tests left out.
        own: ``file::function`` of the subject, which are no other place.
    """
    skipped = set(own)
    found = [each for name in _operators(change, sources) for each in elsewhere(name, ran, sources, skipped)]
    found = found or list(_negations(ran, sources, skipped)) or list(elsewhere(ANY, ran, sources, skipped))
    return _drawn(found, change)


def stand_in(change: Change, place: Change, sources: Mapping[str, bytes]) -> bool:
    """Whether a place was changed by neither the change's operator nor a negation: a control of less weight."""
    operators = _operators(change, sources)
    for edit in place.edits:
        lines = {edit.file: range(edit.first, edit.last + 1)}
        negations = {made.digest for _, made in _negations(lines, sources, ())}
        if Change((edit,)).digest not in negations and operator_of(edit, sources.get(edit.file, b"")) not in operators:
            return True
    return False


def _operators(change: Change, sources: Mapping[str, bytes]) -> tuple[str, ...]:
    found = (operator_of(edit, sources.get(edit.file, b"")) for edit in change.edits)
    return tuple(dict.fromkeys(name for name in found if name))


def _drawn(found: list[tuple[str, Change]], change: Change) -> list[tuple[str, Change]]:
    """Three of them, drawn by the change's digest: nobody who proposes a change chooses its controls."""
    random.Random(int(change.digest[:16], 16)).shuffle(found)
    chosen: dict[str, Change] = {}
    for function, each in found:
        chosen.setdefault(function, each)
    return list(chosen.items())[:MAX_PLACES]


def _negations(
    ran: Mapping[str, Iterable[int]], sources: Mapping[str, bytes], skipped: Container[str]
) -> Iterator[tuple[str, Change]]:
    """(function, change) for each condition and comparison on the lines."""
    for file in sorted(ran):
        tree = tree_of(sources.get(file, b""))
        lines = frozenset(ran[file])
        for owner in all_owners(file, tree) if tree is not None else ():
            if tree is not None and owner.is_function and owner.key not in skipped:
                yield from ((owner.key, made) for made in _negated_in(owner, tree, lines, sources[file]))


def _negated_in(owner: Owner, tree: ast.Module, lines: frozenset[int], data: bytes) -> Iterator[Change]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if not owner.first <= line <= owner.last or line not in lines:
            continue
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            edit = negated(owner.file, node.test, data)
        elif isinstance(node, ast.Compare):
            edit = negated(owner.file, node, data)
        else:
            continue
        if edit is not None:
            yield Change((edit,))


def negated(file: str, node: ast.expr, data: bytes) -> Edit | None:
    """The edit that puts ``not (...)`` round an expression; None where that would not parse."""
    if node.end_lineno is None or node.end_col_offset is None:
        return None
    lines = split_lines(decoded(data))
    first, last = node.lineno, node.end_lineno
    old = "".join(lines[first - 1 : last])
    start = len(
        lines[first - 1].encode("utf-8", "surrogateescape")[: node.col_offset].decode("utf-8", "surrogateescape")
    )
    tail = lines[last - 1].encode("utf-8", "surrogateescape")[node.end_col_offset :].decode("utf-8", "surrogateescape")
    inner = old[start : len(old) - len(tail)]
    edit = Edit(file, first, last, old, f"{old[:start]}(not ({inner})){tail}", "negate")
    changed = Change((edit,)).apply({file: data})
    return None if isinstance(changed, Refused) or tree_of(changed[file]) is None else edit
