"""Suspects once more, after a search: a change that turns the test green tells more than any count of runs.

As in mutation-based localisation (Metallaxis, Papadakis and Le Traon 2015; MUSE, Moon et al. 2014), with one
difference: here a flip is weighed by how many neighbours it kept, and code that no change of it affects sinks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rootproof.experiments.change import Change, Refused
from rootproof.experiments.combine import Tried
from rootproof.experiments.sources import Sources, Statement, parse
from rootproof.experiments.suspects import Ranking, fused

CLEAN = 2.0
"""For a statement with a clean flip that kept many neighbours; half of it with one neighbour, ``ALONE`` with none."""
ALONE = 0.2
MORE = 0.1
"""For each further clean flip of the statement, three at most."""
BROKEN = 0.15
"""For a flip that broke a neighbour; a third of it where it kept none before that one, more the more it kept."""
BORN = 0.5
"""Of what a clean flip gains, the part for the statements that gave its line the values it reads."""
PATCHED = 0.3
"""For the statement where a value patch shows the wrong value to be born."""
MOVED = 0.03
"""For changes that make the test fail otherwise."""
DEAF = 0.9
"""A statement with at least ``ENOUGH`` changes, none of which the failing test noticed, keeps so much of its score."""
ENOUGH = 6


@dataclass
class Heard:
    """What the changes of one statement did to the target."""

    tried: int = 0
    moved: int = 0
    clean: int = 0
    kept: int = 0
    broken: int = 0
    share: float = 0.0
    """Of the neighbours that a broken flip met, the largest part it kept."""
    note: str = ""
    hollow: bool = True
    """Whether every clean flip merely made a function give one constant."""


def heard(tried: Sequence[Tried], sources: Sources) -> dict[tuple[str, int], Heard]:
    """(file, first line of a statement) → what its changes did."""
    found: dict[tuple[str, int], Heard] = {}
    for each in tried:
        mutant, verdict = each.mutant, each.verdict
        for edit in mutant.change.edits:
            statement = sources.statement(edit.file, edit.first)
            entry = found.setdefault((edit.file, statement.first if statement else edit.first), Heard())
            entry.tried += verdict.status != "invalid"
            entry.moved += verdict.status != "invalid" and not verdict.same
            if verdict.status == "passed" and verdict.clean:
                entry.clean += 1
                entry.kept = max(entry.kept, verdict.kept)
                entry.note = entry.note or mutant.change.note
                entry.hollow = entry.hollow and gives_one_constant(mutant.change, sources)
            if verdict.status == "passed" and not verdict.clean:
                entry.broken += 1
                entry.share = max(entry.share, verdict.kept / (verdict.kept + len(verdict.broken) or 1))
    return found


def gives_one_constant(change: Change, sources: Sources) -> bool:
    """Whether all returns of an edited function are the same constant once the change is made."""
    edit = change.edits[0]
    changed = change.apply({file: sources.read(file) for file in change.files})
    module = None if isinstance(changed, Refused) else parse(edit.file, changed[edit.file])
    node = module.nodes.get(module.function_at(edit.first).name) if module else None
    returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)] if node else []
    return (
        bool(returned)
        and len({ast.dump(v) if isinstance(v, ast.Constant) else id(v) for v in returned}) == 1
        and (isinstance(returned[0], ast.Constant))
    )


def rerank(ranking: Ranking, tried: Sequence[Tried], sources: Sources, born: tuple[str, int] | None = None) -> Ranking:
    """The suspects as they were before anything was tried, moved by what all changes since then did.

    ``born`` is the statement where a value patch shows the wrong value to be born.
    """
    told = heard(tried, sources)
    places: dict[tuple[str, int], Statement] = {}
    scores: dict[tuple[str, int], float] = {}
    reasons: dict[tuple[str, int], str] = {}
    for suspect in ranking.statements:
        key = (suspect.file, suspect.first)
        places[key] = Statement(suspect.file, suspect.first, suspect.last, "", suspect.function)
        scores[key], reasons[key] = moved(suspect.score, suspect.reason, told.get(key))
    for key, line, gain in births(told, places, sources):
        scores[key] += gain
        reasons[key] = f"gives a value that is used at line {line}, where a change helps; {reasons[key]}"
    if born in scores:
        scores[born] += PATCHED
        reasons[born] = f"the wrong value is born here: set to what is expected, the test passes; {reasons[born]}"
    return fused(places, scores, reasons, sources)


def births(
    told: Mapping[tuple[str, int], Heard], places: Mapping[tuple[str, int], Statement], sources: Sources
) -> Iterator[tuple[tuple[str, int], int, float]]:
    """(statement, line it feeds, gain) for the last executed statements that gave a value to what a flip's line reads.

    A flip shows where a wrong value can be caught; where it is born lies up the chain of definition and use.
    """
    best: dict[tuple[str, int], tuple[float, int]] = {}
    for (file, line), heard_there in told.items():
        module = sources.module(file)
        node = module.statement_nodes.get(line) if module else None
        if module is None or node is None or not heard_there.clean or heard_there.hollow:
            continue
        function = module.function_at(line).name
        before = [p for p in places.values() if p.file == file and p.function == function and p.first < line]
        gain = BORN * CLEAN * heard_there.kept / (heard_there.kept + 1)
        for name in names_of(node, ast.Load):
            giving = [p for p in before if name in names_of(module.statement_nodes[p.first], ast.Store)]
            if giving:
                key = max(giving, key=lambda p: p.first).key
                best[key] = max(best.get(key, (0.0, 0)), (gain, line))
    for key, (gain, line) in best.items():
        if not (told.get(key) and told[key].clean):
            yield key, line, gain


def names_of(node: ast.stmt, context: type[ast.expr_context]) -> frozenset[str]:
    """Names that a statement's own lines, its block left out, read or bind."""
    parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt | ast.ExceptHandler)]
    inner = (name for part in parts for name in ast.walk(part) if isinstance(name, ast.Name))
    return frozenset(name.id for name in inner if isinstance(name.ctx, context))


def moved(score: float, reason: str, told: Heard | None) -> tuple[float, str]:
    """One statement's new score, and why."""
    if told is None:
        return score, reason
    if told.clean and told.hollow:
        return score + BROKEN, f"the test passes where the function always gives one constant; {reason}"
    if told.clean:
        gain = max(CLEAN * told.kept / (told.kept + 1), ALONE) + MORE * min(told.clean - 1, 3)
        return score + gain, f"{told.note}: the test passes then and {told.kept} neighbours still do; {reason}"
    if told.broken:
        gain = BROKEN * (1 + 2 * told.share) / 3
        return score + gain, f"a change here turns the test green but breaks a neighbour; {reason}"
    if told.moved:
        return score + MOVED, reason
    if told.tried >= ENOUGH:
        return score * DEAF, f"none of {told.tried} changes here made a difference; {reason}"
    return score, reason
