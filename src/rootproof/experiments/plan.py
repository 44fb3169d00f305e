"""Which changes to try, in which order: suspects × operators, explored like a hyperbola.

The first suspects are tried with many operators and the last ones with few, so that neither a wrong ranking nor a
rare operator alone hides a cause. The kind of failure makes some operators cheaper. Order depends on trace and
sources alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.keys import key_edits
from rootproof.experiments.mutants import Mutant
from rootproof.experiments.neighbours import evenly
from rootproof.experiments.operators import Operators
from rootproof.experiments.sources import Sources, Statement
from rootproof.experiments.spectrum import Spectrum
from rootproof.experiments.suspects import Ranking, Suspect
from rootproof.experiments.trace import Failure, Trace

NEIGHBOURS = 40
"""Neighbours that a flip must keep in the engine; the cold protocol runs more."""
NEAREST = 24
"""Of these the first; the others are spread over all that are farther from the target."""
SUSPECTS = 120
A_SUSPECT = 160
FRESH = 3
"""A change that needs a fresh process costs as much as many others, so it waits longer."""


def costs_of(failure: Failure | None) -> dict[str, float]:
    """What the kind of failure makes likelier (below 1) or not (above 1), by operator."""
    if failure is None:
        return {}
    message, kind = failure.message, failure.exception
    costs: dict[str, float] = {}
    if kind == "AttributeError" or "NoneType" in message or "not subscriptable" in message or "not iterable" in message:
        costs.update(
            guard=0.4,
            guard_value=0.5,
            none_test=0.6,
            near_attribute=0.6,
            widen_isinstance=0.6,
            swap_class=0.6,
            added_clause=0.8,
        )
    if "DID NOT RAISE" in message:
        costs.update(delete=0.6, widen_isinstance=1.5, widen_except=2, guard=1.5, comparison=0.8)
    if "bytes" in message and "str" in message:
        costs.update(normalise=0.3)
    if kind == "TypeError":
        costs.update(wrap=0.6, swap_arguments=0.6, drop_argument=0.6, guard=0.7)
    if kind in ("IndexError", "KeyError"):
        costs.update(guard=0.5, guard_value=0.6, get=0.5, index=0.6, slice=0.6, number=0.8, string=0.6)
    if kind in ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"):
        costs.update(near_name=0.3, near_variable=0.3, near_attribute=0.5)
    if _one_apart(failure):
        costs.update(number=0.5, comparison=0.6, off_by_one=0.5, slice=0.6, index=0.6, augmented=0.7, delete=0.7)
    return costs


def _one_apart(failure: Failure) -> bool:
    try:
        return abs(float(failure.left or "") - float(failure.right or "")) == 1
    except ValueError:
        return False


def plan(trace: Trace, found: Spectrum, ranking: Ranking, sources: Sources, most: int) -> list[Mutant]:
    """At most ``most`` single-edit changes, the most promising first."""
    costs = costs_of(trace.failure)
    operators: dict[str, Operators] = {}
    near: dict[tuple[str, str], tuple[str, ...]] = {}
    rated: list[tuple[float, int, Mutant]] = []
    for place, suspect in enumerate(ranking.statements[:SUSPECTS]):
        for order, edit in enumerate(_edits(suspect, operators, sources, costs)):
            if (place + 3) * (order + 6) > 18 + 6 * most:
                break
            if suspect.key not in near:
                near[suspect.key] = neighbours_of(suspect, found)
            at_import = ran_at_import(trace, suspect)
            fresh = at_import or not _in_function(suspect, sources)
            weight = (suspect.rank + 3) * (order + 6) * (FRESH if fresh else 1)
            mutant = Mutant(Change((edit,)), f"{suspect.file}::{suspect.function}", near[suspect.key], at_import)
            rated.append((weight, len(rated), mutant))
    rated.sort(key=lambda entry: entry[:2])
    return [*_key_mutants(trace, found, ranking, sources), *(mutant for _, _, mutant in rated)][:most]


def _read_only(found: Spectrum, ranking: Ranking, sources: Sources) -> Iterator[Statement]:
    """Statements that the failing test does not run and reads: the data of modules and classes."""
    for suspect in ranking.statements[:SUSPECTS]:
        module = sources.module(suspect.file)
        statement = module.by_line.get(suspect.first) if module else None
        if statement is not None and statement.key not in found.failing:
            yield statement


def _key_mutants(trace: Trace, found: Spectrum, ranking: Ranking, sources: Sources) -> Iterator[Mutant]:
    """First of all the few changes that make two sides agree about a key."""
    ran = [*found.failing.values(), *_read_only(found, ranking, sources)]
    for statement, edit in key_edits(ran, sources):
        near = neighbours_of(statement, found)
        at_import = not trace.imported.get(statement.file, frozenset()).isdisjoint(statement.lines)
        yield Mutant(Change((edit,)), f"{statement.file}::{statement.function}", near, at_import)


def _edits(
    suspect: Suspect, operators: dict[str, Operators], sources: Sources, costs: dict[str, float]
) -> Iterator[Edit]:
    module = sources.module(suspect.file)
    statement = module.by_line.get(suspect.first) if module else None
    if module is None or statement is None or statement.kind == "ClassDef":
        return
    if suspect.file not in operators:
        operators[suspect.file] = Operators(module)
    yield from operators[suspect.file].edits(statement, costs)[:A_SUSPECT]


def _in_function(suspect: Suspect, sources: Sources) -> bool:
    module = sources.module(suspect.file)
    return bool(module and module.functions[suspect.function].is_function)


def neighbours_of(suspect: Suspect | Statement, found: Spectrum) -> tuple[str, ...]:
    """Passing tests that run the suspect's function; for code outside functions those nearest to the target."""
    keys = frozenset(k for k, s in found.ran.items() if (s.file, s.function) == (suspect.file, suspect.function))
    near = found.neighbours_of(keys) if keys else found.nearest()
    return (*near[:NEAREST], *evenly(near[NEAREST:], NEIGHBOURS - NEAREST))


def ran_at_import(trace: Trace, suspect: Suspect) -> bool:
    """Whether the suspect's own lines ran while the tests were collected."""
    return not trace.imported.get(suspect.file, frozenset()).isdisjoint(range(suspect.first, suspect.last + 1))
