"""Every constant value that a piece of code computes: a walk over its statements with what is known of its names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from rootproof.experiments.fold import CHANGING, UNKNOWN, Env, Folder, tried
from rootproof.experiments.literal import key


def constants(tree: ast.AST, env: Mapping[str, Any] | None = None) -> dict[object, Any]:
    """Key → value of everything constant that is computed anywhere in a piece of code, whole values and parts."""
    found: dict[object, Any] = {}
    body = getattr(tree, "body", None)
    start: Env = dict(env or {})
    _block(body if isinstance(body, list) else [tree], start, found)
    return found


def block_environment(body: list[ast.stmt]) -> Env:
    """The names that are constant after a straight run of statements."""
    env: Env = {}
    _block(list(body), env, None)
    return env


def _block(body: list[Any], env: Env, found: dict[object, Any] | None) -> None:
    for node in body:
        _statement(node, env, found)


def _statement(node: ast.AST, env: Env, found: dict[object, Any] | None) -> None:
    """``found`` is None where only the names matter: noting every value is most of the work."""
    if found is not None:
        _note_own(node, env, found)
    _assign(node, env, {} if found is None else found)
    inner = [
        child
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    if not inner:
        return
    scope = dict(env)
    changed = set(_assigned(node))
    if isinstance(node, ast.For | ast.While | ast.AsyncFor | ast.FunctionDef | ast.AsyncFunctionDef):
        for name in changed:
            scope.pop(name, None)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                scope.pop(argument.arg, None)
    for block in _blocks(node):
        _block(block, dict(scope), found)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for name in changed:
            env.pop(name, None)


def _note_own(node: ast.AST, env: Env, found: dict[object, Any]) -> None:
    """The constants of a statement without those inside it."""
    own = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    for child in own if isinstance(node, ast.stmt) else [node]:
        _note(child, env, found)


def _blocks(node: ast.AST) -> Iterator[list[Any]]:
    for name in ("body", "orelse", "finalbody"):
        if isinstance(getattr(node, name, None), list):
            yield getattr(node, name)
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _note(node: ast.AST, env: Env, found: dict[object, Any]) -> None:
    """Every constant expression in one piece, whole and in parts."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.expr) and not isinstance(getattr(inner, "ctx", None), ast.Store):
            value = Folder(dict(env)).value(inner)
            if value is not UNKNOWN:
                found[key(value)] = value


def _assign(node: ast.AST, env: Env, found: dict[object, Any]) -> None:
    if isinstance(node, ast.Assign):
        value = Folder(dict(env)).value(node.value)
        for target in node.targets:
            _bind(target, value, env)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        _bind(node.target, Folder(dict(env)).value(node.value), env)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        whole = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        value = Folder(dict(env)).value(whole)
        _bind(node.target, value, env)
        if value is not UNKNOWN:
            found[key(value)] = value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        _changed_in_place(node.value, env, found)


def _changed_in_place(call: ast.Call, env: Env, found: dict[object, Any]) -> None:
    """``parts.append(4)`` on a known list: known again."""
    if not (isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)):
        return
    name, method = call.func.value.id, call.func.attr
    if name not in env or method not in CHANGING:
        return
    args = [Folder(dict(env)).value(arg) for arg in call.args]
    before = env[name]
    if UNKNOWN in args or not isinstance(before, list | dict | set):
        env.pop(name)
        return
    after = before.copy()
    if tried(lambda: getattr(after, method)(*args) or True) is UNKNOWN:
        env.pop(name)
        return
    env[name] = after
    found[key(after)] = after


def _bind(target: ast.expr, value: Any, env: Env) -> None:
    if isinstance(target, ast.Name | ast.Attribute):
        name = ast.unparse(target)
        env.pop(name, None)
        if value is not UNKNOWN:
            env[name] = value
    elif isinstance(target, ast.Tuple | ast.List):
        parts = list(value) if isinstance(value, list | tuple | str) else []
        for place, inner in enumerate(target.elts):
            _bind(inner, parts[place] if len(parts) == len(target.elts) else UNKNOWN, env)


def _assigned(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name | ast.Attribute) and isinstance(inner.ctx, ast.Store | ast.Del):
            yield ast.unparse(inner)
