"""Masks by result: a function that gives one constant from now on, or does nothing any more. Such changes only rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rootproof.experiments.constants import block_environment
from rootproof.experiments.fold import UNKNOWN, Folder
from rootproof.experiments.literal import key
from rootproof.experiments.mask_flow import FunctionNode, functions, own_nodes


def constant_returns(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A function all of whose results become one constant."""
    before = {name: _result(node, old) for name, node in functions(old)}
    for name, node in functions(new):
        if name in before and before[name] is UNKNOWN and _result(node, new) is not UNKNOWN:
            yield node.lineno, f"every result of {name} is now the same constant"


def _result(node: FunctionNode, tree: ast.Module) -> object:
    """The one constant a function always gives, as a key; UNKNOWN where there is none or it gives nothing."""
    env = {**block_environment(tree.body), **_locals(node)}
    values = [n.value for n in own_nodes(node) if isinstance(n, ast.Return | ast.Yield) and n.value is not None]
    found = [Folder(dict(env)).value(value) for value in values]
    if not found or any(value is UNKNOWN for value in found):
        return UNKNOWN
    keys = {key(value) for value in found}
    return keys.pop() if len(keys) == 1 else UNKNOWN


def _locals(node: FunctionNode) -> dict[str, Any]:
    """Local names that are only ever the same constant; parameters and other names are unknown."""
    found: dict[str, Any] = {}
    given = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    for inner in own_nodes(node):
        if not isinstance(inner, ast.Name) or not isinstance(inner.ctx, ast.Store):
            continue
        values = [Folder().value(a.value) for a in own_nodes(node) if isinstance(a, ast.Assign) and _names(a, inner.id)]
        stores = sum(
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == inner.id for n in own_nodes(node)
        )
        same = len({key(v) for v in values}) == 1 and UNKNOWN not in values and stores == len(values)
        found[inner.id] = values[0] if same and inner.id not in given else UNKNOWN
    return {**dict.fromkeys(given, UNKNOWN), **found}


def _names(node: ast.Assign, name: str) -> bool:
    return any(isinstance(t, ast.Name) and t.id == name for t in node.targets)


def emptied(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A function that had a body and now does nothing, or only raises."""
    before = {name: _is_hollow(node) for name, node in functions(old)}
    for name, node in functions(new):
        if before.get(name) is False and _is_hollow(node):
            yield node.lineno, f"{name} does nothing any more"
    after = {name for name, _ in functions(new)}
    if len(after) < len(before):
        yield from ((1, f"{name} is gone") for name in sorted(set(before) - after) if not before[name])


def _is_hollow(node: FunctionNode) -> bool:
    for inner in node.body:
        if isinstance(inner, ast.Pass | ast.Raise) or (isinstance(inner, ast.Return) and inner.value is None):
            continue
        if not (isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)):
            return False
    return True
