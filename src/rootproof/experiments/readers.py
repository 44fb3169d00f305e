"""Who reads a name, and what stands in the place of a key: how places that never run themselves are reached. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rootproof.experiments.fold import UNKNOWN, Folder
from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import Owner, all_owners
from rootproof.experiments.record import Span
from rootproof.experiments.words import reads_name

KEY_CALLS = frozenset(
    {"get", "pop", "setdefault", "getattr", "hasattr", "setattr", "delattr", "has", "getlist", "getvalue"}
)


def functions_reading(names: Iterable[str], sources: Mapping[str, bytes]) -> Iterator[Owner]:
    """Functions of the given files whose code loads one of the names."""
    wanted = frozenset(names)
    for file in sorted(sources):
        tree = tree_of(sources[file])
        if tree is None:
            continue
        for owner in all_owners(file, tree):
            node = node_of(owner, tree)
            if owner.is_function and node is not None and reads_name(node, wanted):
                yield owner


def node_of(owner: Owner, tree: ast.Module) -> ast.stmt | None:
    """The syntax node of a unit."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and getattr(node, "end_lineno", None) == owner.last:
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if start == owner.first:
                return node
    return None


def body_lines(owner: Owner, tree: ast.Module) -> range:
    """Lines of a function that only run when it is called."""
    node = node_of(owner, tree)
    body = getattr(node, "body", None)
    return range(body[0].lineno, owner.last + 1) if body else range(owner.first, owner.last + 1)


def keys(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(word, line) of what names a thing to others: keys of mappings, attributes, keywords, names of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            yield from _text(node.slice)
        elif isinstance(node, ast.Dict):
            for item in node.keys:
                yield from _text(item)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in KEY_CALLS:
                for argument in node.args[:2]:
                    yield from _text(argument)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            yield from _text(node.left)
        else:
            yield from _named(node)


def _text(node: ast.expr | None) -> Iterator[tuple[str, int]]:
    value = Folder().value(node) if node is not None else UNKNOWN
    if isinstance(value, str) and node is not None:
        yield value, node.lineno


def _named(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Attribute):
        yield node.attr, node.lineno
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value.lineno
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno


@dataclass(frozen=True)
class Elsewhere:
    """Where the other side of a relation is looked for."""

    sources: Mapping[str, bytes]
    ran: Mapping[str, frozenset[int]]
    """Lines the target executed, tests left out."""
    own: frozenset[str]
    """``file::function`` of the change itself."""


def paired_span(old: ast.Module, new: ast.Module, elsewhere: Elsewhere) -> Span | None:
    """The executed statement of another function that uses a key the change brings in: the other side of a relation.

    Only words in the place of a key count, on both sides; a value that merely occurs elsewhere is no relation.
    """
    before = {word for word, _ in keys(old)}
    wanted = {word for word, _ in keys(new)} - before
    if not wanted:
        return None
    found: list[tuple[int, Span]] = []
    for file in sorted(elsewhere.ran):
        tree = tree_of(elsewhere.sources.get(file, b""))
        if tree is None:
            continue
        for owner in all_owners(file, tree):
            node = node_of(owner, tree)
            if owner.key in elsewhere.own or node is None or not owner.is_function:
                continue
            shared = [(word, line) for word, line in keys(node) if word in wanted]
            spans = [
                _statement(node, line, owner)
                for _, line in shared
                if line in elsewhere.ran[file] or line == owner.first
            ]
            if spans and not elsewhere.ran[file].isdisjoint(body_lines(owner, tree)):
                inside = [span for span in spans if span.first != owner.first]  # a header says less than a statement
                found.append((len({word for word, _ in shared}), (inside or spans)[0]))
    return max(found, key=lambda pair: (pair[0], pair[1].path, -pair[1].first))[1] if found else None


def _statement(owner_node: ast.stmt, line: int, owner: Owner) -> Span:
    inner: ast.stmt = owner_node
    for node in ast.walk(owner_node):
        simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
        if simple and node.lineno <= line <= (node.end_lineno or node.lineno):  # type: ignore[attr-defined]
            inner = node  # type: ignore[assignment]
    if inner is owner_node:
        return Span(owner.file, line, line, owner.name)
    return Span(owner.file, inner.lineno, inner.end_lineno or inner.lineno, owner.name)
