"""A rewrite: one span of a statement's text replaced by other text, before it becomes an edit of whole lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from rootproof.experiments.change import Edit, decoded, encoded, leading
from rootproof.experiments.sources import Module

Position = tuple[int, int]
"""(line from 1, column in UTF-8 bytes from 0), as the syntax tree counts."""


@dataclass(frozen=True)
class Rewrite:
    """What an operator proposes."""

    start: Position
    end: Position
    text: str
    operator: str
    note: str
    cost: float = 1.0
    """Lower is tried sooner: how seldom such a change is what a person would do."""


def start_of(node: ast.AST) -> Position:
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> Position:
    return getattr(node, "end_lineno", None) or 1, getattr(node, "end_col_offset", None) or 0


def between(module: Module, start: Position, end: Position) -> str:
    """Source text from ``start`` up to ``end``."""
    rows = [encoded(line) for line in module.lines[start[0] - 1 : end[0]]]
    if not rows:
        return ""
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    return decoded(b"".join(rows))


def text_of(module: Module, node: ast.AST) -> str:
    return between(module, start_of(node), end_of(node))


def indent_of(module: Module, node: ast.stmt) -> str:
    """The blanks and tabs that the statement's line begins with."""
    return leading(module.lines[node.lineno - 1])


def as_edit(module: Module, rewrite: Rewrite) -> Edit:
    """The rewrite as an edit of whole lines."""
    (first, left), (last, right) = rewrite.start, rewrite.end
    head = decoded(encoded(module.lines[first - 1])[:left])
    tail = decoded(encoded(module.lines[last - 1])[right:])
    old = "".join(module.lines[first - 1 : last])
    return Edit(module.file, first, last, old, head + rewrite.text + tail, rewrite.operator, rewrite.note)


def replace(node: ast.AST, text: str, operator: str, note: str, cost: float = 1.0) -> Rewrite:
    return Rewrite(start_of(node), end_of(node), text, operator, note, cost)


def grouped(module: Module, node: ast.AST) -> str:
    """A node's text, in parentheses where it could fall apart inside another expression."""
    text = text_of(module, node)
    loose = (
        ast.BoolOp,
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.IfExp,
        ast.Lambda,
        ast.NamedExpr,
        ast.Await,
        ast.Yield,
    )
    return f"({text})" if isinstance(node, loose) else text


def short(text: str, most: int = 40) -> str:
    """Text for a note: one line, bounded."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def header_nodes(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(node, parent) of every expression in a statement itself; statements inside it are left out."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(child, statement) for child in _expressions(statement)]
    while waiting:
        node, parent = waiting.pop(0)
        yield node, parent
        waiting += [(child, node) for child in _expressions(node)]


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        return  # positions inside f-strings are not to be relied on before Python 3.12
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case | ast.expr_context):
            yield child
