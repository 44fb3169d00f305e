"""Operators on whole statements: deleted, exchanged with the next, another augmented assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import Rewrite, end_of, indent_of, replace, short, start_of, text_of
from rootproof.experiments.sources import FunctionNode, Module

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
    text = text_of(module, following) + "\n" + indent_of(module, node) + text_of(module, node)
    note = f"{short(text_of(module, following), 25)} before {short(text_of(module, node), 25)}"
    yield Rewrite(start_of(node), end_of(following), text, "exchange", note, 3.5)


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
