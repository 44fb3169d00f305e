"""Producer and consumer that disagree about a string key: one side writes a key that nobody reads, the other reads one
that nobody writes.

Keys are string constants used as subscripts, in dictionary displays, or as the first argument of ``get``, ``pop``,
``setdefault``, ``getattr``, ``setattr`` and the like, in statements that the failing test runs or whose data it reads.
Each pair gives two changes, one for each side: the writer's key made the reader's, and the other way round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rootproof.experiments.change import Edit
from rootproof.experiments.sources import Module, Sources, Statement
from rootproof.text import quoted

READERS = frozenset({"get", "pop", "getattr", "hasattr", "getlist", "get_all", "delattr"})
WRITERS = frozenset({"setdefault", "setattr", "set", "put", "add_header", "set_cookie"})
MOST_PAIRS = 40


@dataclass(frozen=True)
class KeyUse:
    """One place where a string is used as a key."""

    file: str
    key: str
    writes: bool
    node: ast.Constant
    statement: Statement


def key_edits(ran: Iterable[Statement], sources: Sources) -> list[tuple[Statement, Edit]]:
    """Changes that make one side's key the other's, unread and unwritten keys first; deterministic."""
    uses = [use for statement in ran for use in _uses(statement, sources)]
    read = {use.key for use in uses if not use.writes}
    written = {use.key for use in uses if use.writes}
    orphans = [use for use in uses if use.writes and use.key not in read]
    strays = [use for use in uses if not use.writes and use.key not in written]
    pairs = sorted(
        ((writer, reader) for writer in orphans for reader in strays if writer.key != reader.key),
        key=lambda pair: (-_alike(pair[0], pair[1]), pair[0].file, pair[0].node.lineno, pair[1].node.lineno),
    )
    edits: list[tuple[Statement, Edit]] = []
    for writer, reader in pairs[:MOST_PAIRS]:
        for use, other in ((reader, writer), (writer, reader)):
            edit = _replaced(use, other, sources)
            if edit is not None:
                edits.append((use.statement, edit))
    return edits


def _uses(statement: Statement, sources: Sources) -> Iterator[KeyUse]:
    module = sources.module(statement.file)
    for node in _nodes(module, statement) if module else ():
        for key, writes in _keys(node):
            if key.value:
                yield KeyUse(statement.file, str(key.value), writes, key, statement)


def _nodes(module: Module, statement: Statement) -> Iterator[ast.AST]:
    """Expressions of a statement's own lines, not those of statements inside it."""
    for node in ast.walk(module.tree):
        line = getattr(node, "lineno", 0)
        if statement.first <= line <= statement.last and isinstance(node, ast.Subscript | ast.Call | ast.Dict):
            yield node


def _keys(node: ast.AST) -> list[tuple[ast.Constant, bool]]:
    """String constants used as keys, and whether something is written under them."""
    if isinstance(node, ast.Dict):
        return [(key, True) for key in node.keys if _is_text(key)]  # type: ignore[misc]
    if isinstance(node, ast.Subscript) and _is_text(node.slice):
        return [(node.slice, isinstance(node.ctx, ast.Store))]  # type: ignore[list-item]
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        places = node.args[1:2] if name in ("getattr", "setattr", "hasattr", "delattr") else node.args[:1]
        if name in READERS | WRITERS and places and _is_text(places[0]):
            return [(places[0], name in WRITERS)]  # type: ignore[list-item]
    return []


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _alike(one: KeyUse, other: KeyUse) -> float:
    """How much two sides have in common: the name of what holds the key counts most, then words of the keys."""
    words = set(one.key.lower().split("_")) & set(other.key.lower().split("_"))
    return (2.0 if one.file != other.file else 1.0) + len(words)


def _replaced(use: KeyUse, other: KeyUse, sources: Sources) -> Edit | None:
    module = sources.module(use.file)
    node = use.node
    if module is None or node.end_lineno != node.lineno or node.end_col_offset is None:
        return None
    old = module.lines[node.lineno - 1]
    data = old.encode("utf-8", "surrogateescape")
    new = data[: node.col_offset] + repr(other.key).encode() + data[node.end_col_offset :]
    note = f"key {quoted(use.key, 40)} → {quoted(other.key, 40)}, as {other.file}:{other.node.lineno} has it"
    return Edit(use.file, node.lineno, node.lineno, old, new.decode("utf-8", "surrogateescape"), "key", note)
