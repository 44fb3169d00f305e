"""Methods that are not there: no test can execute what a class would need of its own.

Two signs: the failing statement uses an operator for which a class that ran has no method; or the class adds state to a
base whose ``__eq__`` ran in its stead and knows nothing of that state, which static analysers report as well (CodeQL's
``py/missing-equals``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from rootproof.experiments.reads import assigned_names, operator_methods
from rootproof.experiments.sources import FunctionNode, Module, Sources, Statement, first_line
from rootproof.experiments.spectrum import is_test_file
from rootproof.experiments.trace import Trace

COMPARED = ("__eq__", "__lt__", "__contains__", "__hash__")
GENERIC = frozenset(("__dict__", "__slots__", "vars", "asdict", "astuple", "fields"))
"""Names by which a method reads whatever state there is."""
MADE = frozenset(("dataclass", "define", "frozen", "mutable", "attrs", "s"))
"""Decorators that write a class's methods."""


@dataclass(frozen=True)
class Lacking:
    """A class that lacks a method."""

    places: tuple[Statement, ...]
    """Where it may stand among the suspects, the first that no other has: the end of the class, then its header."""
    reason: str
    instead: tuple[str, str] | None = None
    """(file, function) of the inherited method that ran instead and leaves out what the class adds."""


@dataclass(frozen=True, eq=False)
class _Class:
    module: Module
    node: ast.ClassDef

    @property
    def methods(self) -> list[FunctionNode]:
        return [part for part in self.node.body if isinstance(part, FunctionNode)]

    @property
    def state(self) -> frozenset[str]:
        """Attributes of ``self`` that its methods bind."""
        return frozenset(
            part.attr
            for method in self.methods
            for part in ast.walk(method)
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and _name(part.value) == "self"
        )

    @property
    def places(self) -> tuple[Statement, Statement]:
        """Its last line and its header."""
        first, last = first_line(self.node), self.node.end_lineno or self.node.lineno
        name = next((f.name for f in self.module.functions.values() if (f.first, f.last) == (first, last)), "")
        end, head = (Statement(self.module.file, line, line, "ClassDef", name) for line in (last, first))
        return end, head

    def has(self, method: str) -> bool:
        named = (getattr(part, "name", "") for part in self.node.body)
        return method in named or any(method in assigned_names(part) for part in self.node.body)


def missing_methods(trace: Trace, sources: Sources) -> list[Lacking]:
    """Classes whose code ran in the target and that lack a method it needs; each once, by the surer sign."""
    classes = list(_classes(trace, sources))
    wanted = _wanted(trace, sources)
    ran = (each for each in classes if _ran(trace, each.module.file, each.node))
    found = (_outgrown(each, classes, trace) or _without(each, wanted) for each in ran)
    return [each for each in found if each]


def _classes(trace: Trace, sources: Sources) -> Iterator[_Class]:
    for file in dict.fromkeys((*trace.lines, *trace.imported)):
        module = None if is_test_file(file) else sources.module(file)
        if module is None:
            continue
        for statement in module.statements:
            node = module.statement_nodes.get(statement.first)
            if isinstance(node, ast.ClassDef):
                yield _Class(module, node)


def _ran(trace: Trace, file: str, node: ast.ClassDef | FunctionNode) -> bool:
    return not trace.lines.get(file, frozenset()).isdisjoint(range(node.body[0].lineno, (node.end_lineno or 0) + 1))


def _wanted(trace: Trace, sources: Sources) -> set[str]:
    """Methods behind the operators of the failing statement."""
    wanted: set[str] = set()
    for file, line, *_ in trace.failure.frames if trace.failure else ():
        statement = sources.statement(file, line) if is_test_file(file) else None
        module = sources.module(file)
        node = module.statement_nodes.get(statement.first) if module and statement else None
        wanted.update(m for part in ast.walk(node) for m in operator_methods(part)) if node else None
    return wanted


def _without(one: _Class, wanted: set[str]) -> Lacking | None:
    """The class, where it has no method for an operator of the failing statement."""
    lacking = sorted(method for method in wanted if method in COMPARED and not one.has(method))
    if not lacking:
        return None
    why = f"class {one.node.name} has no {lacking[0]} of its own, and the failing statement uses it"
    return Lacking(one.places[:1], why)


def _outgrown(one: _Class, classes: list[_Class], trace: Trace) -> Lacking | None:
    """The class, where an inherited ``__eq__`` ran that leaves out the state the class adds."""
    if one.has("__eq__") or any(_name(part) in MADE for d in one.node.decorator_list for part in ast.walk(d)):
        return None
    above = _ancestors(one, classes)
    owner = next((each for each in above if each.has("__eq__")), None)
    method = next((m for m in owner.methods if m.name == "__eq__"), None) if owner else None
    added = one.state.difference(*(each.state for each in above))
    if owner is None or method is None or not added or not _ran(trace, owner.module.file, method):
        return None
    if not {_name(part) for part in ast.walk(method)}.isdisjoint(GENERIC | added):
        return None
    name = owner.module.function_at(method.body[0].lineno).name
    words = f"class {one.node.name} adds {', '.join(sorted(added)[:3])} and has no __eq__ of its own"
    return Lacking(one.places, f"{words}: {name} does not compare that", (owner.module.file, name))


def _ancestors(one: _Class, classes: list[_Class]) -> list[_Class]:
    """The project's classes above one, nearest first, by name; those of its own file before others of the name."""
    found: list[_Class] = []
    waiting = [one]
    while waiting:
        at = waiting.pop(0)
        for base in at.node.bases:
            named = [each for each in classes if each.node.name == _name(base) and each not in found and each != one]
            named.sort(key=lambda each: each.module.file != at.module.file)
            found += named[:1]
            waiting += named[:1]
    return found


def _name(node: ast.AST) -> str:
    """The last word of a name or attribute; empty for all else."""
    return str(getattr(node, "attr", getattr(node, "id", "")))
