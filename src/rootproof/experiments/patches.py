"""Value patches: where a wrong value is born. One value is set to what the test expects, at one statement, in one run.

Each statement of the failing run that binds or returns a value is given the expected operand wherever it has the wrong
one. Where the test passes then, the wrong value went through that statement; of all these the first in the chain of
definition and use is where it came from. A patch plants the expected value, so it locates and never confirms anything.

In the manner of value replacement (Jeffrey, Gupta and Gupta, ISSTA 2008), with the failed comparison's values alone.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rootproof.experiments.change import Change
from rootproof.experiments.mutants import Mutant, Verdict
from rootproof.experiments.operators.rewrite import as_edit, replace, text_of
from rootproof.experiments.sources import Module, Sources, Statement
from rootproof.experiments.spectrum import Spectrum
from rootproof.experiments.suspects import Ranking
from rootproof.experiments.trace import Trace

OPERATOR = "value patch"
MOST = 40
CPU_SECONDS = 10.0
"""All patches together may cost about so much of the test's own run time."""
OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
}
Key = tuple[str, int]


@dataclass(frozen=True)
class Patch:
    """One statement, patched."""

    key: Key
    mutant: Mutant


def patches(trace: Trace, found: Spectrum, ranking: Ranking, sources: Sources) -> list[Patch]:
    """The patches worth a run, most suspect statements first; none where the failure compares no two plain values."""
    most = min(MOST, int(CPU_SECONDS / max(trace.cpu, 0.01)))
    made: list[Patch] = []
    ways = directions(trace)
    for suspect in ranking.statements:
        statement = found.failing.get((suspect.file, suspect.first))
        module = sources.module(suspect.file)
        if statement is None or module is None:
            continue
        for wrong, right in ways:
            change = patched(module, statement, wrong, right)
            if change is not None and len(made) < most:
                mutant = Mutant(change, f"{suspect.file}::{suspect.function}", live_only=True)
                made.append(Patch(statement.key, mutant))
    return made


def directions(trace: Trace) -> list[tuple[str, str]]:
    """(wrong, right) as text: the operands of the failed comparison, the one that the code returned being wrong."""
    failure = trace.failure
    if failure is None or not _plain(failure.left) or not _plain(failure.right) or failure.left == failure.right:
        return []
    left, right = str(failure.left), str(failure.right)
    returned = {text for kept in trace.story.returns.values() for _, text, _ in kept}
    ways = [(left, right), (right, left)]
    known = [way for way in ways if way[0] in returned]
    return known or ways


def _plain(text: str | None) -> bool:
    """Whether a ``repr`` reads back as the value it tells."""
    try:
        ast.literal_eval(text or "")
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False
    return True


def patched(module: Module, statement: Statement, wrong: str, right: str) -> Change | None:
    """The statement with the right value wherever it has the wrong one; None where it binds and returns nothing."""
    node = module.statement_nodes.get(statement.first)
    note = f"{wrong} → {right} here"
    if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign) and node.value is not None:
        value = replace(node.value, _given(text_of(module, node.value), wrong, right), OPERATOR, note)
        return Change((as_edit(module, value),))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and type(node.op) in OPERATORS:
        name, sign = node.target.id, OPERATORS[type(node.op)]
        sum_of = f"{name} {sign} ({text_of(module, node.value)})"
        whole = replace(node, f"{name} = {_given(sum_of, wrong, right)}", OPERATOR, note)
        return Change((as_edit(module, whole),))
    return None


def _given(text: str, wrong: str, right: str) -> str:
    same = "type(now) is type(wrong) and now == wrong"
    return f"(lambda now, wrong={wrong}: {right} if {same} else now)(({text}))"


def born(made: Iterable[Patch], verdicts: Mapping[int, Verdict], trace: Trace, sources: Sources) -> Key | None:
    """The statement where the wrong value is born: the test passes with the patch there, and with none before it.

    A statement that calls the one where another patch works only hands the value on; of those left the first to run is
    taken.
    """
    works = {each.key for number, each in enumerate(made) if _passes(verdicts.get(number))}
    edges = _calls(trace, sources)
    first = [key for key in works if not _below(key, edges, sources) & (works - {key})]
    times = {(file, line): seen[0] for (file, line), seen in trace.story.lines.items()}
    return min(first or works, key=lambda key: (times.get(key, 1 << 60), key), default=None)


def _passes(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "passed"


Edges = Mapping[Key, Collection[tuple[str, str]]]


def _calls(trace: Trace, sources: Sources) -> Edges:
    """(file, first line of a statement) → functions that were called from it."""
    edges: dict[Key, set[tuple[str, str]]] = {}
    for caller, line, file, first, name in trace.story.calls:
        module, statement = sources.module(file), sources.statement(caller, line)
        called = module.code_name(first, name) if module else None
        if called and statement:
            edges.setdefault(statement.key, set()).add((file, called))
    return edges


def _below(key: Key, edges: Edges, sources: Sources) -> set[Key]:
    """Statements of all functions that run, directly or not, while this statement does."""
    seen: set[tuple[str, str]] = set()
    waiting = list(edges.get(key, ()))
    keys: set[Key] = set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for statement in _of(function, sources):
            keys.add(statement.key)
            waiting.extend(edges.get(statement.key, ()))
    return keys


def _of(function: tuple[str, str], sources: Sources) -> Iterator[Statement]:
    file, name = function
    module = sources.module(file)
    yield from (s for s in module.statements if s.function == name) if module else ()
