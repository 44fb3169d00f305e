"""Operators on whole statements: deleted, guarded, exchanged with the next, another augmented assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import Rewrite, end_of, replace, short, start_of, text_of
from rootproof.experiments.operators.vocabulary import Scope
from rootproof.experiments.sources import FunctionNode, Module, Statement

AUGMENTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+=", "-="),
    ast.Sub: ("-=", "+="),
    ast.Mult: ("*=", "/="),
    ast.BitOr: ("|=", "&="),
    ast.BitAnd: ("&=", "|="),
}
SIMPLE = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Delete,
    ast.Raise,
    ast.Assert,
    ast.Continue,
    ast.Break,
)


def deletion(module: Module, node: ast.stmt) -> Iterator[Rewrite]:
    """The statement left out. A compound one goes with its block; an ``else`` goes alone."""
    note = f"leave out {short(text_of(module, node))}"
    if isinstance(node, SIMPLE):
        yield replace(node, "pass", "delete", note, 3)
    elif isinstance(node, ast.If | ast.For | ast.While) and not node.orelse and len(node.body) <= 6:
        yield replace(node, "pass", "delete", note, 4)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield replace(node, "pass", "delete", note, 5)


def augmented(module: Module, node: ast.stmt) -> Iterator[Rewrite]:
    """Another augmented assignment, or a plain one."""
    if isinstance(node, ast.AugAssign) and type(node.op) in AUGMENTED:
        target, value = text_of(module, node.target), text_of(module, node.value)
        own, other = AUGMENTED[type(node.op)]
        yield replace(node, f"{target} {other} {value}", "augmented", f"{other} instead of {own}", 2)
        yield replace(node, f"{target} = {value}", "augmented", f"= instead of {own}", 2.5)


def exchange(module: Module, node: ast.stmt, following: ast.stmt | None) -> Iterator[Rewrite]:
    """Two simple statements in the other order."""
    if following is None or not isinstance(node, SIMPLE) or not isinstance(following, SIMPLE):
        return
    if following.lineno != (node.end_lineno or 0) + 1 or following.col_offset != node.col_offset:
        return
    text = text_of(module, following) + "\n" + " " * node.col_offset + text_of(module, node)
    note = f"{short(text_of(module, following), 25)} before {short(text_of(module, node), 25)}"
    yield Rewrite(start_of(node), end_of(following), text, "exchange", note, 3.5)


def guard(module: Module, statement: Statement, node: ast.stmt, scope: Scope) -> Iterator[Rewrite]:
    """Leave before this statement where a name that it uses is None, or empty."""
    row = module.lines[node.lineno - 1]
    if row[: node.col_offset].strip() or not module.functions[statement.function].is_function:
        return
    if (at := module.parents.get(statement.first, 0)) and module.lines[statement.first - 1].lstrip().startswith("elif"):
        return
    indent = row[: node.col_offset]
    looped = isinstance(module.statement_nodes.get(at), ast.For | ast.While)
    ways = ["continue"] if looped else []
    ways += _returns(module, statement)
    where = (node.lineno, 0)
    for subject in _subjects(node, scope)[:4]:
        for way in ways:
            for test in (f"{subject} is None", f"not {subject}"):
                text = f"{indent}if {test}:\n{indent}    {way}\n"
                yield Rewrite(where, where, text, "guard", f"{way} where {test}", 3)


def _subjects(node: ast.stmt, scope: Scope) -> list[str]:
    """Names whose attribute, item or length the statement's header takes; then other names of the function in it."""
    strong: list[str] = []
    weak: list[str] = []
    header = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
    for part in (inner for child in header for inner in ast.walk(child)):
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.value, ast.Name | ast.Attribute):
            strong.append(ast.unparse(part.value))
        elif isinstance(part, ast.Name) and part.id in scope.locals and isinstance(part.ctx, ast.Load):
            weak.append(part.id)
    found = dict.fromkeys([*strong, *weak])
    return [name for name in found if name not in ("self", "cls") and len(name) < 40]


def _returns(module: Module, statement: Statement) -> list[str]:
    """Ways out that the function already has, and a bare one."""
    node = module.nodes.get(statement.function)
    ways = ["return"]
    for part in ast.walk(node) if isinstance(node, FunctionNode) else ():
        if isinstance(part, ast.Return) and part.value is not None and len(text := ast.unparse(part)) < 50:
            ways.append(text)
    ways += [f"return {a.arg}" for a in (node.args.args if node else []) if a.arg not in ("self", "cls")][:2]
    return list(dict.fromkeys(ways))[:4]


def defaults(module: Module, node: ast.stmt) -> Iterator[Rewrite]:
    """Defaults of parameters: booleans flipped, None for the empty, numbers one off."""
    if not isinstance(node, FunctionNode):
        return
    for default in (*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]):
        if not isinstance(default, ast.Constant):
            continue
        if isinstance(default.value, bool):
            yield replace(default, str(not default.value), "default", f"default {not default.value}", 2)
        elif default.value is None:
            yield replace(default, "False", "default", "default False", 4)
