"""Causes that are not in the code: the order of tests, the environment, chance. Cold runs, and nothing else.

* ``order``: with a set of predecessors the target fails, without it passes; the set is reduced by delta debugging.
* ``environment``: one variable, locale, zone or hash seed changed and everything else equal.
* ``flaky``: both outcomes under one tree and equal conditions, with counts and an interval for the rate.

What is written down is what was seen; what follows from it is said by ``condition_judgements`` from the same record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rootproof.contract import file_of
from rootproof.experiments.cold import Cold, Wanted
from rootproof.experiments.controls import pairs_needed
from rootproof.experiments.record import Run, read_back
from rootproof.experiments.reduce import ddmin

FORM = "rootproof/condition/1"
FLAKY_RUNS = 12
SEEDS = 8
"""Hash seeds that are looked at for one of either outcome."""
SEED = "PYTHONHASHSEED"
Kind = Literal["order", "environment", "flaky"]
KINDS: tuple[Kind, ...] = ("order", "environment", "flaky")


@dataclass(frozen=True)
class Condition:
    """One examination of a target under two conditions."""

    target: str
    kind: str
    tree: str
    form: str = FORM
    level: str = "none"
    """Containment of the runs."""
    tries: int = 1
    predecessors: tuple[str, ...] = ()
    """For ``order``: the reduced set, in the order it runs."""
    variable: tuple[str, str] = ("", "")
    """For ``environment``: name and value of the one thing that differs."""
    against: str = ""
    """Its value in the other run of a pair; empty: not set."""
    files: tuple[tuple[str, str], ...] = ()
    """(path, SHA-256) of the target's file and its fixtures' files."""
    runs: tuple[Run, ...] = ()
    stopped: str = ""

    def of(self, stage: str) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.stage == stage)


def from_data(data: bytes) -> Condition:
    """Read a record back.

    Raises:
        ValueError: it is none, or a part of it has another shape.
    """
    return read_back(Condition, FORM, data)


class _Short(Exception):
    """The budget is used up; becomes ``stopped`` of the record."""


@dataclass
class _Runs:
    """Cold runs of one examination, each paid for first."""

    cold: Cold
    state: Condition

    def run(self, wanted: Wanted) -> Run:
        dearest = max((run.seconds for run in self.state.runs), default=0.0)
        short = self.cold.meter.short(1, dearest)
        if short:
            raise _Short(short)
        run = self.cold.run(wanted)
        self.state = replace(self.state, runs=(*self.state.runs, run))
        return run

    def failed(self, run: Run) -> bool:
        outcome = run.outcome(self.state.target)
        return outcome is not None and outcome.failed


def examine(cold: Cold, begun: Condition, reach: str = "file") -> Condition:
    """Carry one examination out, as far as the budget holds.

    Args:
        begun: target, kind and condition; no runs yet.
        reach: for ``order`` whether the tests of the target's ``file`` or of the whole ``suite`` may be what matters.

    Raises:
        ContainmentUnavailable: a run could not be started.
    """
    runs = _Runs(cold, begun)
    try:
        if begun.kind == "flaky":
            _flaky(runs)
        elif begun.kind == "order":
            _order(runs, reach)
        elif begun.variable[0] == SEED:
            _seeds(runs)
        else:
            _environment(runs)
    except _Short as short:
        runs.state = replace(runs.state, stopped=str(short))
    return runs.state


def _flaky(runs: _Runs) -> None:
    """Again and again under equal conditions."""
    for _ in range(FLAKY_RUNS):
        runs.run(Wanted("repeat", "unchanged", (runs.state.target,), seed=0))


def _order(runs: _Runs, reach: str) -> None:
    """Reduce the tests that run before the target to those that make it fail, then pair with and without them."""
    target = runs.state.target
    before = runs.state.predecessors or _before(runs, reach)

    def fails(chosen: Sequence[str]) -> bool:
        return runs.failed(runs.run(_ordered("reduce", "with", (*chosen, target), target)))

    if not before or not fails(before):
        return
    runs.state = replace(runs.state, predecessors=tuple(ddmin(before, fails)))
    _pairs(
        runs,
        _ordered("pair", "with", (*runs.state.predecessors, target), target),
        Wanted("pair", "without", (target,), (target,)),
    )


def _before(runs: _Runs, reach: str) -> tuple[str, ...]:
    """The tests that run before the target in the runner's own order; none where it does not fail there."""
    file = (file_of(runs.state.target),)
    run = runs.run(Wanted("look", "with", file if reach == "file" else runs.cold.site.test_files))
    if not runs.failed(run):
        return ()
    names = [outcome.test for outcome in run.outcomes]
    return tuple(names[: names.index(runs.state.target)])


def _seeds(runs: _Runs) -> None:
    """Find a hash seed of either outcome, unless both are named, then pair them."""
    target, (name, value), against = runs.state.target, runs.state.variable, runs.state.against
    if not (value and against):
        seen: dict[bool, str] = {}
        for seed in range(SEEDS):
            run = runs.run(Wanted("look", "seed", (target,), seed=seed))
            if run.passed(target) or runs.failed(run):
                seen.setdefault(runs.failed(run), str(seed))
            if len(seen) == 2:
                break
        else:
            return
        value, against = seen[True], seen[False]
    runs.state = replace(runs.state, variable=(name, value), against=against)
    _pairs(
        runs,
        Wanted("pair", "with", (target,), seed=int(value)),
        Wanted("pair", "without", (target,), seed=int(against)),
        fixed_seeds=True,
    )


def _environment(runs: _Runs) -> None:
    """Pair the target with one variable set and without it, or with another value."""
    target, variable, against = runs.state.target, runs.state.variable, runs.state.against
    other = ((variable[0], against),) if against else ()
    _pairs(
        runs,
        Wanted("pair", "with", (target,), environment=(variable,)),
        Wanted("pair", "without", (target,), environment=other),
    )


def _pairs(runs: _Runs, one: Wanted, other: Wanted, *, fixed_seeds: bool = False) -> None:
    """k interleaved pairs, each under one seed of its own; no more once two runs of a pair have one outcome."""
    target = runs.state.target
    for number in range(pairs_needed(runs.state.tries)):
        seed = number + 1
        first = runs.run(one if fixed_seeds else replace(one, seed=seed))
        second = runs.run(other if fixed_seeds else replace(other, seed=seed))
        if first.passed(target) == second.passed(target):
            return


def _ordered(stage: str, variant: str, tests: tuple[str, ...], target: str) -> Wanted:
    return Wanted(stage, variant, tests, tests, told=(target,))
