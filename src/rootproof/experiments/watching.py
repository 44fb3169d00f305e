"""Traced runs: what a target and its neighbours execute, unchanged and changed, by the engine's collector."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from rootproof.contract import file_of
from rootproof.experiments.cold import Meter, Site
from rootproof.experiments.masks import tree_of
from rootproof.experiments.near import near_files
from rootproof.experiments.owners import owner_at
from rootproof.experiments.record import Traced
from rootproof.experiments.trace import Subject, Trace, TraceLimits, read_trace, trace_command
from rootproof.sandbox.interrupt import scratch_folder

MAX_FILES = 60


def traced(
    site: Site, meter: Meter, target: str, changes: Mapping[str, bytes] | None = None, *, beside: bool = True
) -> Trace:
    """One started process that tells the target in full. Never raises for what the tests do.

    Args:
        changes: new content of files, by root-relative path.
        beside: also tell the lines of the tests near to the target.
    """
    tests = near_files(site.root, file_of(target), site.test_files) if beside else ()
    project = site.project
    prefix = project.package_root.relative_to(project.root).as_posix()
    subject = Subject(project.package_root, Path(project.interpreter or "python3"), readable=project.readable)
    left = max(5.0, meter.seconds - meter.spent_seconds)
    limits = TraceLimits(target_seconds=min(60.0, left), seconds=min(120.0, left))
    with scratch_folder("rootproof-trace-") as scratch:
        inner = [_inside(test, prefix) for test in tests]
        command = trace_command(subject, [_inside(target, prefix)], inner, scratch, limits)
        began = time.monotonic()
        completed = site.sandbox.run(
            replace(command, root=project.root, hidden=project.hidden, changes=dict(changes or {}))
        )
        meter.take(time.monotonic() - began, completed.cpu_seconds)
    return _outside(read_trace(_inside(target, prefix), completed), target, prefix)


def _inside(path: str, prefix: str) -> str:
    return path[len(prefix) + 1 :] if prefix != "." and path.startswith(prefix + "/") else path


def _outside(trace: Trace, target: str, prefix: str) -> Trace:
    """The same with root-relative paths."""
    if prefix == ".":
        return trace
    story = replace(
        trace.story,
        lines={(f"{prefix}/{f}", n): times for (f, n), times in trace.story.lines.items()},
        calls={(f"{prefix}/{a}", b, f"{prefix}/{c}", d, e): n for (a, b, c, d, e), n in trace.story.calls.items()},
        returns={(f"{prefix}/{f}", n, name): v for (f, n, name), v in trace.story.returns.items()},
    )
    runs = tuple(
        replace(r, test=f"{prefix}/{r.test}", lines={f"{prefix}/{f}": n for f, n in r.lines.items()})
        for r in trace.runs
    )
    return replace(trace, target=target, story=story, runs=runs)


def as_record(trace: Trace, variant: str, sources: Mapping[str, bytes], watch: Iterable[str] = ()) -> Traced:
    """The part of a trace that a verdict rests on.

    Args:
        sources: the files as they were in that run.
        watch: ``file::function`` of comparison methods whose returned values matter.
    """
    lines = sorted(trace.lines.items())[:MAX_FILES]
    wanted = set(watch)
    returns: dict[str, list[str]] = {}
    for (file, first, name), values in trace.story.returns.items():
        owner = _function(file, first, sources)
        key = owner or f"{file}::{name}"
        if key in wanted:
            returns.setdefault(key, []).extend(sorted({value[1] for value in values})[:10])
    return Traced(
        variant=variant,
        lines=tuple((file, tuple(sorted(numbers))) for file, numbers in lines),
        calls=tuple(sorted(set(_edges(trace, sources)))),
        returns=tuple((k, tuple(v)) for k, v in sorted(returns.items())),
        status="unsteady" if trace.otherwise else trace.status,
        cut=trace.story.cut,
    )


def _edges(trace: Trace, sources: Mapping[str, bytes]) -> Iterable[tuple[str, str]]:
    for file, line, callee_file, first, _name in trace.story.calls:
        caller, callee = _function(file, line, sources), _function(callee_file, first, sources)
        if caller and callee and caller != callee:
            yield caller, callee


def _function(file: str, line: int, sources: Mapping[str, bytes]) -> str:
    tree = tree_of(sources.get(file, b""))
    owner = owner_at(file, tree, line) if tree is not None else None
    return owner.key if owner is not None and owner.is_function else ""
