"""The state of a run: a fold over its events. Only the controller holds it; a model gets a rendered view of a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from rootproof.course import Course, advance
from rootproof.effect import ApprovalRequested, EffectEvent, Effects, changes
from rootproof.event import (
    Began,
    Blocked,
    Checked,
    Event,
    FinalJudged,
    Interrupted,
    InvalidObservation,
    Known,
    Observed,
    ParseError,
    Planned,
    Rejected,
    Replied,
    Resumed,
    Started,
    Stopped,
    Usage,
)
from rootproof.fact import Fact, changed_standing
from rootproof.seen import TRAIL, Seen
from rootproof.status import RESUMABLE, UNSUCCESSFUL, Status


@dataclass(frozen=True)
class State:
    """Everything that is known after some prefix of the events. Built by :func:`fold` alone."""

    seq: int = 0
    began: Began | None = None
    step: int = 0
    status: Status = "running"
    reason: str = ""
    pending: Replied | ApprovalRequested | Started | Observed | None = None
    """What was begun and is not finished. A started action whose end nobody saw is closed first."""
    pending_epoch: int = 0
    retry: bool = False
    """The pending action was closed as interrupted and is to be started once more."""
    consecutive_parse_errors: int = 0
    consecutive_invalid_actions: int = 0
    no_progress: int = 0
    facts: Mapping[tuple[str, str], Fact] = field(default_factory=dict)
    requests: Mapping[str, Seen] = field(default_factory=dict)
    """Request digest → its latest complete observation."""
    cut: tuple[Seen, ...] = ()
    """Observations that were cut, and whose request has not been carried out whole since."""
    trail: tuple[Seen, ...] = ()
    last: Seen | None = None
    """The observation the last step gave, or was answered with."""
    last_known: bool = False
    refusal: str = ""
    """Why the last message was refused, until another one is accepted."""
    note: str = ""
    """The model's last own words: unverified."""
    missing: tuple[str, ...] = ()
    subject: str = ""
    changed: tuple[str, ...] = ()
    """Paths found to differ from event 1."""
    spent: Usage = field(default_factory=Usage)
    tries: int = 0
    """Interventions tried so far: the sum of the field ``tries`` of all observations."""
    effects: Effects = field(default_factory=Effects)
    course: Course = field(default_factory=Course)

    @property
    def stopped(self) -> bool:
        return self.status != "running" and not self.undoing

    @property
    def undoing(self) -> bool:
        """It ended otherwise than in success, and compensations are still to be carried out."""
        return self.status in UNSUCCESSFUL and self.effects.next_undo is not None

    @property
    def resumable(self) -> bool:
        """Whether there is anything left to go on with: also a compensation that failed."""
        return (
            not self.stopped or self.status in RESUMABLE or (self.status in UNSUCCESSFUL and bool(self.effects.begun))
        )

    def fact(self, name: str, about: str = "") -> Fact | None:
        return self.facts.get((name, about))


def _after(state: State, **changed: Any) -> State:
    """A copy with some fields changed: ``dataclasses.replace``, but quick, for every event needs it."""
    after = object.__new__(State)
    after.__dict__.update(state.__dict__, **changed)
    return after


def fold(state: State, event: Event, epoch: int = 0) -> State:
    """The state after one more event. Pure; the same events always give the same state."""
    usage = getattr(event, "usage", None)
    spent = state.spent.plus(usage) if usage is not None and any(vars(usage).values()) else state.spent
    after = _FOLDS[type(event)](_after(state, seq=state.seq + 1, spent=spent), event, epoch)
    return _on_course(after, event)


def _on_course(state: State, event: Event) -> State:
    known = [fact.name for fact in state.facts.values() if fact.standing == "held"] if state.course.steps else ()
    course = advance(state.course, event, known)
    if course is state.course:
        return state
    fresh = course.dropped and course.dropped != state.course.dropped
    return _after(state, course=course, refusal=course.dropped if fresh else state.refusal)


def _planned(state: State, event: Planned, epoch: int) -> State:
    settled = {"pending": None, "effects": state.effects.settled()}
    return _after(state, **settled, consecutive_parse_errors=0, refusal="", note=event.note)


def _began(state: State, event: Began, epoch: int) -> State:
    return _after(state, began=event)


def _replied(state: State, event: Replied, epoch: int) -> State:
    return _after(state, step=state.step + 1, pending=event, pending_epoch=epoch)


def _parse_error(state: State, event: ParseError, epoch: int) -> State:
    return _after(
        state, pending=None, consecutive_parse_errors=state.consecutive_parse_errors + 1, refusal=event.message
    )


def _rejected(state: State, event: Rejected, epoch: int) -> State:
    invalid = state.consecutive_invalid_actions + (1 if event.invalid else 0)
    refusal = event.reason + (f" ({event.hint})" if event.hint else "")
    return _after(
        state,
        pending=None,
        retry=False,
        consecutive_parse_errors=0,
        consecutive_invalid_actions=invalid,
        refusal=refusal,
        note=event.note,
        effects=state.effects.declined(getattr(state.pending, "key", "")),
    )


