"""Operators on values: constants, arithmetic, names, attributes, calls, indices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

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
from rootproof.experiments.operators.vocabulary import SIBLINGS, Scope, Vocabulary
from rootproof.experiments.sources import Module

ARITHMETIC = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "**"),
    "/": ("//", "*"),
    "//": ("/",),
    "%": ("//",),
    "**": ("*",),
    "|": ("&",),
    "&": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
    "^": ("|",),
}


def constant(module: Module, node: ast.AST, words: Vocabulary) -> Iterator[Rewrite]:
    """Another constant: off by one, sign, flipped, or one that the module has."""
    if not isinstance(node, ast.Constant):
        return
    value, text = node.value, text_of(module, node)
    if isinstance(value, bool):
        yield replace(node, str(not value), "boolean_constant", f"{not value} instead of {value}", 1.5)
    elif isinstance(value, int):
        for cost, other in ((1.5, value + 1), (1.5, value - 1), (2.5, -value)):
            if other != value:
                yield replace(
                    node, f"({other})" if other < 0 else str(other), "number", f"{other} instead of {value}", cost
                )
        for number, _ in words.numbers.most_common(6):
            if abs(number - value) > 1:
                yield replace(node, str(number), "module_number", f"{number} instead of {value}", 4)
    elif isinstance(value, str) and text[:1] in "'\"" and "\n" not in text:
        for word in _strings(value, words):
            yield replace(node, repr(word), "string", f"{short(repr(word))} instead of {short(repr(value))}", 2.5)
    elif value is None:
        yield replace(node, "''", "none_constant", "the empty text instead of None", 4)


def _strings(value: str, words: Vocabulary) -> Iterator[str]:
    yield from words.near(value, words.strings, 4)
    if value.strip() != value:
        yield value.strip()
    if value and value.swapcase() != value and value.lower() != value:
        yield value.lower()
    if value:
        yield ""
    if not value:
        yield " "


def arithmetic(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """Another operation on the same two sides; one side alone."""
    if not isinstance(node, ast.BinOp):
        return
    gap = between(module, end_of(node.left), start_of(node.right))
    found = re.search(r"(\*\*|//|<<|>>|[-+*/%|&^])", gap)
    if found and "\n" not in gap and "#" not in gap:
        for cost, other in enumerate(ARITHMETIC.get(found.group(), ()), 1):
            text = gap[: found.start()] + other + gap[found.end() :]
            note = f"{other} instead of {found.group()}"
            yield Rewrite(end_of(node.left), start_of(node.right), text, "arithmetic", note, 1 + cost)
    for kept, dropped in ((node.left, node.right), (node.right, node.left)):
        yield replace(node, grouped(module, kept), "drop_operand", f"without {short(text_of(module, dropped))}", 2.5)
    if isinstance(node.op, ast.Sub | ast.Div | ast.Add):
        text = text_of(module, node)
        yield replace(node, f"({text} + 1)", "off_by_one", f"one more than {short(text)}", 3)
        yield replace(node, f"({text} - 1)", "off_by_one", f"one less than {short(text)}", 3)


def name(module: Module, node: ast.AST, parent: ast.AST, words: Vocabulary, scope: Scope) -> Iterator[Rewrite]:
    """Another variable in scope, a name spelled alike, a sibling of a builtin."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    called = isinstance(parent, ast.Call) and parent.func is node
    for other in siblings(node.id):
        yield replace(node, other, "sibling", f"{other} instead of {node.id}", 2)
    for other in words.near(node.id, words.names, 3):
        yield replace(node, other, "near_name", f"{other} instead of {node.id}", 2)
    if called:
        return
    alike = words.near(node.id, words.names.__class__(dict.fromkeys(scope.locals, 1)), 2)
    for other in alike:
        yield replace(node, other, "near_variable", f"{other} instead of {node.id}", 1.5)
    if node.id in scope.locals:
        for other in [n for n in scope.locals if n not in (node.id, *alike)][:5]:
            yield replace(node, other, "variable", f"{other} instead of {node.id}", 3)


def siblings(word: str) -> list[str]:
    return list(dict.fromkeys(other for group in SIBLINGS if word in group for other in group if other != word))


