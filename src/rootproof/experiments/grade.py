"""How wide a change is, whether two places are one relation, and which grade a confirmed change has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from rootproof.experiments.change import MAX_EDITS, Change
from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import Owner, owners, text_of
from rootproof.experiments.words import new_words, only_deletes, reads_name, texts_in

NARROW_LINES, WIDE_LINES = 10, 20
WIDE_OWNERS = 4
Width = Literal["narrow", "wide", "too_wide"]


@dataclass(frozen=True)
class Shape:
    """What a change is made of and where."""

    width: Width
    owners: tuple[Owner, ...]
    lines: int
    related: bool = False
    """Two places that are one relation."""
    reason: str = ""
    """Why it is not narrow."""


def related(one: Owner, other: Owner, sources: Mapping[str, bytes], calls: Iterable[tuple[str, str]]) -> bool:
    """One relation: a constant and the function that reads it, or caller and callee in the trace."""
    edges = set(calls)
    if (one.key, other.key) in edges or (other.key, one.key) in edges:
        return True
    return any(
        not statement.is_function and statement.binds and _reads(reader, statement, sources)
        for statement, reader in ((one, other), (other, one))
    )


def _reads(reader: Owner, statement: Owner, sources: Mapping[str, bytes]) -> bool:
    tree = tree_of(_dedented(text_of(reader, sources)))
    return tree is not None and reads_name(tree, statement.binds)


def _dedented(text: str) -> bytes:
    import textwrap

    return textwrap.dedent(text).encode("utf-8", "surrogateescape")


def shape(
    change: Change, old: Mapping[str, bytes], new: Mapping[str, bytes], calls: Iterable[tuple[str, str]]
) -> Shape:
    """The width of a change by its edits, lines and places.

    Args:
        old: the changed files as they are; new: with the change.
        calls: (caller, callee) in the traces, as ``file::function``.
    """
    by_edit = owners(change, old, new)
    found = tuple(dict.fromkeys(owner for group in by_edit.values() for owner in group))
    places, lines = len(found), change.size
    if len(change.edits) > MAX_EDITS or lines > WIDE_LINES or places > WIDE_OWNERS:
        return Shape("too_wide", found, lines, reason=f"{len(change.edits)} edits, {lines} lines, {places} places")
    one_relation = places == 2 and (
        related(found[0], found[1], {**old}, calls)
        or related_new(found, new, calls)
        or bool(_shared_texts(change, old))
    )
    if lines > NARROW_LINES:
        return Shape("wide", found, lines, one_relation, f"{lines} lines are changed")
    if places > 2 or (places == 2 and not one_relation):
        return Shape("wide", found, lines, one_relation, f"{places} places that are not one relation")
    return Shape("narrow", found, lines, one_relation)


def related_new(found: tuple[Owner, ...], new: Mapping[str, bytes], calls: Iterable[tuple[str, str]]) -> bool:
    """The same on the changed files, for what is only there with the change (a new constant, import or function)."""
    after = [owner_in(owner, new) for owner in found]
    pairs = list(combinations([o for o in after if o is not None], 2))
    return any(related(a, b, new, calls) or _calls_new(a, b, new) for a, b in pairs)


def _calls_new(one: Owner, other: Owner, new: Mapping[str, bytes]) -> bool:
    for callee, caller in ((one, other), (other, one)):
        name = callee.name.rsplit(".", 1)[-1]
        tree = tree_of(_dedented(text_of(caller, new)))
        if callee.is_function and tree is not None and reads_name(tree, (name,)):
            return True
    return False


def owner_in(owner: Owner, sources: Mapping[str, bytes]) -> Owner | None:
    """The unit of the same name in other sources."""
    from rootproof.experiments.owners import all_owners

    tree = tree_of(sources.get(owner.file, b""))
    return next((o for o in all_owners(owner.file, tree) if o.name == owner.name), None) if tree else None


def _shared_texts(change: Change, old: Mapping[str, bytes]) -> frozenset[str]:
    """Keys that two edits of different places both bring in: producer and consumer set to one key."""
    sets = [_texts(edit.new) - _texts(edit.old) for edit in change.edits]
    shared: frozenset[str] = frozenset()
    for one, other in combinations(sets, 2):
        shared |= one & other
    return shared


def _texts(source: str) -> frozenset[str]:
    tree = tree_of(_dedented(source)) or tree_of(_dedented(source.rstrip() + "\n    pass\n"))
    return texts_in(tree) if tree else frozenset()


def change_exceptions(
    form: Shape, old: Mapping[str, bytes], new: Mapping[str, bytes], paired: Iterable[str]
) -> tuple[str, ...]:
    """The named exceptions about the change itself: ``wider``, ``free_form``, ``deleted_statement``."""
    found: list[str] = []
    spans = [tree for tree in (tree_of(_dedented(text)) for text in paired) if tree]
    if form.width == "wide":
        found.append(f"wider: {form.reason}")
    fresh: list[str] = []
    deletes = False
    for file, data in new.items():
        before, after = tree_of(old[file]), tree_of(data)
        if before is None or after is None:
            fresh.append(f"{file} cannot be compared by its syntax")
            continue
        fresh.extend(new_words(before, after, spans))
        deletes = deletes or only_deletes(before, after)
    if fresh:
        found.append(f"free_form: {', '.join(fresh[:4])}")
    if deletes:
        found.append("deleted_statement: nothing is put in its place")
    return tuple(found)


@dataclass(frozen=True)
class Grade:
    """A, B, or none with the reason."""

    letter: Literal["A", "B", ""]
    reason: str
    about_change: tuple[str, ...] = ()
    about_checks: tuple[str, ...] = ()


def grade(about_change: tuple[str, ...], about_checks: tuple[str, ...], level: str) -> Grade:
    """A needs no exception; B at most one about the change and at most one about a check."""
    if len(about_change) > 1 or len(about_checks) > 1:
        return Grade(
            "", "more than one exception: " + "; ".join((*about_change, *about_checks)), about_change, about_checks
        )
    reasons = [*about_change, *about_checks]
    if level != "contained":
        reasons.append(f"containment was {level}")
    if reasons:
        return Grade("B", "; ".join(reasons), about_change, about_checks)
    return Grade("A", "every check was made and the change is built from known parts")
