"""What is known of a target before any change is tried: that it fails, how, and what runs. Made once a run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from rootproof.contract import file_of
from rootproof.experiments.cold import Cold, Site, Wanted
from rootproof.experiments.masks import tree_of
from rootproof.experiments.owners import owner_at
from rootproof.experiments.record import Run
from rootproof.experiments.trace import Trace
from rootproof.experiments.watching import traced
from rootproof.runners.interface import Failure

FAILED_COMPARISON = ("AssertionError", "Failed")
"""Exception types that say that an expectation did not hold; ``pytest.raises`` and ``fail`` raise ``Failed``."""


@dataclass(frozen=True)
class Baseline:
    """The target's reproduction and trace."""

    target: str
    tree: str
    """Digest of the tree it was made on; for another tree it is worth nothing."""
    runs: tuple[Run, ...]
    signature: str = ""
    failure: Failure | None = None
    trace: Trace | None = None
    passing: tuple[str, ...] = ()
    """Tests of the target's file that passed in the run in file order: the neighbours where there is no trace."""

    @property
    def operands(self) -> tuple[tuple[str, Any], ...]:
        if self.failure is None:
            return ()
        sides = (self.failure.expected, self.failure.actual)
        return tuple((side.by, side.value) for side in sides if side is not None)

    @property
    def raised(self) -> bool:
        return self.failure is None or self.failure.exception not in FAILED_COMPARISON

    @property
    def failing(self) -> tuple[str, int]:
        return (self.failure.path, self.failure.line) if self.failure else ("", 0)

    @property
    def cold_seconds(self) -> float:
        """The measured cold run: the dearest of the runs of the target alone."""
        return max((run.seconds for run in self.runs if run.variant == "alone"), default=1.0)

    @property
    def fails(self) -> bool:
        return all(run.failed(self.target, self.signature) for run in self.runs)


def measure(cold: Cold, target: str, tree: str, *, covered: bool, lent: Trace | None = None) -> Baseline:
    """Run the target alone, alone under another hash seed, and in file order; trace it where the language has a trace.

    Nothing is traced where the failure does not reproduce. The run in file order is timed apart: in a file of many
    hundreds of tests it says nothing of what a run of the target alone costs.

    Args:
        lent: a trace of the target that was already made on this tree.
    """
    file = file_of(target)
    alone = [Wanted("reproduce", "alone", (target,), seed=seed) for seed in (0, 1)]
    in_order = Wanted("reproduce", "file_order", (file,), told=(target,))
    runs = (*cold.run_all([(each, {}) for each in alone]), cold.run(in_order))
    told = cold.failures.get((runs[0].number, target))
    outcome = runs[0].outcome(target)
    beside = [(test, result) for (number, test), result in cold.failures.items() if number == runs[2].number]
    base = Baseline(
        target,
        tree,
        runs,
        outcome.signature if outcome else "",
        told.failure if told else None,
        passing=tuple(test for test, result in beside if result.status == "passed" and test != target),
    )
    if not covered or not base.fails:
        return base
    return replace(base, trace=lent or traced(cold.site, cold.meter, target))


def earlier_assertions(trace: Trace, functions: frozenset[tuple[str, str]], site: Site) -> bool:
    """Whether an assertion of the target before the failing one came after a run of a changed function.

    Args:
        functions: (file, qualified name) of the changed functions.
    """
    file = trace.target.split("::", 1)[0]
    name = trace.target.partition("[")[0].rsplit("::", 1)[-1]
    tree = tree_of(site.read(file))
    if tree is None:
        return False
    own = {path: parsed for path in {path for path, _ in functions} if (parsed := tree_of(site.read(path)))}
    first: float = float("inf")
    for (path, line), (began, _, _) in trace.story.lines.items():
        owner = owner_at(path, own[path], line) if path in own else None
        if owner is not None and (path, owner.name) in functions and line > owner.first:
            first = min(first, began)
    return any(
        began > first
        for (path, line), (began, _, _) in trace.story.lines.items()
        if path == file and line in _assertions_before(tree, name, _failing_line(trace, file))
    )


def _failing_line(trace: Trace, file: str) -> int:
    frames = trace.failure.frames if trace.failure else ()
    return next((line for path, line, *_ in frames if path == file), 0)


def _assertions_before(tree: ast.Module, function: str, line: int) -> frozenset[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assert) or (isinstance(inner, ast.Expr) and _is_assertion_call(inner)):
                    found.add(inner.lineno)
    return frozenset(n for n in found if n < line)


def _is_assertion_call(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and "assert" in ast.unparse(node.value.func).lower()
