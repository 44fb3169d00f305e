"""Masks by flow of control: what stops, swallows, empties or fixes a result instead of mending how it is made.

Each rule compares counts in the old and the new module, so what was there before is never held against a change.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from rootproof.experiments.constants import block_environment
from rootproof.experiments.fold import UNKNOWN, Folder

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
STOPS = frozenset(
    {
        "skip", "skipTest", "SkipTest", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "importorskip",
        "exit", "_exit", "quit", "abort", "_Exit", "SystemExit", "KeyboardInterrupt", "Exit", "Skipped", "kill",
        "killpg",
        "raise_signal", "execv", "execve", "set_exit_code",
    }
)  # fmt: skip
"""Names whose call or raise ends or skips the test or the whole process."""
EVERYTHING = ("Exception", "BaseException")


def added_stops(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A call or raise of something that skips or exits, more often than before."""
    before = Counter(name for name, _ in _stops(old))
    for name, line in _stops(new):
        before[name] -= 1
        if before[name] < 0:
            yield line, f"{name} was not called here before"


def _stops(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in STOPS:
                yield name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in STOPS)


def early_returns(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """Statements that can no longer be reached, in a function where all could be before."""
    before = {name: len(list(_dead(node.body))) for name, node in functions(old)}
    for name, node in functions(new):
        dead = list(_dead(node.body))
        if len(dead) > before.get(name, 0):
            yield dead[0], f"what follows in {name} is never reached"


def _dead(body: list[ast.stmt]) -> Iterator[int]:
    """Lines of statements that follow one which always leaves the block, at any depth."""
    for place, node in enumerate(body):
        for block in _inner(node):
            yield from _dead(block)
        if leaves(node):
            yield from (after.lineno for after in body[place + 1 :] if not _is_definition(after))
            return


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.Constant)


def leaves(node: ast.stmt) -> bool:
    """Whether a statement always returns, raises or jumps."""
    if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return True
    if isinstance(node, ast.If):
        return bool(node.orelse) and ends(node.body) and ends(node.orelse)
    if isinstance(node, ast.With | ast.AsyncWith):
        return ends(node.body)
    if isinstance(node, ast.Try):
        return ends(node.finalbody) or (ends(node.orelse or node.body) and all(ends(h.body) for h in node.handlers))
    return False


def ends(body: list[ast.stmt]) -> bool:
    return bool(body) and leaves(body[-1])


def _inner(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def catch_alls(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A handler, ``suppress``, ``finally`` or ``__exit__`` that lets any exception vanish, more than before."""
    yield from _more(list(_catching(old)), list(_catching(new)), "catches everything")


def _catching(tree: ast.Module) -> Iterator[tuple[str, int]]:
    narrow = _narrow_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _catches_all(node.type, narrow):
            yield "except", node.lineno
        elif isinstance(node, ast.Call) and _called(node) == "suppress":
            yield from (("suppress", node.lineno) for arg in node.args if _catches_all(arg, narrow))
        elif isinstance(node, ast.Try):
            yield from (
                ("finally", s.lineno) for s in node.finalbody if isinstance(s, ast.Return | ast.Break | ast.Continue)
            )
        elif isinstance(node, FunctionNode) and node.name in ("__exit__", "__aexit__"):
            yield from (("__exit__", r.lineno) for r in returns(node) if _truthy(r.value))


def _truthy(node: ast.expr | None) -> bool:
    value = Folder().value(node)
    return value is UNKNOWN or bool(value)


def _narrow_names(tree: ast.Module) -> frozenset[str]:
    """Names of the module that certainly stand for no catch-all: imported, or classes of its own."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(
                (alias.asname or alias.name).split(".")[0] for alias in node.names if alias.name not in EVERYTHING
            )
    assigned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(names - assigned)


def _catches_all(node: ast.expr | None, narrow: frozenset[str]) -> bool:
    """True for nothing, ``Exception``, ``BaseException``, and for an expression that could hide one of them."""
    if node is None:
        return True
    if isinstance(node, ast.Tuple):
        return any(_catches_all(item, narrow) for item in node.elts)
    if isinstance(node, ast.Name):
        known = node.id in narrow or (node.id not in EVERYTHING and _is_builtin_error(node.id))
        return not known
    return not (
        isinstance(node, ast.Attribute)
        and node.attr not in EVERYTHING
        and isinstance(node.value, ast.Name | ast.Attribute)
    )


def _is_builtin_error(name: str) -> bool:
    import builtins

    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def empty_handlers(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A handler that does nothing but pass, go on or give a constant, more of them than before."""
    yield from _more(list(_empty(old)), list(_empty(new)), "handles nothing")


def _empty(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and all(_does_nothing(s) for s in node.body):
            yield "except", node.lineno
        elif isinstance(node, ast.Call) and _called(node) == "suppress":
            yield "suppress", node.lineno


def _does_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass | ast.Continue | ast.Break):
        return True
    if isinstance(node, ast.Expr | ast.Return | ast.Assign | ast.AnnAssign):
        return Folder().value(node.value) is not UNKNOWN or _is_dots(node.value)
    return False


def _is_dots(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def constant_conditions(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A condition that no longer depends on anything, more of them than before."""
    yield from _more(list(_fixed(old)), list(_fixed(new)), "is always the same")


def _fixed(tree: ast.Module) -> Iterator[tuple[str, int]]:
    env = block_environment(tree.body)
    for node in ast.walk(tree):
        for test in _conditions(node):
            value = Folder(dict(env)).value(test)
            if value is not UNKNOWN:
                yield f"a condition ({bool(value)})", test.lineno


def _conditions(node: ast.AST) -> Iterable[ast.expr]:
    if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
        return () if any(isinstance(n, ast.Break | ast.Return | ast.Raise) for n in ast.walk(node)) else (node.test,)
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        return (node.test, *_clauses(node.test))
    if isinstance(node, ast.comprehension):
        return node.ifs
    if isinstance(node, ast.match_case):
        return (node.guard,) if node.guard else ()
    return ()


def _clauses(test: ast.expr) -> Iterator[ast.expr]:
    for inner in ast.walk(test):
        if isinstance(inner, ast.BoolOp):
            yield from (v for v in inner.values if isinstance(v, ast.Constant | ast.Compare))


def _more(before: list[tuple[str, int]], after: list[tuple[str, int]], words: str) -> Iterator[tuple[int, str]]:
    if len(after) > len(before):
        known = Counter(name for name, _ in before)
        for name, line in after:
            known[name] -= 1
            if known[name] < 0:
                yield line, f"{name} {words}"
                return
        yield after[-1][1], f"{after[-1][0]} {words}"


def functions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode]]:
    """Every function with its qualified name; of several with one name, numbered."""
    seen: Counter[str] = Counter()
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, parent = waiting.pop(0)
        for node in ast.iter_child_nodes(parent):
            name = prefix
            if isinstance(node, FunctionNode | ast.ClassDef):
                name = f"{prefix}{node.name}."
            if isinstance(node, FunctionNode):
                seen[name] += 1
                yield name[:-1] + (f"#{seen[name]}" if seen[name] > 1 else ""), node
            waiting.append((name, node))


def own_nodes(node: FunctionNode) -> Iterator[ast.AST]:
    """Everything inside a function, without functions and classes inside it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        inner = waiting.pop(0)
        yield inner
        if not isinstance(inner, FunctionNode | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(inner))


def returns(node: FunctionNode) -> Iterator[ast.Return]:
    return (inner for inner in own_nodes(node) if isinstance(inner, ast.Return))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
