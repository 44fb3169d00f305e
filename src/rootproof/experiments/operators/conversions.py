"""Operators round a value or inside a text: conversions, copies, normal forms, format prefixes, patterns."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import Rewrite, grouped, replace, short, text_of
from rootproof.experiments.operators.vocabulary import Scope, Vocabulary
from rootproof.experiments.sources import Module, Statement

WRAPPERS = ("list", "str", "int", "tuple", "bool", "float", "sorted", "abs", "repr", "bytes", "dict", "set")
METHODS = (".strip()", ".lower()", ".casefold()", ".copy()", ".encode()", ".decode()", ".rstrip()")


def wrapped(module: Module, node: ast.AST, parent: ast.AST, words: Vocabulary) -> Iterator[Rewrite]:
    """A value converted, normalised or copied; or handed through a one-argument function the module has."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) or not _is_value(node, parent):
        return
    text = grouped(module, node)
    if "\n" in text:
        return
    for wrapper in WRAPPERS:
        if not text.startswith(f"{wrapper}("):
            yield replace(node, f"{wrapper}({text})", "wrap", f"{wrapper}() round {short(text)}", 4)
    for method in METHODS:
        if not text.endswith(method):
            yield replace(node, text + method, "normalise", f"{method} on {short(text)}", 4)
    if isinstance(node, ast.Name):
        yield replace(node, f"({text} and {text}.encode())", "normalise", f"encode {text} where there is one", 4.5)
        yield replace(node, f"({text} and {text}.decode())", "normalise", f"decode {text} where there is one", 4.5)


def through(module: Module, node: ast.AST, parent: ast.AST, functions: tuple[str, ...]) -> Iterator[Rewrite]:
    """A value handed through a function that the module defines or imports."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) and _is_value(node, parent):
        text = grouped(module, node)
        for function in functions:
            if not text.startswith(f"{function}(") and "\n" not in text:
                yield replace(node, f"{function}({text})", "through", f"{short(text)} through {function}()", 4.5)


def _is_value(node: ast.AST, parent: ast.AST) -> bool:
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(parent, ast.Attribute | ast.Subscript) and getattr(parent, "value", None) is node:
        return isinstance(node, ast.Name) is False
    if isinstance(parent, ast.Call):
        return node is not parent.func
    return isinstance(
        parent,
        ast.Return | ast.Assign | ast.Compare | ast.keyword | ast.BinOp | ast.For | ast.comprehension | ast.Tuple,
    )


def placeholders(module: Module, statement: Statement, scope: Scope) -> Iterator[Rewrite]:
    """The ``f`` that a text with a placeholder of a name in scope lacks."""
    text = "".join(module.lines[statement.first - 1 : statement.last])
    if "{" not in text:
        return
    known = {*scope.locals, "self", "cls"}
    for token in _tokens(text):
        found = re.findall(r"(?<!{){([A-Za-z_]\w*)[^{}]*}", token.string) if token.type == tokenize.STRING else []
        prefix = token.string[: len(token.string) - len(token.string.lstrip("rRuUbBfF"))].lower()
        if found and known.issuperset(found) and token.start[0] == token.end[0] and not {"f", "b"} & set(prefix):
            line = statement.first + token.start[0] - 1
            row = module.lines[line - 1]
            column = len(row[: token.start[1]].encode("utf-8", "surrogateescape"))
            yield Rewrite(
                (line, column), (line, column), "f", "f_prefix", f"make {short(token.string)} a format string", 0.5
            )


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    kept: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.lstrip("\x0c")).readline):
            kept.append(token)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a header alone does not end as a file does; what came before is good
    return kept


def patterns(module: Module, node: ast.AST) -> Iterator[Rewrite]:
    """Small changes of a regular expression: anchors, repetition, greed, white space, word edges, one group less."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not 2 <= len(node.value) <= 300:
        return
    text = text_of(module, node)
    found = re.match(r"""([rRuU]?)(['"])""", text)
    if (
        not found
        or text[found.end() : found.end() + 1] == found.group(2)
        or "\n" in text
        or not _is_pattern(node.value)
    ):
        return
    head, tail = text[: found.end()], found.group(2)
    body = text[found.end() : -1]
    for other, what in _pattern_changes(body):
        if other != body and _compiles(other):
            yield replace(node, head + other + tail, "pattern", f"pattern {what}: {short(other)}", 2.5)


def _is_pattern(value: str) -> bool:
    return bool(re.search(r"\\[sSdDwWbBAZ.(\[]|\(\?|\[[^\]]+\]|[*+?]\)|\)[*+?]|\.\*|\.\+", value)) and _compiles(value)


def _compiles(value: str) -> bool:
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _pattern_changes(body: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"(?<!\\)[*+](?!\?)", body):
        at, other = found.start(), "+" if found.group() == "*" else "*"
        yield body[:at] + other + body[at + 1 :], f"{other} for {found.group()}"
        yield body[: at + 1] + "?" + body[at + 1 :], "not greedy"
    for found in re.finditer(r"\\[sSdDwW]", body):
        yield body[: found.start()] + found.group().swapcase() + body[found.end() :], "the other class"
    for found in re.finditer(r"\(\?[=!]|\(\?<[=!]", body):
        flipped = found.group().translate(str.maketrans("=!", "!="))
        yield body[: found.start()] + flipped + body[found.end() :], "the other look-round"
    for found in re.finditer(r"(?<!\\)\[\^?", body):
        extra = "\\s" if "^" in found.group() else "-"
        yield body[: found.end()] + extra + body[found.end() :], f"{extra} in a class"
    for found in re.finditer(r"(?<=[)\]])\?|(?<!\\)\$$|^\^", body):
        yield body[: found.start()] + body[found.end() :], f"without {found.group()}"
    for found in re.finditer(r"\((?:\?:)?[^()|]+(\|[^()|]+)+\)", body):
        for part in re.finditer(r"\|[^()|]+", found.group()):
            at = found.start()
            yield body[: at + part.start()] + body[at + part.end() :], f"without {part.group()}"
    yield body + "$", "to the end"
    yield body + r"\Z", "to the end"
    yield "^" + body, "from the start"
    yield "(?<!\\w)" + body, "not inside a word"
