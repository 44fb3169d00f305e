"""Suspects and changes as a tool tells them: bounded rows, best first. Observations of where to look, nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from rootproof.canonical import Json
from rootproof.experiments.change import Change, Refused
from rootproof.experiments.mutants import Flip, Search
from rootproof.experiments.owners import owners
from rootproof.experiments.sources import Sources
from rootproof.experiments.suspects import Suspect
from rootproof.text import one_line, visible

SHOWN = 12


def suspect_rows(suspects: Sequence[Suspect]) -> list[dict[str, Json]]:
    """The first suspects, whole."""
    return [
        {
            "path": suspect.file,
            "function": suspect.function,
            "first": suspect.first,
            "last": suspect.last,
            "rank": suspect.rank,
            "why": one_line(suspect.reason, 120),
        }
        for suspect in suspects[:SHOWN]
    ]


def suspect_words(suspects: Sequence[Suspect]) -> str:
    """The first suspects, a line each."""
    rows = [f"{s.rank:g}. {s.file}:{s.first} {s.function} — {s.reason[:120]}" for s in suspects[:SHOWN]]
    return visible("\n".join(rows) or "the failing test executes nothing of the project")


def chosen(search: Search) -> list[Flip]:
    """The flips that are told, best first. No place with a clean flip is left out for more flips of another one."""
    wanted = [id(flip) for flip in (*_first_open(search), *search.best)]
    told = list(dict.fromkeys(wanted))[:SHOWN]
    return [flip for flip in search.best if id(flip) in told]


def left_out(search: Search) -> int:
    """How many functions have a flip that may stand against a conclusion, and none of theirs is told."""
    may = {flip.function for flip in search.flips if flip.unfinished or (flip.clean and flip.kept)}
    return len(may - {flip.function for flip in chosen(search)})


def _first_open(search: Search) -> list[Flip]:
    """The best flip of each function that has one which broke no neighbour, as far as is known."""
    first: dict[str, Flip] = {}
    for flip in search.best:
        if flip.clean or flip.unfinished:
            first.setdefault(flip.function, flip)
    return list(first.values())


def places(change: Change, sources: Sources) -> list[str]:
    """``file::function`` of each place a change lies in, as a confirmation names them."""
    old = {file: sources.read(file) for file in change.files}
    new = change.apply(old)
    if isinstance(new, Refused):
        return []
    return sorted({owner.key for group in owners(change, old, new).values() for owner in group})


def flip_row(flip: Flip, sources: Sources) -> dict[str, object]:
    """A change with which the test passed, as edits that can be asked for.

    Kept short, for several must fit into a view: ``places`` is there only where it is not the function alone, and
    ``unfinished`` only where some neighbour's outcome is not known.
    """
    row: dict[str, object] = {
        "edits": [
            {"path": edit.file, "start": edit.first, "end": edit.last, "text": edit.new} for edit in flip.change.edits
        ],
        "function": flip.function,
        "operator": "+".join(dict.fromkeys(edit.operator for edit in flip.change.edits)),
        "clean": flip.clean,
        "kept": flip.kept,
        "broken": len(flip.broken),
        "note": one_line(flip.change.note, 80),
    }
    where = places(flip.change, sources)
    if where not in ([], [flip.function]):
        row["places"] = where
    if flip.unfinished:
        row["unfinished"] = True
    return row


def flip_words(flip: Flip) -> str:
    """The same in a line."""
    said = f"{flip.kept} neighbours kept" if flip.clean else f"{len(flip.broken)} neighbours broken"
    if flip.unfinished:
        said = f"{flip.kept} neighbours kept, not all of them known"
    return visible(f"{flip.function}: {flip.change.note[:120]}: {said}")
