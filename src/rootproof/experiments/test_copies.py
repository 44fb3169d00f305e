"""Copies of a failing test in its own file: under another name, and with the failing assertion turned round.

Built on the syntax tree; the original test stays as it is, so a copy shares its module, class, fixtures and marks.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rootproof.experiments.change import Change, Edit, Refused, decoded, leading, split_lines
from rootproof.experiments.masks import tree_of

RENAMED = "test_copied_under_another_name"
NEGATED = "test_with_the_assertion_negated"
ALTERED = "test_with_another_value_expected"
MARK = "the control was reached"
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Copy:
    """One copy of the test: the edit that adds it, and its id."""

    edit: Edit
    test: str
    marked: bool = True
    """The failure must carry :data:`MARK`; False: any failure of the call phase will do."""


@dataclass(frozen=True)
class _Found:
    node: FunctionNode
    lines: list[str]
    file: str
    test: str

    def added(self, node: FunctionNode, name: str, marked: bool) -> Copy:
        node.name = name
        ast.fix_missing_locations(node)
        indent = leading(self.lines[self.node.lineno - 1])
        end = self.node.end_lineno or self.node.lineno
        last = self.lines[end - 1] if end <= len(self.lines) else "\n"
        break_first = "" if last.endswith("\n") else "\n"
        text = break_first + "\n" + textwrap.indent(ast.unparse(node), indent) + "\n"
        head, _, parameters = self.test.partition("[")
        renamed = head.rsplit("::", 1)[0] + "::" + name + (f"[{parameters}" if parameters else "")
        if break_first:
            return Copy(Edit(self.file, end, end, last, last + text, "copy"), renamed, marked)
        return Copy(Edit(self.file, end + 1, end, "", text, "copy"), renamed, marked)


def _find(test: str, data: bytes) -> _Found | None:
    """The function of a test id ``file::Class::function[parameters]``, in its own file only."""
    file, *names = test.partition("[")[0].split("::")
    tree = tree_of(data)
    if tree is None or not names:
        return None
    body = tree.body
    for name in names[:-1]:
        owner = next((n for n in body if isinstance(n, ast.ClassDef) and n.name == name), None)
        if owner is None:
            return None
        body = owner.body
    found = [n for n in body if isinstance(n, FunctionNode) and n.name == names[-1]]
    return _Found(found[-1], split_lines(decoded(data)), file, test) if found else None


def renamed(test: str, data: bytes) -> Copy | None:
    """The same test under another name."""
    found = _find(test, data)
    return _usable(found.added(copy.deepcopy(found.node), RENAMED, False), data) if found else None


def turned(test: str, data: bytes, line: int, *, raised: bool) -> tuple[Copy, ...]:
    """The copies that must fail with the change in place; empty where none can be made.

    Args:
        line: the failing line; an assertion there is turned round.
        raised: the failure was an exception, or lies in a helper: then the end of the body must be reached.
    """
    found = _find(test, data)
    if found is None:
        return ()
    made: list[Copy | None] = []
    if not raised:
        made = [_rewritten(found, data, line, NEGATED), _rewritten(found, data, line, ALTERED)]
    usable = tuple(c for c in made if c is not None)
    if usable:
        return usable[:1] if usable[0].edit.old else usable
    node = copy.deepcopy(found.node)
    node.body.append(_raise())
    end = _usable(found.added(node, NEGATED, True), data)
    return (end,) if end else ()


def _usable(made: Copy, data: bytes) -> Copy | None:
    changed = Change((made.edit,)).apply({made.edit.file: data})
    if isinstance(changed, Refused) or tree_of(changed[made.edit.file]) is None:
        return None
    return made


def _rewritten(found: _Found, data: bytes, line: int, name: str) -> Copy | None:
    node = copy.deepcopy(found.node)
    for block, place in _statements(node):
        statement = block[place]
        if not statement.lineno <= line <= (statement.end_lineno or statement.lineno) or _holds_more(statement, line):
            continue
        new, marked = _turned_round(statement, altered=name == ALTERED)
        if new is None:
            return None
        block[place] = new
        # What a comparison makes of a foreign value is its own affair; that it was reached, the negated copy shows.
        return _usable(found.added(node, name, marked and name == NEGATED), data)
    return None


def _statements(node: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    for inner in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(inner, name, None)
            if isinstance(block, list):
                yield from ((block, place) for place in range(len(block)) if isinstance(block[place], ast.stmt))


def _holds_more(statement: ast.stmt, line: int) -> bool:
    """A compound statement around the failing line is not what failed, save a ``with`` that expects an exception."""
    if isinstance(statement, ast.With) and _raises_call(statement) is not None:
        return False
    return isinstance(
        statement, ast.For | ast.While | ast.If | ast.With | ast.Try | FunctionNode | ast.AsyncWith | ast.AsyncFor
    )


def _turned_round(statement: ast.stmt, *, altered: bool) -> tuple[ast.stmt | None, bool]:
    if isinstance(statement, ast.Assert):
        return (_altered(statement) if altered else _negated(statement)), True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        if altered:
            return None, True
        return _must_fail(statement), True
    if isinstance(statement, ast.With) and not altered:
        call = _raises_call(statement)
        if call is not None and call.args:
            call.args[0] = ast.parse("type('Another', (Exception,), {})", mode="eval").body
            return statement, False
    return None, True


def _negated(statement: ast.Assert) -> ast.stmt:
    statement.test = ast.UnaryOp(ast.Not(), statement.test)
    statement.msg = ast.Constant(MARK)
    return statement


def _altered(statement: ast.Assert) -> ast.stmt | None:
    """``assert a == b`` with a value in b's place that equals nothing but itself."""
    test = statement.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is)):
        return None
    test.comparators[0] = ast.parse("object()", mode="eval").body
    statement.msg = ast.Constant(MARK)
    return statement


def _must_fail(statement: ast.stmt) -> ast.stmt:
    """An assertion call that raises is fine; one that holds is the failure that is wanted."""
    return ast.Try(
        body=[statement],
        handlers=[ast.ExceptHandler(type=ast.Name("AssertionError", ast.Load()), name=None, body=[ast.Pass()])],
        orelse=[_raise()],
        finalbody=[],
    )


def _raise() -> ast.stmt:
    return ast.Raise(exc=ast.Call(ast.Name("AssertionError", ast.Load()), [ast.Constant(MARK)], []), cause=None)


def _raises_call(statement: ast.With) -> ast.Call | None:
    for item in statement.items:
        call = item.context_expr
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in ("raises", "assertRaises", "assertRaisesRegex"):
                return call
    return None
