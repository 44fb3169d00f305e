"""A transcript sorted by subject: what was collected, what each test reported, how the session ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rootproof.runners.interface import Failure, Operand, Phase
from rootproof.runners.records import Malformed, Record, number, shown, text, texts, visible

PhaseName = Literal["setup", "call", "teardown"]
PhaseOutcome = Literal["passed", "failed", "skipped"]
PHASES: dict[str, PhaseName] = {"setup": "setup", "call": "call", "teardown": "teardown"}
OUTCOMES: dict[str, PhaseOutcome] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}


@dataclass
class TestStory:
    """The reports of one test, in the order they came."""

    __test__ = False

    phases: dict[str, Phase] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    subtests: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    retried: int = 0
    retrying: bool = False
    """An attempt was given up; what is left of it does not count."""
    blocked: dict[str, None] = field(default_factory=dict)
    """What subtests noted, for the phase they belong to."""

    @property
    def complete(self) -> bool:
        """Set-up and tear-down came, and the call unless set-up did not pass."""
        setup = self.phases.get("setup")
        if setup is None or "teardown" not in self.phases:
            return False
        return setup.outcome != "passed" or "call" in self.phases


@dataclass
class Story:
    """Everything a session told. Built by :func:`tell` alone."""

    started: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    collected: list[str] | None = None
    deselected: list[str] = field(default_factory=list)
    collect_errors: list[tuple[str, str]] = field(default_factory=list)
    collect_skips: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(what, text)."""
    tests: dict[str, TestStory] = field(default_factory=dict)
    last_started: str = ""
    running: str = ""
    """For runners that report a test only when it is done: the one that was running last."""
    finish: int | None = None
    end: int | None = None


def tell(records: tuple[Record, ...]) -> Story:
    """Sort the records.

    Raises:
        Malformed: they contradict each other or break the form.
    """
    story = Story()
    for record in records:
        kind = text(record, "kind")
        if kind == "phase":
            _phase(story, record)
        elif kind == "running":
            story.running = text(record, "id")
        elif kind == "begin":
            _begin(story, text(record, "id"))
        elif kind in ("collected", "deselected"):
            _ids(story, kind, texts(record, "ids"))
        else:
            _session(story, kind, record)
    if story.running and story.finish is None:
        _cut_short(story)
    strangers = set(story.tests).difference(story.collected or ())
    if strangers:
        raise Malformed(f"a test reported that was never collected: {min(strangers)[:200]}")
    return story


def _cut_short(story: Story) -> None:
    """The session died in a test that had nothing to report yet."""
    story.last_started = story.running
    if story.running not in story.tests:
        story.tests[story.running] = TestStory()
        story.collected = [*(story.collected or []), story.running]


def _session(story: Story, kind: str, record: Record) -> None:
    if kind == "start":
        if story.started:
            raise Malformed("the session started twice")
        story.started = True
        versions = record.get("versions", {})
        if isinstance(versions, dict):
            story.versions = {visible(str(k)): visible(str(v)) for k, v in versions.items()}
        story.flags = tuple(visible(flag) for flag in texts(record, "flags"))
    elif kind == "collect_error":
        story.collect_errors.append((text(record, "id"), shown(record, "text")))
    elif kind == "collect_skip":
        story.collect_skips.append((text(record, "id"), shown(record, "text")))
    elif kind == "problem":
        story.problems.append((text(record, "what"), shown(record, "text")))
    elif kind == "finish":
        if story.finish is not None:
            raise Malformed("the session finished twice")
        story.finish = int(number(record, "exit"))
    else:
        story.end = int(number(record, "exit"))


def _ids(story: Story, kind: str, ids: tuple[str, ...]) -> None:
    if kind == "deselected":
        story.deselected.extend(ids)
        return
    story.collected = (story.collected or []) + list(ids)


def _begin(story: Story, test: str) -> None:
    if test in story.tests:
        raise Malformed(f"a test started twice: {test[:200]}")
    story.tests[test] = TestStory()
    story.last_started = test


def _phase(story: Story, record: Record) -> None:
    test, name, outcome = text(record, "id"), text(record, "phase"), text(record, "outcome")
    told = story.tests.get(test)
    if told is None:
        raise Malformed(f"a test reported that never started: {test[:200]}")
    if story.finish is not None:
        raise Malformed(f"a test reported after the session finished: {test[:200]}")
    if name not in PHASES:
        raise Malformed(f"unknown phase {name[:40]!r}")
    told.retrying = told.retrying and name != "setup"
    if outcome == "rerun":
        told.retried += 1
        told.retrying = True
        told.phases.clear()
    elif outcome not in OUTCOMES:
        raise Malformed(f"unknown outcome {outcome[:40]!r}")
    if not told.retrying:
        _report(told, record, PHASES[name], OUTCOMES[outcome])


def _report(told: TestStory, record: Record, name: PhaseName, outcome: PhaseOutcome) -> None:
    failure = _failure(record)
    if failure is not None:
        told.failures.append(failure)
    told.reason = told.reason or shown(record, "reason")
    told.blocked.update(dict.fromkeys(visible(line) for line in texts(record, "blocked")))
    if record.get("subtest") is not None:
        _subtest(told, shown(record, "subtest"), outcome)
        return
    if name in told.phases or (name != "setup" and "setup" not in told.phases):
        raise Malformed(f"{name} of one test was reported twice or out of order: {text(record, 'id')[:200]}")
    told.phases[name] = Phase(name, outcome, number(record, "seconds"), tuple(told.blocked))
    told.marks[name] = text(record, "mark")
    told.blocked = {}


def _subtest(told: TestStory, name: str, outcome: str) -> None:
    if told.subtests.get(name) != "failed":
        told.subtests[name] = outcome


def _failure(record: Record) -> Failure | None:
    value = record.get("failure")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Malformed("failure is not an object")
    phase = text(value, "phase") or "call"
    if phase not in PHASES:
        raise Malformed(f"unknown phase {phase[:40]!r}")
    return Failure(
        exception=shown(value, "exception"),
        message=shown(value, "message"),
        expected=_operand(value, "expected"),
        actual=_operand(value, "actual"),
        path=text(value, "path"),
        line=int(number(value, "line")),
        phase=PHASES[phase],
        traceback=shown(value, "traceback"),
        frames=_frames(value),
    )


def _operand(value: Record, key: str) -> Operand | None:
    told = value.get(key)
    if told is None:
        return None
    if not isinstance(told, dict) or told.get("by") not in ("value", "repr"):
        raise Malformed(f"{key} is not an operand")
    side = told.get("value")
    if side is not None and not isinstance(side, str | int | float | bool):
        raise Malformed(f"{key} is not an operand")
    return Operand(side, "value" if told["by"] == "value" else "repr")


def _frames(value: Record) -> tuple[tuple[str, int, str], ...]:
    told = value.get("frames", [])
    if not isinstance(told, list):
        raise Malformed("frames is not a list")
    frames = []
    for entry in told:
        match entry:
            case [str(path), int(line), str(function)]:
                frames.append((path, line, visible(function)))
            case _:
                raise Malformed("a frame is not path, line and function")
    return tuple(frames)
