"""Operators on what was left out: a value thrown away, a step that a sibling takes, a default made anew.

What is put in is what the module says elsewhere, or an empty value; nothing is invented.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import (
    Rewrite,
    between,
    end_of,
    indent_of,
    replace,
    short,
    start_of,
    text_of,
)
from rootproof.experiments.operators.vocabulary import Scope
from rootproof.experiments.sources import FunctionNode, Module, Statement

IN_PLACE = frozenset(
    ("append", "extend", "insert", "add", "update", "remove", "discard", "clear", "sort", "reverse", "write", "close")
)
"""Methods that are called for what they do, so that nobody meant to keep what they give."""
STEPS = (ast.AugAssign, ast.Assign, ast.Expr)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
OPPOSITE: dict[type[ast.operator], str] = {ast.Add: "-=", ast.Sub: "+="}
MOST_STEPS = 8


def kept(module: Module, node: ast.stmt) -> Iterator[Rewrite]:
    """A call whose value is thrown away: kept under the name it was made from, or returned."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return
    call = node.value
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(call.func, ast.Attribute) and call.func.attr in IN_PLACE:
        return
    where, told = start_of(node), short(text_of(module, call))
    sources = [part for part in (receiver, *call.args) if isinstance(part, ast.Name | ast.Attribute)]
    for name in dict.fromkeys(text_of(module, part) for part in sources):
        if name not in ("self", "cls") and name.isascii() and "\n" not in name:
            yield Rewrite(where, where, f"{name} = ", "keep_value", f"keep {told} as {name}", 1.5)
    yield Rewrite(where, where, "return ", "keep_value", f"return {told}", 3)


def shifted(module: Module, node: ast.AST, parent: ast.AST) -> Iterator[Rewrite]:
    """One operand of a sum, product or comparison, or an end of a range, one more or less."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return
    ranged = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "range" and node in parent.args
    counted = isinstance(parent, ast.BinOp) and isinstance(
        parent.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod
    )
    text = text_of(module, node)
    if "\n" in text or not (ranged or counted or isinstance(parent, ast.Compare)):
        return
    for other, words in ((f"({text} - 1)", "less"), (f"({text} + 1)", "more")):
        yield replace(node, other, "off_by_one", f"one {words} than {short(text)}", 3.5)


def fresh_default(module: Module, node: ast.stmt) -> Iterator[Rewrite]:
    """A default that all calls share, made anew in each call."""
    if not isinstance(node, FunctionNode) or not node.body:
        return
    first = node.body[1 if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1 else 0]
    parameters = [*node.args.posonlyargs, *node.args.args]
    given = list(zip(parameters[len(parameters) - len(node.args.defaults) :], node.args.defaults, strict=True))
    given += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
    for parameter, default in given:
        if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call) and first.lineno > (default.end_lineno or 0):
            name, made = parameter.arg, text_of(module, default)
            gap, indent = between(module, end_of(default), start_of(first)), indent_of(module, first)
            text = f"None{gap}if {name} is None:\n{indent}    {name} = {made}\n{indent}"
            yield Rewrite(
                start_of(default), start_of(first), text, "fresh_default", f"a new {short(made)} in each call", 1.5
            )


def steps(module: Module, statement: Statement, node: ast.stmt, scope: Scope) -> Iterator[Rewrite]:
    """A step that a sibling function takes and this one does not, before the statement or at the end of its block."""
    row = module.lines[node.lineno - 1]
    indent = row[: node.col_offset]
    function = module.nodes.get(statement.function)
    if (
        indent.strip()
        or function is None
        or row.lstrip().startswith("elif")
        or isinstance(node, FunctionNode | ast.ClassDef)
    ):
        return
    last = not isinstance(node, ENDS) and not any(
        parent == module.parents.get(statement.first) and line > statement.first
        for line, parent in module.parents.items()
    )
    for text in _siblings_steps(module, statement.function, scope):
        where = (node.lineno, 0)
        yield Rewrite(where, where, f"{indent}{text}\n", "step", f"{short(text)} first, as a sibling does", 4)
        if last:
            at = end_of(node)
            yield Rewrite(at, at, f"\n{indent}{text}", "step", f"{short(text)} last, as a sibling does", 4)


def _siblings_steps(module: Module, own: str, scope: Scope) -> list[str]:
    """Simple statements of functions of the same class, or of the module, whose names this function has."""
    prefix = own.rpartition(".")[0]
    here = ast.unparse(module.nodes[own])
    known = {*scope.locals, "self", "cls"}
    siblings = [f for name, f in module.nodes.items() if name != own and name.rpartition(".")[0] == prefix]
    parts = [part for sibling in siblings for part in ast.walk(sibling) if isinstance(part, STEPS)]
    texts = [text for part in parts for text in _step_texts(part, known) if text not in here]
    return list(dict.fromkeys(texts))[:MOST_STEPS]


def _step_texts(node: ast.AugAssign | ast.Assign | ast.Expr, known: set[str]) -> Iterator[str]:
    """The statement, and with the opposite sign where it adds; only one that changes something beyond a local name."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    if any(not isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
        return
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - called
    text = ast.unparse(node)
    if not names or not names <= known or "\n" in text or len(text) > 80:
        return
    yield text
    if isinstance(node, ast.AugAssign) and type(node.op) in OPPOSITE:
        yield f"{ast.unparse(node.target)} {OPPOSITE[type(node.op)]} {ast.unparse(node.value)}"
