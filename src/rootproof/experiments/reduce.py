"""Delta debugging: the least part of a change, or of a set, that still has the effect.

Algorithm: ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 28(2), 2002).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from rootproof.experiments.change import MAX_EDITS, Change, Edit, Refused, diff_hunks, same_tree, split_lines

T = TypeVar("T")
MAX_HUNKS = 32
MAX_LINE_TRIES = 8


def ddmin(items: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """A subset that holds and of which no single item can be left out. ``holds(items)`` must be true.

    ``holds`` is called once for each subset; it may give up by raising, which passes through.
    """
    known: dict[tuple[int, ...], bool] = {}

    def test(places: Sequence[int]) -> bool:
        wanted = tuple(places)
        if wanted not in known:
            known[wanted] = holds([items[i] for i in wanted])
        return known[wanted]

    kept, parts = list(range(len(items))), 2
    while len(kept) >= 2:
        size = max(len(kept) // parts, 1)
        chunks = [kept[start : start + size] for start in range(0, len(kept), size)]
        smaller = next((chunk for chunk in chunks if len(chunk) < len(kept) and test(chunk)), None)
        if smaller is not None:
            kept, parts = smaller, 2
            continue
        rests = ([i for i in kept if i not in chunk] for chunk in chunks)
        rest = next((r for r in rests if r and test(r)), None) if parts > 2 or len(kept) == 2 or size == 1 else None
        if rest is not None:
            kept, parts = rest, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(kept))
    return [items[i] for i in kept]


def hunks(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[Edit, ...] | Refused:
    """The edits of a change, one for each run of differing lines; those that alter no syntax are left out."""
    edits = [edit for file, data in after.items() for edit in diff_hunks(file, before[file], data)]
    needed = [edit for edit in edits if not _inert(edit, before)]
    if not needed:
        return Refused("the change alters nothing but layout and comments")
    if len(needed) > MAX_HUNKS:
        return Refused(f"{len(needed)} separate edits are more than can be reduced")
    return tuple(needed)


def _inert(edit: Edit, before: Mapping[str, bytes]) -> bool:
    changed = Change((edit,)).apply(before)
    if isinstance(changed, Refused) or not edit.file.endswith(".py"):
        return False
    return same_tree(before[edit.file], changed[edit.file])


def apply_all(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> dict[str, bytes] | Refused:
    """Apply any number of edits (a :class:`Change` has at most four)."""
    result: dict[str, bytes] = {}
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    for file, group in by_file.items():
        data = sources[file]
        for edit in sorted(group, key=lambda e: (e.first, e.last), reverse=True):
            changed = Change((edit,)).apply({file: data})
            if isinstance(changed, Refused):
                return changed
            data = changed[file]
        result[file] = data
    return result


def thinner(edits: Sequence[Edit], sources: Mapping[str, bytes]) -> Iterator[tuple[Edit, ...]]:
    """The same change with one added line less, for each line that can be left out and still parse."""
    for place, edit in enumerate(edits):
        lines = split_lines(edit.new)
        if len(lines) < 2:
            continue
        for number in range(len(lines)):
            less = Edit(
                edit.file, edit.first, edit.last, edit.old, "".join(lines[:number] + lines[number + 1 :]), edit.operator
            )
            changed = (*edits[:place], less, *edits[place + 1 :])
            applied = apply_all(changed, sources)
            if not isinstance(applied, Refused) and _parses(applied):
                yield changed


def _parses(files: Mapping[str, bytes]) -> bool:
    for file, data in files.items():
        if file.endswith(".py"):
            try:
                ast.parse(data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return False
    return True


def fits(edits: Sequence[Edit]) -> bool:
    """Whether the edits can be one change."""
    return 1 <= len(edits) <= MAX_EDITS
