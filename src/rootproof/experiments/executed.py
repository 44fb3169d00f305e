"""Did the edited places run? Judged on the traces of one unchanged and one changed run. Pure.

At least one edited place runs in the unchanged run, during the target's call or set-up; for an inserted statement the
header of its block. Every other edit, and any new function, runs in the changed run, or is a definition, constant or
import that something running there reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rootproof.experiments.change import Edit
from rootproof.experiments.matter import Matter
from rootproof.experiments.owners import Owner, all_owners
from rootproof.experiments.readers import body_lines, node_of
from rootproof.experiments.reads import read_names
from rootproof.experiments.record import Traced
from rootproof.experiments.sources import header_end
from rootproof.experiments.words import reads_name


def not_executed(matter: Matter) -> str:
    """Why the change does not lie where the target runs; empty where it does."""
    before, after = matter.record.trace("unchanged"), matter.record.trace("changed")
    if before is None or after is None:
        return "there is no trace of both runs"
    ran = [edit for edit in matter.edits if runs_unchanged(matter, edit, before)]
    if not ran:
        return "no edited place runs in the unchanged run, during the target's set-up or call"
    for edit in matter.edits:
        if edit not in ran and not runs_changed(matter, edit, after):
            return f"the edit at {edit.file}:{edit.first} does not run, with or without the change"
    for owner in (owner for group in matter.by_edit.values() for owner in group if owner.new and owner.is_function):
        if not _new_function_runs(matter, owner, after):
            return f"the new function {owner.key} does not run in the changed run"
    return ""


def runs_unchanged(matter: Matter, edit: Edit, trace: Traced) -> bool:
    """Whether the place of an edit runs without the change."""
    tree = matter.tree(edit.file)
    if tree is None:
        return False
    ran = trace.ran(edit.file)
    for line in range(edit.first, edit.last + 1):
        if not ran.isdisjoint(_statement_lines(tree, line)):
            return True
    if edit.last < edit.first and _header_runs(matter, edit, ran):
        return True
    return any(_read(matter, owner, trace, new=False) for owner in matter.by_edit.get(edit, ()) if _is_name(owner))


def _is_name(owner: Owner) -> bool:
    return owner.new or not owner.is_function


def runs_changed(matter: Matter, edit: Edit, trace: Traced) -> bool:
    """Whether the text of an edit runs with the change, or binds a name that something running there reads."""
    tree = matter.tree(edit.file, new=True)
    if tree is None:
        return False
    ran = trace.ran(edit.file)
    if any(not ran.isdisjoint(_statement_lines(tree, line)) for line in matter.edit_lines[edit]):
        return True
    if not edit.new.strip():
        return True
    return any(_read(matter, owner, trace, new=True) for owner in matter.by_edit.get(edit, ()) if _is_name(owner))


def _statement_lines(tree: ast.Module, line: int) -> range:
    """Lines of the innermost statement around a line; of a compound one the header."""
    best = range(line, line)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        end = header_end(node) if hasattr(node, "body") else (node.end_lineno or node.lineno)
        if node.lineno <= line <= end and (not best or len(range(node.lineno, end + 1)) <= len(best)):
            best = range(node.lineno, end + 1)
    return best


def _header_runs(matter: Matter, edit: Edit, ran: frozenset[int]) -> bool:
    """For a pure insertion: the header of its block runs; for a function's own block, the function does."""
    tree = matter.tree(edit.file, new=True)
    old = matter.tree(edit.file)
    if tree is None or old is None:
        return False
    shift = matter.edit_lines[edit].start - edit.first
    for line in matter.edit_lines[edit]:
        parent = _parent(tree, line)
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return any(not ran.isdisjoint(body_lines(o, old)) for o in matter.by_edit.get(edit, ()) if not o.new)
        if parent is not None and not isinstance(parent, ast.ClassDef):
            return parent.lineno - shift in ran
    return False


def _parent(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost compound statement whose block holds a statement that begins at this line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        for block in _blocks(node):
            if any(inner.lineno == line for inner in block):
                return node
    return None


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _new_function_runs(matter: Matter, owner: Owner, trace: Traced) -> bool:
    tree = matter.tree(owner.file, new=True)
    if tree is None:
        return False
    fresh = next((o for o in all_owners(owner.file, tree) if o.name == owner.name), None)
    return fresh is not None and not trace.ran(owner.file).isdisjoint(body_lines(fresh, tree))


def _read(matter: Matter, owner: Owner, trace: Traced, *, new: bool) -> bool:
    """Whether a function that the target ran reads one of the names the place binds."""
    names = owner.binds or (owner.name.rsplit(".", 1)[-1],)
    for path, lines in trace.lines:
        tree = matter.tree(path, new=new)
        if tree is None:
            continue
        ran = frozenset(lines)
        for reader in all_owners(path, tree):
            node = node_of(reader, tree) if reader.is_function and reader.key != owner.key else None
            if node is not None and _reaches(node, names) and not ran.isdisjoint(body_lines(reader, tree)):
                return True
    return False


def _reaches(node: ast.AST, names: tuple[str, ...]) -> bool:
    """By name, or as the method that an operator stands for."""
    special = tuple(name for name in names if name.startswith("__"))
    return reads_name(node, names) or (bool(special) and not set(special).isdisjoint(read_names(node)))
