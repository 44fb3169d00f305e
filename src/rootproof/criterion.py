"""A completion criterion: a small expression over facts, with three values.

``True``, ``False``, and ``None`` for *unknown*: anything over a missing, stale or conflicting fact is unknown, negated
or not, and unknown is unmet. ``and`` and ``or`` follow Kleene's strong logic: ``or`` is true as soon as one side is.
Comparison only within one type (numbers are one type, a boolean is not a number). Names, comparisons, and/or/not; no
calls, no attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

Value = str | int | float | bool | None
Truth = bool | None

MAX_LENGTH = 500
_MISSING = object()
_WORDS = {"true": True, "false": False, "null": None}
_COMPARE: Mapping[type, tuple[str, Callable[[Value, Value], bool]]] = {
    ast.Eq: ("==", lambda a, b: a == b),
    ast.NotEq: ("!=", lambda a, b: a != b),
    ast.Lt: ("<", lambda a, b: a < b),  # type: ignore[operator]
    ast.LtE: ("<=", lambda a, b: a <= b),  # type: ignore[operator]
    ast.Gt: (">", lambda a, b: a > b),  # type: ignore[operator]
    ast.GtE: (">=", lambda a, b: a >= b),  # type: ignore[operator]
}


class Unreadable(ValueError):
    """The text is not a criterion; the message says what is not allowed."""


@dataclass(frozen=True)
class Criterion:
    """A parsed expression."""

    text: str
    tree: ast.expr

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The facts it speaks of, in order of appearance."""
        return tuple(dict.fromkeys(n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n.id not in _WORDS))

    def truth(self, facts: Mapping[str, Value]) -> Truth:
        """Its value over the facts that are held."""
        return _truth(self.tree, facts)

    def equalities(self) -> Iterator[tuple[str, Value]]:
        """The (name, literal) pairs that must be equal for it to be true: those joined by ``and``."""
        return _equalities(self.tree)

    def comparisons(self) -> Iterator[tuple[str, str, Value]]:
        """Every (name, operator, literal) it holds."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Compare):
                left, right = node.left, node.comparators[0]
                if isinstance(left, ast.Name) and _is_literal(right):
                    yield left.id, _COMPARE[type(node.ops[0])][0], _literal(right)
                elif isinstance(right, ast.Name) and _is_literal(left):
                    yield right.id, _COMPARE[type(node.ops[0])][0], _literal(left)

    def possible(self, given: Callable[[str], bool]) -> bool:
        """Whether it could be true if only the facts for which ``given(name)`` is true can exist."""
        return _possible(self.tree, given)


def parse(text: str) -> Criterion:
    """Read one criterion.

    Raises:
        Unreadable: it is not an expression of names, literals, comparisons, and/or/not.
    """
    if len(text) > MAX_LENGTH:
        raise Unreadable(f"longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"not an expression ({getattr(error, 'msg', error)})") from None
    _check(tree, 0)
    return Criterion(text, tree)


def _check(node: ast.expr, depth: int) -> None:
    if depth > 20:
        raise Unreadable("nested too deeply")
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            _check(value, depth + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        _check(node.operand, depth + 1)
    elif isinstance(node, ast.Compare):
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARE:
            raise Unreadable("one comparison of == != < <= > >= at a time")
        for side in (node.left, node.comparators[0]):
            if not isinstance(side, ast.Name) and not _is_literal(side):
                raise Unreadable("a comparison is between a name and a name or a literal")
    elif not isinstance(node, ast.Name) and not _is_literal(node):
        raise Unreadable(f"only names, literals, comparisons, and/or/not ({type(node).__name__} is not)")


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float)
    if isinstance(node, ast.Name):
        return node.id in _WORDS
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (str, int, float, bool))


def _literal(node: ast.expr) -> Value:
    if isinstance(node, ast.UnaryOp):
        assert isinstance(node.operand, ast.Constant)
        return -node.operand.value  # type: ignore[operator, return-value]
    if isinstance(node, ast.Name):
        return _WORDS[node.id]
    assert isinstance(node, ast.Constant)
    return node.value  # type: ignore[return-value]


def _value(node: ast.expr, facts: Mapping[str, Value]) -> object:
    if isinstance(node, ast.Name) and node.id not in _WORDS:
        return facts.get(node.id, _MISSING)
    return _literal(node)


def kind(value: object) -> str:
    """The type a value is compared in."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "text", type(None): "null"}.get(type(value), "list")


def _truth(node: ast.expr, facts: Mapping[str, Value]) -> Truth:
    if isinstance(node, ast.BoolOp):
        parts = [_truth(value, facts) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _truth(node.operand, facts)
        return None if inner is None else not inner
    if isinstance(node, ast.Compare):
        left, right = _value(node.left, facts), _value(node.comparators[0], facts)
        if left is _MISSING or right is _MISSING or kind(left) != kind(right):
            return None
        ordered = not isinstance(node.ops[0], ast.Eq | ast.NotEq)
        if ordered and kind(left) not in ("number", "text"):
            return None
        return _COMPARE[type(node.ops[0])][1](left, right)  # type: ignore[arg-type]
    value = _value(node, facts)
    if value is _MISSING:
        return None
    return value if isinstance(value, bool) else True


def _equalities(node: ast.expr) -> Iterator[tuple[str, Value]]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _equalities(value)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Name) and left.id not in _WORDS and _is_literal(right):
            yield left.id, _literal(right)


def _possible(node: ast.expr, given: Callable[[str], bool], wanted: bool = True) -> bool:
    """Whether the expression could have the wanted truth. A negation turns the question round."""
    if isinstance(node, ast.BoolOp):
        parts = [_possible(value, given, wanted) for value in node.values]
        one_is_enough = isinstance(node.op, ast.Or) == wanted
        return any(parts) if one_is_enough else all(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _possible(node.operand, given, not wanted)
    names = Criterion("", node).names
    return all(given(name) for name in names) if names else _truth(node, {}) is wanted
