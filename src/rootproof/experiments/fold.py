"""Constant folding: which values an expression has whatever the program's input is. Nothing of the program is run.

Used to see a planted value through its disguise: ``"".join(map(chr, [52, 50]))``, ``6 * 7``, ``f"{4}{2}"``. Names are
followed through straight-line assignments of one block and through constants of the module. What is not known to be
constant is :data:`UNKNOWN`; work and sizes are bounded, and beyond the bounds a value is unknown.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rootproof.experiments.literal import key

MAX_STEPS = 20_000
MAX_SIZE = 10_000


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Any = _Unknown()
"""The one value that says: not constant, or too costly to know."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
BUILTINS: Mapping[str, Callable[..., Any]] = {
    name: getattr(builtins, name)
    for name in (
        "abs", "ascii", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "float", "format",
        "frozenset", "hex", "int", "len", "list", "max", "min", "oct", "ord", "range",
        "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip", "enumerate", "any", "all",
    )
}  # fmt: skip
_TRANSPARENT = {"approx": 0, "Decimal": 0, "Fraction": 0, "deepcopy": 0, "copy": 0}
"""Calls that stand for their argument, as ``pytest.approx(4.2)`` does in an assertion."""
_PLAIN = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, bytearray)
CHANGING = ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "add")

Env = dict[str, Any]
"""Name, or dotted name, → its constant value."""


class _TooMuch(Exception):
    """The bounds were reached; never leaves this module."""


