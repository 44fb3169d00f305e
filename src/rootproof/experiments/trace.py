"""What one failing test and its neighbours execute: the request, and the record read back from the channel.

Whatever a record says is a claim of the code under test. Here it is only checked for shape; a line that does not
fit is dropped and counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rootproof.sandbox.interface import Command, Completed, Limits

START = Path(__file__).parent / "target" / "start.py"
PHASES = ("setup", "call", "teardown")
Lines = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class Subject:
    """The project as the engine needs it."""

    root: Path
    """Working directory of the run; test ids and files are relative to it."""
    python: Path
    env: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    hidden: tuple[str, ...] = ()
    """Root-relative paths that are not there inside (secret files)."""


@dataclass(frozen=True)
class Failure:
    """Why the target failed, in the engine's own reading."""

    exception: str
    message: str
    phase: str
    frames: tuple[tuple[str, int, str, int], ...] = ()
    """(file, line, code name, first line of the code), outermost first, the project's alone."""
    operator: str = ""
    """Of the failed comparison: ``==``, ``in``, or the name of a unittest assertion."""
    left: str | None = None
    """``repr`` of the operand; None if it is not made of plain values."""
    right: str | None = None


@dataclass(frozen=True)
class Run:
    """One test of the spectrum."""

    test: str
    status: str
    lines: Lines
    """Set-up and call together."""
    cpu: float


@dataclass(frozen=True)
class Raised:
    """One exception seen in the target's run."""

    type: str
    file: str
    line: int
    through: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Story:
    """The target's run in full."""

    lines: Mapping[tuple[str, int], tuple[int, int, int]] = field(default_factory=dict)
    """(file, line) → first time, last time (in events), count; set-up and call together."""
    calls: Mapping[tuple[str, int, str, int, str], int] = field(default_factory=dict)
    """(caller's file, line, callee's file, first line, name) → count."""
    depths: Mapping[tuple[str, int, str], int] = field(default_factory=dict)
    """(file, first line, name) → least number of the project's frames below it."""
    returns: Mapping[tuple[str, int, str], tuple[tuple[int, str, int], ...]] = field(default_factory=dict)
    """(file, first line, name) → (line, repr, time) of plain values returned, the first ones only."""
    raised: tuple[Raised, ...] = ()
    cut: bool = False


@dataclass(frozen=True)
class Trace:
    """Everything known of one target after tracing."""

    target: str
    status: str
    """Of the untraced run: ``failed``, ``error``, ``passed``, ``missing``, ``crashed`` ..."""
    cpu: float
    """CPU seconds of the untraced run of the test itself, without collection."""
    failure: Failure | None
    story: Story
    imported: Lines
    """Lines that ran while the tests were collected."""
    runs: tuple[Run, ...]
    tests: tuple[str, ...]
    """Every collected id."""
    otherwise: bool = False
    """The run in which the story was told ended otherwise than the untraced one: it may not be the same story."""
    whole: bool = False
    """Whether the pass over the other tests came to its end; where it did not, some of them may be missing."""
    problems: tuple[str, ...] = ()
    dropped: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def lines(self) -> dict[str, frozenset[int]]:
        """Lines of the target's set-up and call."""
        found: dict[str, set[int]] = {}
        for file, line in self.story.lines:
            found.setdefault(file, set()).add(line)
        return {file: frozenset(lines) for file, lines in found.items()}


@dataclass(frozen=True)
class TraceLimits:
    """Bounds of one tracing pass."""

    target_seconds: float = 60.0
    seconds: float = 120.0
    """For the pass over the neighbours."""
    tests: int = 500


def engine_command(subject: Subject, request: Mapping[str, Any], scratch: Path, limits: Limits) -> Command:
    """The command that serves one request inside the project's interpreter. Writes the request under ``scratch``."""
    place = scratch / f"{request['kind']}.json"
    place.write_text(json.dumps(request), "ascii")
    # The sandbox may run as another user, who has to read these two.
    scratch.chmod(0o755)
    place.chmod(0o644)
    return Command(
        argv=(str(subject.python), str(START), str(place)),
        root=subject.root,
        cwd=subject.root,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **subject.env},
        readable=(START.parent, scratch, *subject.readable),
        hidden=subject.hidden,
        writable=True,
        channel=True,
        limits=limits,
    )


def trace_command(
    subject: Subject, targets: Iterable[str], tests: Iterable[str], scratch: Path, limits: TraceLimits
) -> Command:
    """Trace the targets in full and lines over ``tests`` (ids, or files meaning all their tests)."""
    chosen, wanted = tuple(targets), tuple(tests)
    request = {
        "kind": "trace",
        "files": list(dict.fromkeys(test.split("::")[0] for test in (*chosen, *wanted))),
        "targets": list(chosen),
        "tests": list(wanted),
        "most": limits.tests,
        "target_seconds": limits.target_seconds,
        "seconds": limits.seconds,
    }
    whole = limits.seconds + 3 * limits.target_seconds * max(len(chosen), 1) + 60
    bounds = Limits(seconds=whole, cpu_seconds=whole, memory_mb=4096, channel_bytes=64 << 20)
    return engine_command(subject, request, scratch, bounds)


