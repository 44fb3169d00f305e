"""Which tests must go on passing: those that execute the changed place, nearest to the target by coverage first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import Owner
from rootproof.experiments.readers import body_lines, functions_reading
from rootproof.experiments.trace import Lines, Run

MOST = 60


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


def neighbours(spectrum: Spectrum, watched: Mapping[str, frozenset[int]], most: int = MOST) -> tuple[str, ...]:
    """Tests other than the target that passed and run a watched line, nearest first."""
    near: list[tuple[float, str]] = []
    for run in spectrum.runs:
        touches = any(not lines.isdisjoint(run.lines.get(file, ())) for file, lines in watched.items())
        if run.test != spectrum.target and run.status == "passed" and touches:
            near.append((-likeness(run.lines, spectrum.ran), run.test))
    return tuple(test for _, test in sorted(near)[:most])


def likeness(one: Lines, other: Lines) -> float:
    """Jaccard index of two sets of lines: 1 for equal ones, 0 for none in common."""
    left = {(file, line) for file, lines in one.items() for line in lines}
    right = {(file, line) for file, lines in other.items() for line in lines}
    return len(left & right) / len(left | right) if left or right else 0.0
