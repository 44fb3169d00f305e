"""Which tests must go on passing: those that execute the changed place, nearest to the target by coverage first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import Owner
from rootproof.experiments.readers import body_lines, functions_reading
from rootproof.experiments.trace import Lines, Run

T = TypeVar("T")
NEAREST = 60
MOST = 300
"""With those beyond the nearest, as far as ``SECONDS`` hold them."""
SECONDS = 5.0
"""CPU seconds of the neighbours beyond the nearest, together, as traced."""


@dataclass(frozen=True)
class Spectrum:
    """Lines of every traced test, and of the target."""

    target: str
    runs: tuple[Run, ...]
    ran: Lines
    """Lines of the target."""


def places_to_watch(owners: Iterable[Owner], sources: Mapping[str, bytes]) -> dict[str, frozenset[int]]:
    """Lines whose execution makes a test a neighbour.

    For a function its body; for a statement outside functions the bodies of the functions that read its names.
    Functions that only the change brings have none here: they are looked up in a changed run.
    """
    found: dict[str, set[int]] = {}
    for owner in owners:
        units = [owner] if owner.is_function else list(functions_reading(owner.binds, sources))
        for unit in units:
            tree = tree_of(sources.get(unit.file, b""))
            if tree is not None and not unit.new:
                found.setdefault(unit.file, set()).update(body_lines(unit, tree))
    return {file: frozenset(lines) for file, lines in found.items()}


def neighbours(spectrum: Spectrum, watched: Mapping[str, frozenset[int]]) -> tuple[str, ...]:
    """Tests other than the target that passed and run a watched line: the nearest, then of the others what time holds.

    The others are taken evenly from near to far. Tests that fail as the target does, or nearly, are much alike and the
    nearest of all; what a change breaks elsewhere shows in tests that are like it least.
    """
    near: list[tuple[float, str, float]] = []
    for run in spectrum.runs:
        touches = any(not lines.isdisjoint(run.lines.get(file, ())) for file, lines in watched.items())
        if run.test != spectrum.target and run.status == "passed" and touches:
            near.append((-likeness(run.lines, spectrum.ran), run.test, run.cpu))
    near.sort()
    found = [test for _, test, _ in near[:NEAREST]]
    spent = 0.0
    for _, test, cpu in evenly(near[NEAREST:], MOST - NEAREST):
        spent += cpu
        if spent > SECONDS:
            break
        found.append(test)
    return tuple(found)


def evenly(rows: Sequence[T], most: int) -> Iterator[T]:
    """At most ``most`` rows spread over all of them, in such an order that every beginning is spread as well."""
    picked = [rows[number * len(rows) // most] for number in range(most)] if len(rows) > most else list(rows)
    yield from (picked[number] for number in sorted(range(len(picked)), key=_turned))


def _turned(number: int) -> int:
    """The bits of a number from the other end (van der Corput): its order jumps to where the widest gap is."""
    return int(f"{number:016b}"[::-1], 2)


def likeness(one: Lines, other: Lines) -> float:
    """Jaccard index of two sets of lines: 1 for equal ones, 0 for none in common."""
    left = {(file, line) for file, lines in one.items() for line in lines}
    right = {(file, line) for file, lines in other.items() for line in lines}
    return len(left & right) / len(left | right) if left or right else 0.0
