"""Guards: leave before a statement, do without it, or take an empty value, where there is nothing to go on with.

The null checker of PAR (Kim et al. 2013) and TBar (Liu et al. 2019), with the ways out that the function has already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rootproof.experiments.operators.rewrite import Rewrite, replace, short, text_of
from rootproof.experiments.operators.vocabulary import Scope
from rootproof.experiments.sources import FunctionNode, Module, Statement

EMPTY = ("''", "None", "0", "[]", "{}")
SELF = frozenset(("self", "cls"))
TAKEN, HANDED = 4, 3
"""How many values of a statement are guarded: those that it takes apart or names, and those that it hands on."""
LONGEST = 40


def guard(module: Module, statement: Statement, node: ast.stmt, scope: Scope) -> Iterator[Rewrite]:
    """Leave before this statement where something that it takes apart, names, or hands to a call is None, or empty."""
    row = module.lines[node.lineno - 1]
    if row[: node.col_offset].strip() or not module.functions[statement.function].is_function:
        return
    if module.parents.get(statement.first, 0) and module.lines[statement.first - 1].lstrip().startswith("elif"):
        return
    indent, where = row[: node.col_offset], (node.lineno, 0)
    ways = [*(["continue"] if _in_loop(module, statement) else []), *_returns(module, statement)]
    taken, handed = _subjects(node, scope)
    for subject, cost in (*((text, 3.0) for text in taken[:TAKEN]), *((text, 3.5) for text in handed[:HANDED])):
        for way in ways:
            for test in (f"{subject} is None", f"not {subject}"):
                text = f"{indent}if {test}:\n{indent}    {way}\n"
                yield Rewrite(where, where, text, "guard", f"{way} where {test}", cost)
        for test in (f"{subject} is not None", subject) if _binds_nothing(node) else ():
            text = f"if {test}:\n{indent}    {text_of(module, node)}"
            yield replace(node, text, "guard", f"{short(text_of(module, node))} only where {test}", cost + 0.25)


def _binds_nothing(node: ast.stmt) -> bool:
    """Whether a function can do without the statement: no name is bound by it, and it is one call or assignment."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return called or (bool(targets) and all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets))


def _in_loop(module: Module, statement: Statement) -> bool:
    """Whether a loop of the same function holds the statement, however deep."""
    line = module.parents.get(statement.first, 0)
    while line and not isinstance(node := module.statement_nodes[line], FunctionNode | ast.ClassDef):
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return True
        line = module.parents.get(line, 0)
    return False


def _subjects(node: ast.stmt, scope: Scope) -> tuple[list[str], list[str]]:
    """What the statement's header takes apart, then its other names of the function; and what it hands to a call."""
    strong: list[str] = []
    weak: list[str] = []
    handed: list[str] = []
    header = [part for child in _header(node) for part in ast.walk(child)]
    known = {*scope.locals, *SELF} - {name for part in header for name in _bound_by(part)}
    for part in header:
        if isinstance(part, ast.Attribute | ast.Subscript) and _root(part) in known:
            strong.append(ast.unparse(part.value))
        elif isinstance(part, ast.Name) and part.id in known and isinstance(part.ctx, ast.Load):
            weak.append(part.id)
        elif isinstance(part, ast.Call):
            given = [*part.args, *(keyword.value for keyword in part.keywords)]
            handed += [ast.unparse(value) for value in given if _root(value) in known]
    taken = [text for text in dict.fromkeys([*strong, *weak]) if text not in SELF and len(text) < LONGEST]
    return taken, [text for text in dict.fromkeys(handed) if text not in {*taken, *SELF} and len(text) < LONGEST]


def _header(node: ast.stmt) -> list[ast.AST]:
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt | ast.ExceptHandler)]


def _bound_by(part: ast.AST) -> list[str]:
    """Names that a comprehension or a lambda binds: before the statement nothing has them."""
    if isinstance(part, ast.comprehension):
        return [name.id for name in ast.walk(part.target) if isinstance(name, ast.Name)]
    if isinstance(part, ast.Lambda):
        return [argument.arg for argument in ast.walk(part.args) if isinstance(argument, ast.arg)]
    return []


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes and items begins with; empty where it begins with something else."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _returns(module: Module, statement: Statement) -> list[str]:
    """Ways out that the function already has, and a bare one."""
    node = module.nodes.get(statement.function)
    ways = ["return"]
    for part in ast.walk(node) if isinstance(node, FunctionNode) else ():
        if isinstance(part, ast.Return) and part.value is not None and len(text := ast.unparse(part)) < 50:
            ways.append(text)
    ways += [f"return {a.arg}" for a in (node.args.args if node else []) if a.arg not in SELF][:2]
    return list(dict.fromkeys(ways))[:4]


def guarded(module: Module, node: ast.AST, parent: ast.AST, scope: Scope) -> Iterator[Rewrite]:
    """What is taken of a value, only where there is one; else an empty value."""
    inner = node.func if isinstance(node, ast.Call) else node
    goes_on = isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is node
    if goes_on or (isinstance(parent, ast.Call) and parent.func is node):
        return
    if not isinstance(inner, ast.Attribute | ast.Subscript) or not isinstance(inner.ctx, ast.Load):
        return
    text = text_of(module, node)
    for base in _bases(inner.value, {*scope.locals, *SELF}) if "\n" not in text else ():
        subject = text_of(module, base)
        for cost, empty in enumerate(EMPTY):
            note = f"{empty} instead of {short(text)} where {short(subject)} is empty"
            yield replace(node, f"({text} if {subject} else {empty})", "guard_value", note, 3 + cost / 4)


def _bases(node: ast.expr, known: set[str]) -> list[ast.expr]:
    """What a chain of attributes and items is taken of, the last link first: ``a.b`` and ``a`` of ``a.b.c``."""
    if _root(node) not in known:
        return []
    found: list[ast.expr] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        found.append(node)
        node = node.value
    return [*found, *([node] if _root(node) not in SELF else [])][:2]
