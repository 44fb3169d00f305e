"""Spectrum-based ranking: statements by how much they run in the failing test and how little in passing ones.

Formulas as in Wong et al., "A Survey on Software Fault Localization", IEEE TSE 42(8), 2016. Ties are mean ranks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import TypeVar

from rootproof.experiments.sources import Sources, Statement
from rootproof.experiments.trace import Lines, Trace

K = TypeVar("K", bound=Hashable)
TEST_FOLDERS = frozenset({"test", "tests", "testing", "testsuite", "testsuites"})
NO_SUSPECTS = frozenset(
    {
        "FunctionDef",
        "AsyncFunctionDef",
        "ClassDef",
        "Import",
        "ImportFrom",
        "Global",
        "Nonlocal",
        "Pass",
        "Try",
        "TryStar",
    }
)
"""Statements that run but decide nothing; a docstring is one more."""


@dataclass(frozen=True)
class Counts:
    """How often one element ran: in ``ef`` of ``failed`` failing and in ``ep`` of ``passed`` passing tests.

    The numbers of passing tests may be weighted, so they need not be whole.
    """

    ef: float
    failed: float
    ep: float
    passed: float


def ochiai(c: Counts) -> float:
    return c.ef / math.sqrt(c.failed * (c.ef + c.ep)) if c.ef else 0.0


def tarantula(c: Counts) -> float:
    if not c.ef:
        return 0.0
    failing = c.ef / c.failed
    return failing / (failing + (c.ep / c.passed if c.passed else 0.0))


def dstar(c: Counts) -> float:
    """D* with exponent 2; infinite where nothing but failing tests runs the element, and all of them do."""
    below = c.ep + c.failed - c.ef
    return math.inf if c.ef and not below else c.ef**2 / below if below else 0.0


def op2(c: Counts) -> float:
    return c.ef - c.ep / (c.passed + 1)


FORMULAS: Mapping[str, Callable[[Counts], float]] = {
    "ochiai": ochiai,
    "tarantula": tarantula,
    "dstar": dstar,
    "op2": op2,
}


def mean_ranks(scores: Mapping[K, float]) -> dict[K, float]:
    """Rank of every key, best score first; equal scores share the mean of the ranks they take up."""
    sizes = Counter(scores.values())
    rank: dict[float, float] = {}
    above = 0
    for score in sorted(sizes, reverse=True):
        rank[score] = above + (sizes[score] + 1) / 2
        above += sizes[score]
    return {key: rank[score] for key, score in scores.items()}


def is_test_file(file: str) -> bool:
    """Whether a root-relative path is a test, a fixture or a test package, by the usual names."""
    path = PurePosixPath(file)
    named = path.stem.startswith("test_") or path.stem.endswith("_test") or path.name in ("conftest.py", "tests.py")
    return named or any(part in TEST_FOLDERS for part in path.parts[:-1])


def is_suspect(statement: Statement, sources: Sources) -> bool:
    """Whether a statement can be a suspect at all."""
    if statement.kind in NO_SUSPECTS:
        return False
    module = sources.module(statement.file)
    node = module.statement_nodes.get(statement.first) if module else None
    is_docstring = statement.kind == "Expr" and type(getattr(node, "value", None)).__name__ == "Constant"
    return not is_docstring


def statements_of(lines: Lines, sources: Sources) -> dict[tuple[str, int], Statement]:
    """The project's own statements, tests apart, that these lines belong to; those in no function are left out."""
    found: dict[tuple[str, int], Statement] = {}
    for file, numbers in lines.items():
        module = None if is_test_file(file) else sources.module(file)
        if module is None:
            continue
        for number in numbers:
            statement = module.by_line.get(number)
            if statement is not None and module.functions[statement.function].is_function:
                found[statement.key] = statement
    return found


@dataclass(frozen=True)
class Spectrum:
    """The failing test's statements and the passing tests that run them."""

    failing: Mapping[tuple[str, int], Statement]
    """Suspects that ran in the target's set-up or call."""
    ran: Mapping[tuple[str, int], Statement]
    """The same with statements that cannot be suspects."""
    passing: tuple[tuple[str, frozenset[tuple[str, int]]], ...]
    """(test id, statements) of every passing neighbour."""
    nearness: tuple[float, ...]
    """Of each passing neighbour: Jaccard similarity of its statements and the target's, 0 to 1."""

    def counts(self, key: tuple[str, int], weights: tuple[float, ...] | None = None) -> Counts:
        used = weights or (1.0,) * len(self.passing)
        ep = sum(weight for weight, (_, ran) in zip(used, self.passing, strict=True) if key in ran)
        return Counts(float(key in self.failing), 1.0, ep, sum(used))

    def nearest(self) -> tuple[str, ...]:
        """Ids of all passing tests, the nearest to the target first."""
        return tuple(self.passing[i][0] for i in self._order)

    @cached_property
    def _order(self) -> list[int]:
        """Places in ``passing``, the nearest first."""
        return sorted(range(len(self.passing)), key=lambda i: (-self.nearness[i], i))

    def neighbours_of(self, keys: frozenset[tuple[str, int]]) -> tuple[str, ...]:
        """Ids of the passing tests that run any of these statements.

        Tests that run different ones of them take turns, the nearest to the target first within each kind: forty
        tests of one path say less than one test of each path.
        """
        kinds: dict[frozenset[tuple[str, int]], list[int]] = {}
        for i in self._order:
            ran = keys & self.passing[i][1]
            if ran:
                kinds.setdefault(ran, []).append(i)
        turns = zip_longest(*kinds.values())
        return tuple(self.passing[i][0] for turn in turns for i in turn if i is not None)


def spectrum(trace: Trace, sources: Sources) -> Spectrum:
    """Fold a trace to statements. Failing, skipped and unfinished neighbours say nothing and are left out."""
    ran = statements_of(trace.lines, sources)
    failing = {key: statement for key, statement in ran.items() if is_suspect(statement, sources)}
    passing = [
        (run.test, frozenset(statements_of(run.lines, sources)))
        for run in trace.runs
        if run.status == "passed" and run.test != trace.target
    ]
    whole = frozenset(ran)
    nearness = tuple(len(whole & keys) / (len(whole | keys) or 1) for _, keys in passing)
    return Spectrum(failing, ran, tuple(passing), nearness)


def plain_ochiai(found: Spectrum) -> tuple[dict[tuple[str, int], float], dict[tuple[str, str], float]]:
    """The textbook ranking to be measured against: statements, and functions by the tests that enter them."""
    statements = {key: ochiai(found.counts(key)) for key in found.failing}
    entered: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for key, statement in found.failing.items():
        entered.setdefault((statement.file, statement.function), set()).add(key)
    functions = {}
    for name, keys in entered.items():
        ep = sum(1.0 for _, ran in found.passing if not keys.isdisjoint(ran))
        functions[name] = ochiai(Counts(1.0, 1.0, ep, float(len(found.passing))))
    return statements, functions
