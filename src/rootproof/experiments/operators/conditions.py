"""Operators on decisions: comparisons, boolean expressions, tests for truth and for None, isinstance, except."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import (
    Rewrite,
    between,
    end_of,
    grouped,
    replace,
    short,
    start_of,
    text_of,
)
from rootproof.experiments.operators.vocabulary import Scope, Vocabulary
from rootproof.experiments.sources import Module

COMPARISONS = {
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "is": ("is not", "=="),
    "is not": ("is", "!="),
    "in": ("not in",),
    "not in": ("in",),
}


def comparison(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """Another relation between the same two sides; the boundary first."""
    if not isinstance(node, ast.Compare):
        return
    left: ast.expr = node.left
    for right in node.comparators:
        gap = between(module, end_of(left), start_of(right))
        found = re.search(r"(is\s+not|not\s+in|is|in|[<>=!]=|[<>])", gap)
        if found and "\n" not in gap and "#" not in gap:
            word = " ".join(found.group().split())
            for cost, other in enumerate(COMPARISONS.get(word, ()), 1):
                text = gap[: found.start()] + other + gap[found.end() :]
                note = f"compare with {other} instead of {word}"
                yield Rewrite(end_of(left), start_of(right), text, "comparison", note, cost)
        left = right


def boolean(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """``and`` ↔ ``or``, and each clause dropped."""
    if not isinstance(node, ast.BoolOp):
        return
    words = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
    parts = [grouped(module, value) for value in node.values]
    yield replace(node, "(" + words[1].join(parts) + ")", "boolean", f"join with{words[1]}instead of{words[0]}", 2)
    for index, value in enumerate(node.values):
        rest = words[0].join(parts[:index] + parts[index + 1 :])
        text = f"({rest})" if len(parts) > 2 else rest
        yield replace(node, text, "drop_clause", f"drop the clause {short(text_of(module, value))}", 1.5)


def negation(module: Module, node: ast.AST, parent: ast.AST) -> Iterator[Rewrite]:
    """Drop a ``not``; negate a test."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield replace(
            node,
            grouped(module, node.operand),
            "drop_not",
            f"drop not before {short(text_of(module, node.operand))}",
            1.5,
        )
    elif getattr(parent, "test", None) is node:
        yield replace(node, f"not ({text_of(module, node)})", "negate", f"negate {short(text_of(module, node))}", 2)


def truth(module: Module, node: ast.AST, parent: ast.AST) -> Iterator[Rewrite]:
    """A test for truth ↔ a test for None; ``x or d`` ↔ ``d`` only for None."""
    text = text_of(module, node)
    if getattr(parent, "test", None) is node or (isinstance(parent, ast.BoolOp) and isinstance(node, ast.expr)):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            yield replace(
                node,
                f"{text} is not None",
                "none_test",
                f"ask whether {short(text)} is None, not whether it is true",
                2,
            )
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and ast.unparse(node.comparators[0]) == "None":
            subject = grouped(module, node.left)
            plain = subject if isinstance(node.ops[0], ast.IsNot) else f"not {subject}"
            yield replace(node, plain, "truth_test", f"ask whether {short(subject)} is true, not whether it is None", 2)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        and isinstance(node.operand, ast.Name | ast.Attribute)
    ):
        subject = text_of(module, node.operand)
        yield replace(
            node, f"{subject} is None", "none_test", f"ask whether {subject} is None, not whether it is false", 2
        )
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        one, other = (grouped(module, value) for value in node.values)
        if isinstance(node.values[0], ast.Name | ast.Attribute):
            changed = f"({one} if {one} is not None else {other})"
            yield replace(node, changed, "or_default", f"use {short(other)} only where {one} is None", 2)


def added_clause(module: Module, node: ast.AST, parent: ast.AST, scope: Scope) -> Iterator[Rewrite]:
    """A test strengthened or weakened by a condition that the function already has, or by one of its names."""
    if not isinstance(parent, ast.If | ast.While | ast.IfExp | ast.comprehension) or not isinstance(node, ast.expr):
        return
    if node is not getattr(parent, "test", None) and node not in getattr(parent, "ifs", ()):
        return
    own = grouped(module, node)
    plain = ast.unparse(node)
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    clauses = [f"({c})" for c in scope.conditions if c != plain][:6]
    clauses += [name for name in scope.locals if name not in used][:6]
    for clause in dict.fromkeys(clauses):
        yield replace(node, f"{own} and {clause}", "add_clause", f"ask also for {short(clause)}", 4)
        yield replace(node, f"{own} and not {clause}", "add_clause", f"ask also for not {short(clause)}", 4)
        yield replace(node, f"{own} or {clause}", "add_clause", f"accept also {short(clause)}", 5)


def classes(module: Module, node: ast.AST, words: Vocabulary) -> Iterator[Rewrite]:
    """Widen or narrow an ``isinstance``; exact type ↔ ``isinstance``."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance" and len(node.args) == 2:
        kind = node.args[1]
        for other in words.classes:
            if other != ast.unparse(kind) and not isinstance(kind, ast.Tuple):
                own = text_of(module, kind)
                yield replace(kind, f"({own}, {other})", "widen_isinstance", f"accept {other} beside {own}", 2.5)
                yield replace(kind, other, "swap_class", f"ask for {other} instead of {own}", 3)
        if isinstance(kind, ast.Tuple) and len(kind.elts) > 1:
            for index, dropped in enumerate(kind.elts):
                rest = ", ".join(text_of(module, e) for i, e in enumerate(kind.elts) if i != index)
                yield replace(
                    kind, f"({rest},)", "narrow_isinstance", f"no longer accept {text_of(module, dropped)}", 2.5
                )
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.Eq):
        called = node.left
        if isinstance(called, ast.Call) and getattr(called.func, "id", "") == "type" and len(called.args) == 1:
            text = f"isinstance({text_of(module, called.args[0])}, {text_of(module, node.comparators[0])})"
            yield replace(node, text, "type_test", "accept subclasses too", 1.5)


def handlers(module: Module, statement: ast.stmt, words: Vocabulary) -> Iterator[Rewrite]:
    """Widen the exceptions that a handler takes, by those the module names."""
    for handler in getattr(statement, "handlers", ()):
        if handler.type is None:
            continue
        taken = text_of(module, handler.type)
        bare = taken[1:-1].rstrip(",") if isinstance(handler.type, ast.Tuple) and taken[:1] == "(" else taken
        common = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "OSError")
        for other in dict.fromkeys((*words.exceptions[:5], *common)):
            if other not in taken and other not in ("Exception", "BaseException"):
                yield replace(handler.type, f"({bare}, {other})", "widen_except", f"catch {other} too", 2.5)
