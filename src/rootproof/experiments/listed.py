"""Is a change what a listed operator makes? And the same operator elsewhere, for the place control. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rootproof.experiments.change import Change, Edit, Refused
from rootproof.experiments.operators import Operators
from rootproof.experiments.sources import Module, Statement, parse

DELETES = "delete"
ANY = "*"
MOST_PLACES = 60
"""Statements looked at for a place control; the choice among them is by the change's digest."""


def operator_of(edit: Edit, data: bytes) -> str:
    """The listed operator that makes just this edit; empty where none does."""
    module = parse(edit.file, data)
    if module is None:
        return ""
    wanted = _tree(edit, data)
    for line in range(edit.first, max(edit.last, edit.first) + 1):
        statement = module.by_line.get(line)
        if statement is None:
            continue
        for made in Operators(module).edits(statement):
            if wanted and _tree(made, data) == wanted:
                return made.operator
    return ""


def listed(edits: Sequence[Edit], sources: Mapping[str, bytes]) -> tuple[str, ...]:
    """The operator of each edit; empty as a whole where one of them is of no listed operator."""
    found = tuple(operator_of(edit, sources.get(edit.file, b"")) for edit in edits)
    return found if all(found) else ()


def _tree(edit: Edit, data: bytes) -> str:
    changed = Change((edit,)).apply({edit.file: data})
    if isinstance(changed, Refused):
        return ""
    try:
        return ast.dump(ast.parse(changed[edit.file]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def elsewhere(
    operator: str, ran: Mapping[str, Iterable[int]], sources: Mapping[str, bytes], own: Iterable[str]
) -> Iterator[tuple[str, Change]]:
    """(function, change) of one operator at executed statements of other functions; ``ANY``: of all but deletion."""
    skipped, looked = set(own), 0
    for file in sorted(ran):
        module = parse(file, sources.get(file, b""))
        for statement in _executed(module, frozenset(ran[file])) if module else ():
            key = f"{file}::{statement.function}"
            function = module.functions[statement.function] if module else None
            if key in skipped or function is None or not function.is_function or looked >= MOST_PLACES:
                continue
            looked += 1
            made = Operators(module).edits(statement) if module else []
            found = [
                edit for edit in made if edit.operator == operator or (operator == ANY and edit.operator != DELETES)
            ]
            if found:
                yield key, Change((found[0],))


def _executed(module: Module, lines: frozenset[int]) -> Iterator[Statement]:
    return (s for s in module.statements if not lines.isdisjoint(s.lines))