@dataclass
class Folder:
    """Folds expressions under one environment of known names."""

    env: Env = field(default_factory=dict)
    steps: int = 0

    def value(self, node: ast.expr | None) -> Any:
        """The constant value of an expression, or :data:`UNKNOWN`. Never raises."""
        if node is None:
            return None
        try:
            return self._fold(node)
        except (_TooMuch, RecursionError, MemoryError):
            return UNKNOWN

    def _fold(self, node: ast.expr) -> Any:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _TooMuch
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        return _bounded(method(node)) if method else UNKNOWN

    def _constant(self, node: ast.Constant) -> Any:
        return node.value if node.value is not Ellipsis else UNKNOWN

    def _name(self, node: ast.Name) -> Any:
        return self.env.get(node.id, UNKNOWN)

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.env.get(ast.unparse(node), UNKNOWN)

    def _namedexpr(self, node: ast.NamedExpr) -> Any:
        return self._fold(node.value)

    def _starred(self, node: ast.Starred) -> Any:
        return UNKNOWN

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return tried(_UNARY[type(node.op)], self._fold(node.operand))

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self._fold(node.left), self._fold(node.right)
        if type(node.op) in (ast.Pow, ast.LShift, ast.Mult) and not _modest(left, right):
            return UNKNOWN
        return tried(_BINARY[type(node.op)], left, right) if type(node.op) in _BINARY else UNKNOWN

    def _boolop(self, node: ast.BoolOp) -> Any:
        """``x or True`` is true whatever x is; ``x and False`` is false."""
        stops = isinstance(node.op, ast.Or)
        value: Any = UNKNOWN
        sure = True
        for part in node.values:
            value = self._fold(part)
            if value is UNKNOWN:
                sure = False
            elif bool(value) is stops and (sure or value is stops):
                return value
        return value if sure else UNKNOWN

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1:
            return UNKNOWN
        left, right = node.left, node.comparators[0]
        same = ast.dump(left) == ast.dump(right) and not any(isinstance(n, ast.Call) for n in ast.walk(left))
        if same and not isinstance(left, ast.Constant):
            return isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
        return tried(_COMPARE[type(node.ops[0])], self._fold(left), self._fold(right))

    def _ifexp(self, node: ast.IfExp) -> Any:
        test = self._fold(node.test)
        if test is not UNKNOWN:
            return self._fold(node.body if test else node.orelse)
        one, other = self._fold(node.body), self._fold(node.orelse)
        return one if one is not UNKNOWN and other is not UNKNOWN and key(one) == key(other) else UNKNOWN

    def _items(self, nodes: list[ast.expr]) -> Any:
        found: list[Any] = []
        for node in nodes:
            inner = self._fold(node.value if isinstance(node, ast.Starred) else node)
            if inner is UNKNOWN:
                return UNKNOWN
            found.extend(list(inner) if isinstance(node, ast.Starred) else [inner])
        return found

    def _list(self, node: ast.List) -> Any:
        return self._items(node.elts)

    def _tuple(self, node: ast.Tuple) -> Any:
        return tried(tuple, self._items(node.elts))

    def _set(self, node: ast.Set) -> Any:
        return tried(set, self._items(node.elts))

    def _dict(self, node: ast.Dict) -> Any:
        if any(k is None for k in node.keys):
            return UNKNOWN
        keys, values = self._items([k for k in node.keys if k is not None]), self._items(node.values)
        return tried(lambda k, v: dict(zip(k, v, strict=True)), keys, values)

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        parts: list[str] = []
        for part in node.values:
            value = self._formattedvalue(part) if isinstance(part, ast.FormattedValue) else self._fold(part)
            if value is UNKNOWN:
                return UNKNOWN
            parts.append(str(value))
        return "".join(parts)

    def _formattedvalue(self, node: ast.FormattedValue) -> Any:
        value = self._fold(node.value)
        spec = self._fold(node.format_spec) if node.format_spec else ""
        return tried(lambda v, s: format(_converted(v, node.conversion), s), value, spec)

    def _subscript(self, node: ast.Subscript) -> Any:
        value = self._fold(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = [self._fold(e) if e else None for e in (node.slice.lower, node.slice.upper, node.slice.step)]
            return UNKNOWN if UNKNOWN in ends else tried(lambda v: v[slice(*ends)], value)
        return tried(operator.getitem, value, self._fold(node.slice))

    def _listcomp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node.elt, node.generators)

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node.elt, node.generators)

    def _setcomp(self, node: ast.SetComp) -> Any:
        return tried(set, self._comprehension(node.elt, node.generators))

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> Any:
        if len(generators) != 1 or generators[0].ifs or not isinstance(generators[0].target, ast.Name):
            return UNKNOWN
        source, name = self._fold(generators[0].iter), generators[0].target.id
        if source is UNKNOWN or not isinstance(source, _PLAIN):
            return UNKNOWN
        before, found = dict(self.env), []
        for item in list(source)[:MAX_SIZE] if not isinstance(source, int | float | complex) else []:
            self.env[name] = item
            found.append(self._fold(element))
        self.env = before
        return UNKNOWN if any(item is UNKNOWN for item in found) else found

    def _call(self, node: ast.Call) -> Any:
        if any(k.arg is None for k in node.keywords):
            return UNKNOWN
        if isinstance(node.func, ast.Name) and node.func.id == "map":
            return self._map(node)
        args = self._items(list(node.args))
        named = {str(k.arg): self._fold(k.value) for k in node.keywords}
        if args is UNKNOWN:
            return UNKNOWN
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _TRANSPARENT and args:
            return args[0]
        if UNKNOWN in named.values():
            return UNKNOWN
        if isinstance(node.func, ast.Name):
            return self._built_in(node.func.id, args, named)
        return self._method(node.func, args, named) if isinstance(node.func, ast.Attribute) else UNKNOWN

    def _built_in(self, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        if name not in BUILTINS or name in self.env or not _modest(*args):
            return UNKNOWN
        return tried(lambda *a: BUILTINS[name](*a, **named), *args)

    def _map(self, node: ast.Call) -> Any:
        if len(node.args) != 2 or node.keywords:
            return UNKNOWN
        function, source = node.args[0], self._fold(node.args[1])
        if source is UNKNOWN or not isinstance(function, ast.Name) or function.id not in BUILTINS:
            return UNKNOWN
        return tried(lambda items: [BUILTINS[function.id](item) for item in items], source)

    def _method(self, func: ast.Attribute, args: list[Any], named: dict[str, Any]) -> Any:
        if isinstance(func.value, ast.Name) and func.value.id in ("str", "bytes", "int", "dict", "float"):
            owner: Any = BUILTINS[func.value.id]
        else:
            owner = self._fold(func.value)
        plain = owner is not UNKNOWN and isinstance(owner, (*_PLAIN, type))
        if not plain or func.attr.startswith("_") or func.attr in CHANGING or not _modest(*args):
            return UNKNOWN
        return tried(lambda *a: getattr(owner, func.attr)(*a, **named), *args)


def _converted(value: Any, conversion: int) -> Any:
    """``!s``, ``!r`` and ``!a`` of a formatted value."""
    if conversion == ord("s"):
        return str(value)
    if conversion == ord("r"):
        return repr(value)
    return ascii(value) if conversion == ord("a") else value


def tried(function: Callable[..., Any], *args: Any) -> Any:
    """Apply; what raises or meets an unknown is unknown."""
    if any(arg is UNKNOWN for arg in args):
        return UNKNOWN
    try:
        return function(*args)
    except Exception:
        return UNKNOWN


def _modest(*values: Any) -> bool:
    """Small enough that repeating, shifting or raising cannot run away."""
    return all(not (isinstance(v, int) and abs(v) > MAX_SIZE and not isinstance(v, bool)) for v in values)


def _bounded(value: Any) -> Any:
    if isinstance(value, range | enumerate | zip | reversed):
        value = list(value) if not isinstance(value, range) or len(value) <= MAX_SIZE else UNKNOWN
    if isinstance(value, _PLAIN) and not isinstance(value, int | float | complex) and len(value) > MAX_SIZE:
        return UNKNOWN
    if isinstance(value, int) and value.bit_length() > 4096:
        return UNKNOWN
    return value if value is None or isinstance(value, _PLAIN) else UNKNOWN