def records(completed: Completed) -> tuple[list[dict[str, Any]], int]:
    """The channel's JSON objects, and how many lines were none."""
    lines = (completed.channel.head + (completed.channel.tail if not completed.channel.dropped else b"")).split(b"\n")
    good: list[dict[str, Any]] = []
    for line in lines:
        try:
            value = json.loads(line) if line else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            good.append(value)
    return good, sum(1 for line in lines if line) - len(good)


def read_trace(target: str, completed: Completed) -> Trace:
    """The trace of one target out of a completed request."""
    good, dropped = records(completed)
    blocks = {r["block"]: (sys.intern(str(r["file"])), frozenset(r["lines"])) for r in good if "block" in r}
    bare: Mapping[str, Any] = next((r for r in good if r.get("bare") == target), {})
    told: Mapping[str, Any] = next((r for r in good if r.get("story") == target), {})
    ends = [each["outcome"] for each in (bare, told) if each.get("outcome")]
    outcome = ends[0] if ends else {}
    missing = any(r.get("missing") == target for r in good)
    problems = [f"{p['where']}: {p['what']}" for r in good if "end" in r for p in r["problems"]]
    if not good:
        problems.append(f"the engine did not start: {(completed.stderr.text() + completed.stdout.text())[-800:]}")
    return Trace(
        target=target,
        status=outcome.get("status", "missing" if missing else "crashed"),
        cpu=float(bare.get("cpu", 0.0)),
        failure=read_failure(outcome.get("failure")),
        story=_story(told),
        imported=_merged(blocks, next((r["import"] for r in good if "import" in r), [])),
        runs=tuple(_run(r, blocks) for r in good if "ran" in r),
        tests=tuple(next((r["tests"] for r in good if "tests" in r), ())),
        otherwise=len({_end(each) for each in ends}) > 1,
        whole=any("whole" in r for r in good),
        problems=tuple(problems),
        dropped=dropped,
        seconds=completed.seconds,
        cpu_seconds=completed.cpu_seconds,
    )


def _end(outcome: Mapping[str, Any]) -> tuple[object, ...]:
    """How a test ended: its status, and what was raised along which lines."""
    failure = read_failure(outcome.get("failure"))
    return (outcome.get("status"), failure and (failure.exception, tuple(frame[:2] for frame in failure.frames)))


def read_failure(record: Mapping[str, Any] | None) -> Failure | None:
    if not record:
        return None
    operands = record.get("operands") or ["", None, None]
    frames = tuple((str(f[0]), int(f[1]), str(f[2]), int(f[3])) for f in record.get("frames", ()))
    message, phase = str(record["message"]), str(record["phase"])
    return Failure(str(record["exception"]), message, phase, frames, str(operands[0]), operands[1], operands[2])


def _run(record: Mapping[str, Any], blocks: Mapping[int, tuple[str, frozenset[int]]]) -> Run:
    numbers = [n for phase in ("setup", "call") for n in record["lines"].get(phase, [])]
    return Run(record["ran"], record["status"], _merged(blocks, numbers), float(record["cpu"]))


def _merged(blocks: Mapping[int, tuple[str, frozenset[int]]], numbers: Iterable[int]) -> dict[str, frozenset[int]]:
    merged: dict[str, set[int]] = {}
    for number in numbers:
        file, lines = blocks.get(number, ("", frozenset()))
        merged.setdefault(file, set()).update(lines)
    merged.pop("", None)
    return {file: frozenset(lines) for file, lines in merged.items()}


def _story(told: Mapping[str, Any]) -> Story:
    if not told:
        return Story()
    lines: dict[tuple[str, int], tuple[int, int, int]] = {}
    for phase, file, line, first, last, count in told["lines"]:
        if phase == "teardown":
            continue
        before = lines.get((file, line), (first, last, 0))
        lines[file, line] = (min(first, before[0]), max(last, before[1]), count + before[2])
    return Story(
        lines=lines,
        calls={(e[0], e[1], e[2], e[3], e[4]): e[5] for e in told["calls"]},
        depths={(d[0], d[1], d[2]): d[3] for d in told["depths"]},
        returns={(r[0], r[1], r[2]): tuple((v[0], v[1], v[2]) for v in r[3]) for r in told["returns"]},
        raised=tuple(
            Raised(r["type"], r["at"][0], r["at"][1], tuple((t[0], t[1], t[2]) for t in r["through"]))
            for r in told["raised"]
        ),
        cut=bool(told["cut"]),
    )