def attribute(module: Module, node: ast.AST, words: Vocabulary, scope: Scope) -> Iterator[Rewrite]:
    """An attribute spelled alike, a sibling method, the object itself, another of ``self``'s."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    base = text_of(module, node.value)
    if "\n" in base:
        return
    for other in siblings(node.attr):
        yield replace(node, f"{base}.{other}", "sibling", f".{other} instead of .{node.attr}", 1.5)
    for other in words.near(node.attr, words.attributes, 3):
        yield replace(node, f"{base}.{other}", "near_attribute", f".{other} instead of .{node.attr}", 2)
    if base == "self":
        for other in [flag for flag in scope.flags if flag != node.attr][:4]:
            yield replace(node, f"self.{other}", "own_attribute", f"self.{other} instead of self.{node.attr}", 3.5)
    for other in [taken for name, taken in scope.taken if name == base != "self" and taken != node.attr][:4]:
        yield replace(node, f"{base}.{other}", "own_attribute", f"{base}.{other} instead of {base}.{node.attr}", 3)
    yield replace(node, base, "drop_attribute", f"{short(base)} itself instead of its .{node.attr}", 3)


def call(module: Module, node: ast.AST, words: Vocabulary, scope: Scope) -> Iterator[Rewrite]:
    """Arguments swapped, dropped or passed on; the call's argument or receiver alone."""
    if not isinstance(node, ast.Call):
        return
    arguments = node.args
    for one, other in pairwise(arguments):
        swapped = text_of(module, other) + between(module, end_of(one), start_of(other)) + text_of(module, one)
        note = f"swap the arguments {short(text_of(module, one), 20)} and {short(text_of(module, other), 20)}"
        yield Rewrite(start_of(one), end_of(other), swapped, "swap_arguments", note, 2)
    if len(arguments) == 1 and not node.keywords and not isinstance(arguments[0], ast.Starred | ast.GeneratorExp):
        note = f"{short(text_of(module, arguments[0]))} without the call round it"
        yield replace(node, grouped(module, arguments[0]), "unwrap_call", note, 2)
    if isinstance(node.func, ast.Attribute):
        receiver = grouped(module, node.func.value)
        yield replace(node, receiver, "receiver", f"{short(receiver)} without .{node.func.attr}()", 2.5)
        if node.func.attr in ("split", "rsplit") and len(arguments) == 1 and not node.keywords:
            text = f"{text_of(module, node.func)}({text_of(module, arguments[0])}, 1)"
            yield replace(node, text, "split_once", "split once only", 1.5)
    yield from _dropped_arguments(module, node)
    yield from _passed_on(module, node, words, scope)


def _dropped_arguments(module: Module, node: ast.Call) -> Iterator[Rewrite]:
    parts = [*node.args, *node.keywords]
    for index, dropped in enumerate(parts):
        rest = ", ".join(text_of(module, part) for i, part in enumerate(parts) if i != index)
        optional = isinstance(dropped, ast.keyword) or index == len(node.args) - 1
        if optional and not any(isinstance(part, ast.GeneratorExp) for part in parts):
            text = f"{text_of(module, node.func)}({rest})"
            yield replace(node, text, "drop_argument", f"without the argument {short(text_of(module, dropped))}", 2.5)


def _passed_on(module: Module, node: ast.Call, words: Vocabulary, scope: Scope) -> Iterator[Rewrite]:
    """A parameter of the function handed on under its own name, where such calls are known to take it."""
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    given = {k.arg for k in node.keywords}
    inside = [text_of(module, part) for part in (*node.args, *node.keywords)]
    for keyword in words.keywords.get(called, ()):
        if keyword not in given and keyword in scope.locals and keyword not in inside:
            text = f"{text_of(module, node.func)}({', '.join([*inside, f'{keyword}={keyword}'])})"
            yield replace(node, text, "pass_on", f"hand {keyword} on", 2)


def index(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """An index or bound one off; a bound dropped; ``[k]`` ↔ ``.get(k)``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    base = text_of(module, node.value)
    if isinstance(node.slice, ast.Slice):
        low, high = (text_of(module, part) if part else "" for part in (node.slice.lower, node.slice.upper))
        step = f":{text_of(module, node.slice.step)}" if node.slice.step else ""
        options = [
            (low, ""),
            ("", high),
            (low, f"{high} + 1"),
            (low, f"{high} - 1"),
            (f"{low} + 1", high),
            (f"{low} - 1", high),
        ]
        for one, other in options:
            if (one, other) != (low, high) and not one.startswith(" ") and not other.startswith(" "):
                yield replace(node, f"{base}[{one}:{other}{step}]", "slice", f"slice [{one}:{other}{step}]", 2.5)
        yield replace(node, base, "whole", f"the whole of {short(base)}", 3)
        return
    key = text_of(module, node.slice)
    if not isinstance(node.slice, ast.Constant | ast.Tuple):
        yield replace(node, f"{base}[{key} + 1]", "index", f"index {short(key)} + 1", 3)
        yield replace(node, f"{base}[{key} - 1]", "index", f"index {short(key)} - 1", 3)
    yield replace(node, f"{base}.get({key})", "get", f"None where {short(base)} has no such key", 3)


def choice(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """A conditional expression's sides swapped, or one of them alone."""
    if isinstance(node, ast.IfExp):
        body, test, other = (grouped(module, part) for part in (node.body, node.test, node.orelse))
        yield replace(node, f"({other} if {test} else {body})", "swap_choice", "swap the two choices", 2.5)
        yield replace(node, body, "one_choice", f"always {short(body)}", 3)
        yield replace(node, other, "one_choice", f"always {short(other)}", 3)
