"""Size budgets and forbidden names. The exceptions below may only get fewer and smaller."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .house import Module, modules

FILE, FUNCTION, BRANCHES, NESTING, PARAMETERS = 300, 50, 10, 3, 5
CONTROLLER = 120

_WALK = "one walk over a tree, kept in one place so that what it enters and what it leaves out is read together"

EXCEPTIONS: dict[tuple[str, str], tuple[int, str]] = {
    ("experiments.baseline:_assertions_before", "nesting"): (4, _WALK),
    ("experiments.mutants:mutants_command", "parameters"): (6, "one command made of six things that have no noun"),
    ("experiments.readers:keys", "nesting"): (4, _WALK),
    ("experiments.reads:data_suspects", "nesting"): (4, _WALK),
    ("experiments.sources:blocks", "nesting"): (4, _WALK),
    ("investigations.root_cause.terms:terms", "parameters"): (6, "a contract has these six choices and no more"),
    ("sandbox.copy:copy_tree", "nesting"): (4, _WALK),
    ("sandbox.identity:_readable_for_all", "nesting"): (4, _WALK),
    ("sandbox.survey:survey", "nesting"): (4, _WALK),
    ("sandbox.watch:FolderSize._size", "nesting"): (4, _WALK),
}
"""(place, budget) → (the most it may have, why). A place is a module or ``module:function``."""

FORBIDDEN = {"utils", "util", "helpers", "helper", "misc", "common", "base", "manager", "handler", "handlers"}

_BRANCHING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def measured() -> Iterator[tuple[str, str, int, int]]:
    """(place, budget, found, allowed) for every file and function."""
    for module in modules():
        name = module.name or "__init__"
        yield name, "lines of a file", module.text.count("\n"), CONTROLLER if name == "controller" else FILE
        for label, function in functions(module):
            place = f"{name}:{label}"
            yield place, "lines of a function", (function.end_lineno or 0) - function.lineno + 1, FUNCTION
            yield place, "branches", branches(function), BRANCHES
            yield place, "nesting", nesting(function.body), NESTING
            if not _is_command(name, function.name):
                yield place, "parameters", parameters(function), PARAMETERS


def _is_command(module: str, function: str) -> bool:
    """A command's parameters are its flags, which typer reads from them."""
    return module.startswith("apps.cli.") and module.split(".")[-1] == function


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    def walk(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for inner in ast.iter_child_nodes(node):
            named = isinstance(inner, (*_FUNCTIONS, ast.ClassDef))
            below = (*path, inner.name) if named else path  # type: ignore[attr-defined]
            if isinstance(inner, _FUNCTIONS):
                yield ".".join(below), inner
            yield from walk(inner, below)

    yield from walk(module.tree, ())


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it, which are measured on their own."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, _FUNCTIONS))


def branches(function: Function) -> int:
    return sum(isinstance(node, _BRANCHING) for node in _own_nodes(function))


def nesting(body: list[ast.stmt]) -> int:
    """Deepest block within block; ``elif`` goes no deeper than its ``if``."""
    deepest = 0
    for node in body:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            deepest = max(deepest, nesting(node.body))
        if not isinstance(node, _BLOCKS):
            continue
        deepest = max(deepest, 1 + max(map(nesting, _bodies(node)), default=0))
        if isinstance(node, ast.If) and _is_elif(node):
            deepest = max(deepest, nesting(node.orelse))
    return deepest


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    parts = [getattr(node, "body", []), getattr(node, "finalbody", [])]
    if not (isinstance(node, ast.If) and _is_elif(node)):
        parts.append(getattr(node, "orelse", []))
    return [*parts, *(handler.body for handler in getattr(node, "handlers", []))]


def parameters(function: Function) -> int:
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_everything_is_within_its_budget() -> None:
    over = []
    for place, budget, found, allowed in measured():
        most = EXCEPTIONS.get((place, budget), (allowed, ""))[0]
        if found > most:
            over.append(f"{place}: {found} {budget}, allowed are {most}")
    assert not over, "\n".join(over)


def test_exceptions_are_needed_exact_and_reasoned() -> None:
    found = {(place, budget): (number, allowed) for place, budget, number, allowed in measured()}
    for key, (most, why) in EXCEPTIONS.items():
        assert key in found, f"{key} is gone: remove its exception"
        number, allowed = found[key]
        assert number > allowed, f"{key} is within its budget now: remove its exception"
        assert number == most, f"{key} has {number} now: lower its exception to that"
        assert len(why) > 20, f"{key} needs a reason"


def _problems(found: Iterator[str]) -> None:
    problems = list(found)
    assert not problems, "\n".join(problems)


def test_a_module_is_a_noun_of_the_glossary() -> None:
    _problems(
        f"{module.shown}: {part!r} says nothing"
        for module in modules()
        for part in module.name.split(".")
        if FORBIDDEN & set(part.split("_"))
    )


def test_every_module_says_what_it_is() -> None:
    _problems(f"{module.shown} has no docstring" for module in modules() if not ast.get_docstring(module.tree))


def test_nothing_is_left_to_do() -> None:
    left = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\braise NotImplementedError\b")
    _problems(f"{module.shown}: {found.group()}" for module in modules() if (found := left.search(module.text)))
