"""Truths no test executes: class attributes and module data, reached through what the failing run reads.

A name or attribute that the failing statements read is looked up among the assignments in class bodies and at
module level of the files that the run imported. An operator reads the methods that Python calls for it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rootproof.experiments.sources import MODULE, Sources, Statement
from rootproof.experiments.spectrum import is_suspect, is_test_file
from rootproof.experiments.trace import Trace

METHODS: Mapping[type[ast.AST], tuple[str, ...]] = {
    ast.Eq: ("__eq__",),
    ast.NotEq: ("__ne__", "__eq__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.In: ("__contains__",),
    ast.NotIn: ("__contains__",),
    ast.Add: ("__add__", "__radd__", "__iadd__"),
    ast.Sub: ("__sub__", "__rsub__", "__isub__"),
    ast.Mult: ("__mul__", "__rmul__", "__imul__"),
    ast.Div: ("__truediv__", "__rtruediv__", "__itruediv__"),
    ast.FloorDiv: ("__floordiv__", "__rfloordiv__", "__ifloordiv__"),
    ast.Mod: ("__mod__", "__rmod__"),
    ast.Pow: ("__pow__", "__rpow__"),
    ast.BitOr: ("__or__", "__ror__", "__ior__"),
    ast.BitAnd: ("__and__", "__rand__"),
    ast.BitXor: ("__xor__", "__rxor__"),
    ast.USub: ("__neg__",),
    ast.Invert: ("__invert__",),
    ast.Subscript: ("__getitem__",),
}
DIRECT = 1.5
"""What the failing statement of the test reads itself counts more than what the code reads on the way ..."""
LATE = 2
"""... and so does what the test's last lines before it read."""
CALLED = {
    "len": "__len__",
    "hash": "__hash__",
    "str": "__str__",
    "repr": "__repr__",
    "bool": "__bool__",
    "iter": "__iter__",
}


def read_names(node: ast.AST) -> Iterator[str]:
    """Names and attributes a statement reads; for an operator the methods behind it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            yield part.attr
        yield from operator_methods(part)


def operator_methods(part: ast.AST) -> Iterator[str]:
    yield from METHODS.get(type(part), ())
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in CALLED:
        yield CALLED[part.func.id]


def header_only(node: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement itself, without the statements inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child


def definitions(files: Iterable[str], sources: Sources) -> dict[str, list[Statement]]:
    """Name → assignments of it in class bodies and at module level, over these files."""
    found: dict[str, list[Statement]] = {}
    for file in files:
        module = None if is_test_file(file) else sources.module(file)
        if module is None:
            continue
        for statement in module.statements:
            if module.functions[statement.function].is_function or not is_suspect(statement, sources):
                continue
            for name in assigned_names(module.statement_nodes[statement.first]):
                found.setdefault(name, []).append(statement)
    return found


def assigned_names(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                yield part.id if isinstance(part, ast.Name) else part.attr


def data_suspects(
    trace: Trace, sources: Sources, scores: Mapping[tuple[str, int], float]
) -> dict[tuple[str, int], tuple[Statement, float, str]]:
    """Assignments outside functions, each with the best score of a statement that reads it, shared among namesakes.

    Keys as in the spectrum; values are (statement, score, the reader in words).
    """
    defined = definitions(trace.imported, sources)
    found: dict[tuple[str, int], tuple[Statement, float, str]] = {}
    for (file, line), score, weight in [*((k, s, 1.0) for k, s in scores.items()), *_test_readers(trace, scores)]:
        module = sources.module(file)
        node = module.statement_nodes.get(line) if module else None
        if node is None:
            continue
        names = Counter(name for part in header_only(node) for name in read_names(part))
        for name in names:
            namesakes = [(statement, _alive(statement, trace, sources)) for statement in defined.get(name, ())]
            shared = max(sum(alive for _, alive in namesakes), 1.0) ** 0.5
            for statement, alive in namesakes:
                value = score * weight * alive / shared
                if statement.key not in found or value > found[statement.key][1]:
                    found[statement.key] = (statement, value, f"{name} is read at {file}:{line}")
    return found


def _alive(statement: Statement, trace: Trace, sources: Sources) -> float:
    """A class attribute counts half where no code of its class ran in the target."""
    module = sources.module(statement.file)
    owner = module.functions[statement.function] if module else None
    if owner is None or owner.name == MODULE:
        return 1.0
    ran = trace.lines.get(statement.file, frozenset())
    return 0.5 if ran.isdisjoint(range(owner.first, owner.last + 1)) else 1.0


def _test_readers(trace: Trace, scores: Mapping[tuple[str, int], float]) -> list[tuple[tuple[str, int], float, float]]:
    """The test's own failing statement reads with more weight, its other statements with less."""
    if not scores or trace.failure is None:
        return []
    best = max(scores.values())
    failing = {(file, line) for file, line, *_ in trace.failure.frames if is_test_file(file)}
    lines = {(file, line) for file, line in trace.story.lines if is_test_file(file)}
    last = max((trace.story.lines.get(key, (0, 0, 0))[1] for key in lines), default=0)
    late = sorted(lines, key=lambda key: trace.story.lines[key][1])[-LATE:] if last else []
    return [(key, best, DIRECT if key in failing or key in late else 0.5) for key in sorted(lines | failing)]
