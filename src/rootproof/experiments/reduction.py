"""Reduction by cold runs: the least part of a proposed change under which the target and its neighbours pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from rootproof.experiments.baseline import Baseline
from rootproof.experiments.change import Edit, Refused
from rootproof.experiments.cold import Cold, Wanted
from rootproof.experiments.cut import cut
from rootproof.experiments.record import Confirmation, Run
from rootproof.experiments.reduce import MAX_LINE_TRIES, apply_all, ddmin, hunks, thinner


class Means(Protocol):
    """What reduction needs of a confirmation."""

    cold: Cold
    base: Baseline
    sources: dict[str, bytes]


class _Short(Exception):
    """The budget is used up; becomes ``stopped`` of the record."""


def reduced(means: Means, record: Confirmation, tests: Sequence[str]) -> tuple[Confirmation, tuple[Edit, ...]]:
    """The record with the runs this took, and the edits that are left."""
    changed = apply_all(record.proposed, means.sources)
    assert not isinstance(changed, Refused)
    edits = hunks({path: means.sources[path] for path in changed}, changed)
    if isinstance(edits, Refused):
        return replace(record, stopped=("reduce", edits.reason)), record.proposed
    runs: list[Run] = []

    def holds(chosen: Sequence[Edit]) -> bool:
        short = means.cold.meter.short(1, means.base.cold_seconds)
        if short:
            raise _Short(short)
        files = apply_all(chosen, means.sources)
        if isinstance(files, Refused):
            return False
        order = tuple(tests)
        run = means.cold.run(Wanted("reduce", "changed", order, order), files)
        runs.append(run)
        if not all(run.passed(test) for test in tests) and cut(record, run) is not None:
            raise _Short(f"a run was ended early ({run.cut})")
        return all(run.passed(test) for test in tests)

    try:
        kept = tuple(ddmin(edits, holds)) if len(edits) > 1 else tuple(edits)
        kept = _thinned(kept, means, holds)
    except _Short as short:
        return replace(record, runs=(*record.runs, *runs), stopped=("reduce", str(short))), ()
    return replace(record, runs=(*record.runs, *runs)), kept


def _thinned(edits: tuple[Edit, ...], means: Means, holds: object) -> tuple[Edit, ...]:
    """Leave out added lines that are not needed, one at a time."""
    assert callable(holds)
    left = MAX_LINE_TRIES
    again = True
    while again and left:
        again = False
        for less in thinner(edits, means.sources):
            if not left:
                break
            left -= 1
            if holds(less):
                edits, again = less, True
                break
    if len(edits) > 1:
        for edit in edits:
            holds([e for e in edits if e != edit])
    return edits