def _known(state: State, event: Known, epoch: int) -> State:
    return _after(
        state,
        pending=None,
        consecutive_parse_errors=0,
        no_progress=state.no_progress + 1,
        last=state.requests.get(event.request),
        last_known=True,
        refusal="",
        note=event.note,
    )


def _started(state: State, event: Started, epoch: int) -> State:
    return _after(
        state,
        pending=event,
        pending_epoch=epoch,
        retry=False,
        consecutive_parse_errors=0,
        refusal="",
        note=event.note,
        effects=state.effects.began(event.tool, event.key, state.step) if event.key else state.effects,
    )


def _effect(state: State, event: EffectEvent, epoch: int) -> State:
    return _after(state, **changes(state.effects, event, epoch))


def _interrupted(state: State, event: Interrupted, epoch: int) -> State:
    if event.resumable:
        return _after(state, status="interrupted", reason=event.reason)
    absent = getattr(state.pending, "key", "") if event.absent else ""
    return _after(state, retry=True, effects=state.effects.without(absent))


def _observed(state: State, event: Observed, epoch: int) -> State:
    tries = event.fields.get("tries") if isinstance(event.fields, dict) else 0
    return _after(
        state,
        pending=event,
        pending_epoch=epoch,
        retry=False,
        consecutive_invalid_actions=0,
        tries=state.tries + (tries if type(tries) is int and tries > 0 else 0),
    )


def _checked(state: State, event: Checked, epoch: int) -> State:
    observed = state.pending
    assert isinstance(observed, Observed)
    facts = dict(state.facts)
    fresh = [fact for fact in event.facts if fact.key not in facts]
    for fact in event.facts:
        facts[fact.key] = fact
    facts = changed_standing(facts, event.conflicts, event.opened, event.settled)
    repeated = observed.request in state.requests and not observed.stale
    seen = Seen(state.step, state.seq - 1, observed)
    cut = tuple(each for each in state.cut if each.observed.request != observed.request)
    idle = 0 if fresh else state.no_progress + (1 if repeated else 0)
    return _after(
        state,
        pending=None,
        facts=facts,
        requests=state.requests if observed.cut else {**state.requests, observed.request: seen},
        cut=(*cut, seen) if observed.cut else cut,
        trail=(*state.trail, seen)[-TRAIL:],
        last=seen,
        last_known=False,
        no_progress=idle,
        changed=tuple(sorted({*state.changed, *observed.stale})),
        status="failed" if event.failed else state.status,
        reason=event.reason if event.failed else state.reason,
    )


def _invalid_observation(state: State, event: InvalidObservation, epoch: int) -> State:
    return _after(state, pending=None, status="failed", reason=f"invalid observation of {event.tool}: {event.problem}")


def _blocked(state: State, event: Blocked, epoch: int) -> State:
    return _after(state, pending=None, consecutive_parse_errors=0, status="blocked", reason=event.reason)


def _final(state: State, event: FinalJudged, epoch: int) -> State:
    gone = set(event.stale)
    facts = {
        key: fact.model_copy(update={"standing": "stale"}) if gone and _rests_on(fact, gone) else fact
        for key, fact in state.facts.items()
    }
    state = _after(
        state,
        pending=None,
        facts=facts,
        consecutive_parse_errors=0,
        note=event.note,
        changed=tuple(sorted({*state.changed, *gone})),
        missing=event.missing,
        subject=event.subject,
    )
    if event.accepted:
        return _after(state, status="success", reason="every criterion is met", refusal="")
    refusal = "final rejected; still missing: " + "; ".join(event.missing)
    return _after(state, no_progress=state.no_progress + 1, refusal=refusal)


def _rests_on(fact: Fact, paths: set[str]) -> bool:
    return fact.standing in ("held", "open") and (not fact.reads or not paths.isdisjoint(fact.reads))


def _stopped(state: State, event: Stopped, epoch: int) -> State:
    return _after(state, status=event.status, reason=event.reason)


def _resumed(state: State, event: Resumed, epoch: int) -> State:
    if state.status in UNSUCCESSFUL:  # only its compensations go on; how it ended stands
        return _after(state, effects=state.effects.taken_up())
    return _after(state, status="running", reason="")


_FOLDS: Mapping[type, Callable[[State, Any, int], State]] = {
    Began: _began,
    Replied: _replied,
    Planned: _planned,
    ParseError: _parse_error,
    Rejected: _rejected,
    Known: _known,
    Started: _started,
    Interrupted: _interrupted,
    Observed: _observed,
    Checked: _checked,
    InvalidObservation: _invalid_observation,
    Blocked: _blocked,
    FinalJudged: _final,
    Stopped: _stopped,
    Resumed: _resumed,
    **dict.fromkeys(get_args(EffectEvent), _effect),
}
