"""The host side of the mutant engine: which changes to try in what order, and what became of them.

What comes back are observations. A clean flip says where to look; only cold runs confirm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.sources import FunctionNode, Module, Sources
from rootproof.experiments.trace import Failure, Subject, Trace, engine_command, read_failure, records
from rootproof.sandbox.interface import Command, Completed, Limits

ENOUGH = 3
"""Kept neighbours beyond which more of them do not make a flip better."""


@dataclass(frozen=True)
class Mutant:
    """One change to be tried, with the tests that must keep passing."""

    change: Change
    function: str
    """``file::qualified name`` of the function the change is counted for."""
    neighbours: tuple[str, ...] = ()
    """Passing tests that run that function, the nearest first."""
    at_import: bool = False
    """The changed code ran while the tests were collected, so that only a fresh process shows its effect."""
    live_only: bool = False
    """Not worth a fresh process: where it cannot be put into a live one it is not tried."""


@dataclass(frozen=True)
class MutantLimits:
    """Bounds of one search."""

    seconds: float = 120.0
    cpu_seconds: float = 60.0
    """Of the children together."""
    jobs: int = 1
    stop_flips: int = 3
    """Stop at so many clean flips in one function ..."""
    stop_functions: int = 2
    """... or at clean flips in so many functions ..."""
    patience: int = 60
    """... or when so many more changes after the first clean flip brought nothing to stop at."""
    target_seconds: float = 60.0
    neighbour_seconds: float = 30.0


@dataclass(frozen=True)
class Flip:
    """A change with which the target passed once, in the engine."""

    change: Change
    function: str
    clean: bool
    """Every neighbour that ran was kept, and all were run."""
    kept: int
    broken: tuple[str, ...]
    how: str
    """``swap``: put into a live process; ``import``: a fresh process."""
    hollow: bool = False
    """A function gives one constant with it."""

    @property
    def unfinished(self) -> bool:
        """No neighbour was broken, and some neighbour's outcome is not known."""
        return not self.clean and not self.broken


@dataclass(frozen=True)
class Verdict:
    """What became of one change."""

    mutant: int
    """Index in the list that was asked for."""
    status: str
    how: str
    same: bool = True
    """The target failed as before."""
    failure: Failure | None = None
    clean: bool = False
    kept: int = 0
    broken: tuple[str, ...] = ()
    why: str = ""
    cpu: float = 0.0


@dataclass(frozen=True)
class Search:
    """The outcome of one request."""

    verdicts: tuple[Verdict, ...]
    flips: tuple[Flip, ...]
    baseline: str
    """Status of the unchanged target in the engine; only ``failed`` and ``error`` make sense of the rest."""
    bare_cpu: float
    """CPU seconds of the target's own unchanged run."""
    collect_seconds: float = 0.0
    mutants_cpu: float = 0.0
    cpu_seconds: float = 0.0
    """Of the whole request, collection and baseline included."""
    patched: int = 0
    """Runs that were spent on value patches, which are no changes to be tried."""
    problem: str = ""
    progress: Mapping[str, float] = field(default_factory=dict)

    @property
    def clean(self) -> tuple[Flip, ...]:
        return tuple(flip for flip in self.flips if flip.clean)

    @property
    def best(self) -> tuple[Flip, ...]:
        """Clean flips first, then those that kept a few neighbours, then by how few broke; else in the order tried.

        A flip that no other test has a say in comes after all that some neighbour speaks for; so does one with which
        a function gives one constant.
        """
        return tuple(sorted(self.flips, key=lambda f: (not f.clean, f.hollow, -min(f.kept, ENOUGH), len(f.broken))))


def mutants_command(
    subject: Subject, trace: Trace, mutants: Sequence[Mutant], sources: Sources, scratch: Path, limits: MutantLimits
) -> Command:
    """Try the mutants in their order; see ``target/mutants.py`` for what happens inside."""
    near = list(dict.fromkeys(test for mutant in mutants for test in mutant.neighbours))
    files = dict.fromkeys(test.split("::")[0] for test in (trace.target, *near))
    request = {
        "kind": "mutants",
        "files": list(files),
        "target": trace.target,
        "neighbours": near,
        "mutants": [_entry(number, mutant, sources) for number, mutant in enumerate(mutants)],
        "jobs": limits.jobs,
        "seconds": limits.seconds,
        "cpu_seconds": limits.cpu_seconds,
        "stop_flips": limits.stop_flips,
        "stop_functions": limits.stop_functions,
        "patience": limits.patience,
        "target_seconds": limits.target_seconds,
        "neighbour_seconds": limits.neighbour_seconds,
    }
    whole = limits.seconds + limits.target_seconds + limits.neighbour_seconds + 60
    bounds = Limits(seconds=whole, cpu_seconds=whole * max(limits.jobs, 1), memory_mb=4096, channel_bytes=32 << 20)
    return engine_command(subject, request, scratch, bounds)


