"""How far a run has come in the steps laid down for it, as a fold over its events. Part of the state."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from rootproof.event import Checked, Event, FinalJudged, Planned, Rejected, Replied
from rootproof.plan import PlanStep


@dataclass(frozen=True)
class Course:
    """Where a run stands in its workflow or in the plan that was last accepted."""

    steps: tuple[PlanStep, ...] = ()
    """The accepted plan; empty where none is being carried out."""
    at: int = 0
    """How many of the laid steps were begun or left out."""
    plans: int = 0
    """How many plans were accepted so far."""
    dropped: str = ""
    """Why the rest of the last plan was dropped; empty while it stands."""

    @property
    def following(self) -> PlanStep | None:
        """The plan's next step."""
        return self.steps[self.at] if self.at < len(self.steps) else None


def advance(course: Course, event: Event, known: Collection[str]) -> Course:
    """The course after one more event.

    Args:
        known: names of the facts that are held after the event.
    """
    match event:
        case Planned():
            return Course(event.steps, 0, course.plans + 1)
        case Replied() if event.origin == "model":
            return replace(course, steps=(), at=0) if course.steps else course
        case Replied():
            return replace(course, at=event.at)
        case Rejected() if course.steps:
            return _drop(course, event.reason)
        case FinalJudged() if course.steps and not event.accepted:
            return _drop(course, "criteria are not met: " + "; ".join(event.missing))
        case Checked() if course.steps:
            return _judged(course, event, known)
    return course


def _judged(course: Course, event: Checked, known: Collection[str]) -> Course:
    if event.conflicts:
        names = ", ".join(name for name, _ in event.conflicts)
        return _drop(course, f"what was seen contradicts an earlier fact: {names}")
    missing = [name for name in course.steps[course.at - 1].expects if name not in known]
    return _drop(course, f"it did not establish {', '.join(missing)}") if missing else course


def _drop(course: Course, why: str) -> Course:
    said = f"the plan was dropped at its step {course.at} of {len(course.steps)}: {why}"
    return replace(course, steps=(), at=0, dropped=said)
