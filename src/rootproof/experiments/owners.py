"""Which function, or which statement outside functions, a change lies in: the unit of width, subject and neighbours."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rootproof.experiments.change import Change, Edit, decoded, split_lines
from rootproof.experiments.masks import tree_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Owner:
    """One function with all inside it, or one statement of a module's or class's own body."""

    file: str
    name: str
    """Qualified name of the function; for a statement the names it binds, else its line."""
    first: int
    last: int
    is_function: bool = True
    binds: tuple[str, ...] = ()
    """Names that a statement outside functions gives a value to."""
    new: bool = False
    """Only there with the change."""

    @property
    def key(self) -> str:
        return f"{self.file}::{self.name}"


def owner_at(file: str, tree: ast.Module, line: int) -> Owner | None:
    """The outermost function around a line, else the innermost statement outside functions; None between statements.

    A method is its own unit; a function inside a function belongs to the outer one.
    """
    prefix, body = "", tree.body
    while True:
        node = next((n for n in body if first_line(n) <= line <= (n.end_lineno or n.lineno)), None)
        if node is None:
            return None
        if isinstance(node, FunctionNode):
            return Owner(file, prefix + node.name, first_line(node), node.end_lineno or node.lineno)
        if not isinstance(node, ast.ClassDef) or (line < node.body[0].lineno and not _decorated(node.body[0], line)):
            return _statement(file, prefix, node)
        prefix, body = f"{prefix}{node.name}.", node.body


def _decorated(node: ast.stmt, line: int) -> bool:
    return first_line(node) <= line


def _statement(file: str, prefix: str, node: ast.stmt) -> Owner:
    names = tuple(dict.fromkeys(bound(node)))
    label = prefix + (",".join(names) or f"line {node.lineno}")
    return Owner(file, label, first_line(node), node.end_lineno or node.lineno, False, names)


def bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds in its own scope."""
    if isinstance(node, ast.ClassDef | FunctionNode):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in inner.names)


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def new_lines(change: Change, file: str) -> Iterator[tuple[Edit, range]]:
    """Each edit of a file with the lines of the changed file that it put there."""
    shift = 0
    for edit in sorted(e for e in change.edits if e.file == file):
        count = len(split_lines(edit.new))
        yield edit, range(edit.first + shift, edit.first + shift + count)
        shift += count - (edit.last - edit.first + 1)


def owners_of(edit: Edit, lines: range, old: ast.Module, new: ast.Module) -> tuple[Owner, ...]:
    """The units an edit lies in, by their place in the unchanged file; units that the change brings are marked new.

    Args:
        lines: those of the changed file that the edit put there.
    """
    found: dict[str, Owner] = {}
    for line in range(edit.first, edit.last + 1):
        owner = owner_at(edit.file, old, line)
        if owner is not None:
            found[owner.key] = owner
    known = {owner.key: owner for owner in all_owners(edit.file, old)}
    for line in lines:
        owner = owner_at(edit.file, new, line)
        if owner is None:
            continue
        fresh = Owner(owner.file, owner.name, owner.first, owner.last, owner.is_function, owner.binds, new=True)
        found.setdefault(owner.key, known.get(owner.key, fresh))
    return tuple(found.values())


def all_owners(file: str, tree: ast.Module) -> Iterator[Owner]:
    """Every unit of a module."""
    waiting: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    while waiting:
        prefix, body = waiting.pop(0)
        for node in body:
            if isinstance(node, FunctionNode):
                yield Owner(file, prefix + node.name, first_line(node), node.end_lineno or node.lineno)
            elif isinstance(node, ast.ClassDef):
                waiting.append((f"{prefix}{node.name}.", node.body))
            else:
                yield _statement(file, prefix, node)


def owners(change: Change, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[Edit, tuple[Owner, ...]]:
    """The units of every edit of a Python change; an edit that only touches blank lines and comments has none."""
    found: dict[Edit, tuple[Owner, ...]] = {}
    for file in change.files:
        before, after = tree_of(old[file]), tree_of(new[file])
        for edit, lines in new_lines(change, file):
            found[edit] = owners_of(edit, lines, before, after) if before and after else _whole(edit)
    return found


def _whole(edit: Edit) -> tuple[Owner, ...]:
    """Without a syntax tree the file is the unit."""
    return (Owner(edit.file, edit.file, edit.first, max(edit.last, edit.first)),)


def text_of(owner: Owner, sources: Mapping[str, bytes]) -> str:
    """The source of a unit of the unchanged tree."""
    if owner.new:
        return ""
    return "".join(split_lines(decoded(sources.get(owner.file, b"")))[owner.first - 1 : owner.last])


def rough_owners(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> tuple[Owner, ...]:
    """The units of the unchanged tree that any number of edits touch, by their old lines alone."""
    found: dict[str, Owner] = {}
    for edit in edits:
        tree = tree_of(sources[edit.file])
        for line in range(max(edit.first - 1, 1), edit.last + 2) if tree else ():
            owner = owner_at(edit.file, tree, line) if tree else None
            if owner is not None:
                found.setdefault(owner.key, owner)
    return tuple(found.values())