def _entry(number: int, mutant: Mutant, sources: Sources) -> dict[str, Any]:
    blocks = None if mutant.at_import else swap_blocks(mutant.change, sources)
    return {
        "id": number,
        "function": mutant.function,
        "how": "import" if blocks is None else "swap",
        "edits": [[e.file, e.first, e.last, e.new] for e in mutant.change.edits],
        "blocks": blocks or [],
        "neighbours": list(mutant.neighbours),
        "live_only": mutant.live_only,
    }


def swap_blocks(change: Change, sources: Sources) -> list[dict[str, Any]] | None:
    """The outermost functions that hold the edits; None where an edit lies in no function's body."""
    blocks: dict[tuple[str, int], dict[str, Any]] = {}
    for edit in change.edits:
        module = sources.module(edit.file)
        block = _block(module, edit) if module else None
        if block is None:
            return None
        blocks[edit.file, block["def"]] = block
    return list(blocks.values())


def _block(module: Module, edit: Edit) -> dict[str, Any] | None:
    last = max(edit.last, edit.first)
    found = _outermost(module.tree.body, edit.first, last, [])
    if found is None:
        return None
    node, wrap = found
    # An edit of the header may change defaults or decorators, which were evaluated when the def ran.
    if edit.first < node.body[0].lineno and edit.last < node.body[0].lineno and edit.last >= edit.first:
        return None
    if node.col_offset and not wrap:
        wrap = ["if 1:"]
    indent = module.lines[node.lineno - 1][: node.col_offset]
    if indent.strip(" \t") or node.col_offset < len(wrap) or edit.first <= node.lineno:
        return None
    decorators = [d.lineno for d in node.decorator_list]
    return {
        "file": module.file,
        "name": node.name,
        "first": min([node.lineno, *decorators]),
        "def": node.lineno,
        "last": node.end_lineno,
        "wrap": wrap,
    }


def _outermost(
    body: Sequence[ast.stmt], first: int, last: int, wrap: list[str]
) -> tuple[FunctionNode, list[str]] | None:
    for node in body:
        if not node.lineno <= first or not last <= (node.end_lineno or 0):
            continue
        if isinstance(node, FunctionNode):
            return node, wrap
        if isinstance(node, ast.ClassDef):
            return _outermost(node.body, first, last, [*wrap, f"class {node.name}:"])
        for block in _blocks(node):
            found = _outermost(block, first, last, wrap)
            if found is not None:
                return found
    return None


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, None) or []
    for handler in getattr(node, "handlers", ()):
        yield handler.body


def read_search(completed: Completed, mutants: Sequence[Mutant]) -> Search:
    """The outcome out of a completed request. A request that was cut short gives what it had."""
    good, _ = records(completed)
    verdicts = tuple(_verdict(r) for r in good if isinstance(r.get("mutant"), int) and r["mutant"] < len(mutants))
    baseline: Mapping[str, Any] = next((r for r in good if "baseline" in r), {})
    progress: Mapping[str, Any] = next((r for r in reversed(good) if "progress" in r), {})
    problem = (
        "" if baseline else f"the engine did not start: {(completed.stderr.text() + completed.stdout.text())[-800:]}"
    )
    if any("missing" in r for r in good):
        problem = "the target was not collected"
    return Search(
        verdicts=verdicts,
        flips=tuple(_flip(v, mutants[v.mutant]) for v in verdicts if v.status == "passed"),
        baseline=str((baseline.get("baseline") or {}).get("status", "crashed")),
        bare_cpu=float(baseline.get("cpu", 0.0)),
        collect_seconds=next((r["collected_in"] for r in good if "collected_in" in r), 0.0),
        mutants_cpu=sum(v.cpu for v in verdicts),
        cpu_seconds=completed.cpu_seconds,
        problem=problem,
        progress={k: float(v) for k, v in progress.items()},
    )


def _verdict(record: Mapping[str, Any]) -> Verdict:
    return Verdict(
        mutant=record["mutant"],
        status=str(record["status"]),
        how=str(record["how"]),
        same=bool(record.get("same", False)),
        failure=read_failure(record.get("failure")),
        clean=bool(record.get("clean", False)),
        kept=int(record.get("kept", 0)),
        broken=tuple(record.get("broken", ())),
        why=str(record.get("why", "")),
        cpu=float(record["cpu"]),
    )


def _flip(verdict: Verdict, mutant: Mutant) -> Flip:
    return Flip(mutant.change, mutant.function, verdict.clean, verdict.kept, verdict.broken, verdict.how)
