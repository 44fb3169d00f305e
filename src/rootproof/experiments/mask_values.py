"""The planted value: a change that brings in just what the failing assertion wants to see."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rootproof.experiments.constants import block_environment, constants
from rootproof.experiments.fold import UNKNOWN, Folder
from rootproof.experiments.literal import key, trivial

MAX_REPR = 20_000


@dataclass(frozen=True)
class Assertion:
    """Where the failing assertion stands, and what its run showed of it."""

    test: ast.Module | None
    """The file of the failing line; None where it is not known or does not parse."""
    line: int = 0
    function: str = ""
    """Name of the test function, without its class."""
    operands: tuple[object, ...] = ()
    """Values the run showed."""
    raised: bool = False
    """The failure was no failed comparison but an exception: then every assertion of the test counts."""


def shown_values(operands: Iterable[tuple[str, Any]]) -> tuple[object, ...]:
    """Operands of a failure as values: (``value`` or ``repr``, operand); those by repr where it is a literal."""
    found = [_value(by, operand) for by, operand in operands]
    return tuple(value for value in found if value is not UNKNOWN)


def _value(by: str, operand: Any) -> Any:
    if by == "value":
        return operand
    text = str(operand)
    try:
        return ast.literal_eval(text) if len(text) <= MAX_REPR else UNKNOWN
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return UNKNOWN


def operand_values(assertion: Assertion) -> dict[object, Any]:
    """Key → value of every operand: what the run showed, and what the assertion's own text says."""
    found = {key(value): value for value in assertion.operands}
    if assertion.test is None:
        return found
    env = block_environment(assertion.test.body)
    for function in _enclosing(assertion):
        env.update(block_environment(function.body))
    for node in _assertions(assertion):
        for part in _parts(node):
            value = Folder(dict(env)).value(part)
            if value is not UNKNOWN:
                found[key(value)] = value
    return found


def _enclosing(assertion: Assertion) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    assert assertion.test is not None
    for node in ast.walk(assertion.test):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            node.name == assertion.function or node.lineno <= assertion.line <= (node.end_lineno or 0)
        ):
            yield node


def _assertions(assertion: Assertion) -> Iterator[ast.stmt]:
    """The innermost statement at the failing line; after an exception, every assertion of the test."""
    for function in _enclosing(assertion):
        for node in ast.walk(function):
            if not isinstance(node, ast.Assert | ast.Expr | ast.With):
                continue
            here = node.lineno <= assertion.line <= (node.end_lineno or node.lineno)
            if here or assertion.raised:
                yield node


def _parts(node: ast.stmt) -> Iterator[ast.expr]:
    """What may be an operand: sides of comparisons and arguments of assertion calls, whole."""
    if isinstance(node, ast.Assert):
        for inner in ast.walk(node.test):
            if isinstance(inner, ast.Compare):
                yield from (inner.left, *inner.comparators)
            elif isinstance(inner, ast.Call):
                yield from _arguments(inner, method_only=True)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _arguments(node.value, method_only=False)
    elif isinstance(node, ast.With):
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                yield from (k.value for k in item.context_expr.keywords if k.arg == "match")


def _arguments(call: ast.Call, *, method_only: bool) -> Iterator[ast.expr]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    compares = name.startswith("assert") or name in ("startswith", "endswith", "equals", "isclose", "allclose", "match")
    if compares or not method_only:
        yield from (arg for arg in call.args if compares)


def planted(
    old: ast.Module, new: ast.Module, paired: Iterable[ast.AST], operands: dict[object, Any]
) -> Iterator[tuple[int, str]]:
    """A constant of the new module that equals an operand and that neither old module nor paired span computes."""
    before = constants(old, block_environment(old.body))
    for span in paired:
        before.update(constants(span))
    after = constants(new, block_environment(new.body))
    for each, value in after.items():
        if each in operands and each not in before and not trivial(value):
            yield _line(new, each), f"the value {repr(value)[:80]} is an operand of the failing assertion"


def _line(tree: ast.Module, wanted: object) -> int:
    """The first line at which the value is written as a whole; 1 where it is assembled over several."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            value = Folder().value(node)
            if value is not UNKNOWN and key(value) == wanted:
                return node.lineno
    return 1
