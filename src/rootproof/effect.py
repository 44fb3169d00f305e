"""Effects of a run on the world outside it: the events of approval and compensation, and what is known after them.

An effect counts as begun from the event before the tool is entered, for nobody can tell what a process that died had
done. It is outstanding until a compensation is recorded, or until the tool promised that nothing was changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from rootproof import canonical
from rootproof.fact import Noun
from rootproof.plan import PLAN, PlanStep

Moment = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00$")]
"""A moment in UTC, always written alike, so that the later one is the greater text. The wall clock's: a label that is
compared only with others of its kind, and never allowed to run back."""


class ApprovalRequested(Noun):
    """An authorised action waits for a person. Nothing was executed, and the model is not asked meanwhile."""

    type: Literal["approval_requested"] = "approval_requested"
    tool: str
    input: dict[str, Any]
    request: str
    """Digest of tool and canonical input: what an approval is bound to."""
    contract: str
    """Digest of the contract under which it was asked for."""
    at: Moment
    expires_at: Moment
    compensation: str = ""
    """What would undo it, in the tool's own words."""
    note: str = ""


class ApprovalGiven(Noun):
    """A named person agreed to exactly one input. It is no authorisation: that is judged again."""

    type: Literal["approval_given"] = "approval_given"
    by: str
    reason: str
    request: str
    contract: str
    at: Moment
    expires_at: Moment
    steps: tuple[PlanStep, ...] = ()
    """Where a plan was asked about: what the person put in its place. Empty: as it was sent."""


class ApprovalRefused(Noun):
    """A named person refused. The run goes on, and no counter moves."""

    type: Literal["approval_refused"] = "approval_refused"
    by: str
    reason: str
    request: str
    at: Moment


class ApprovalExpired(Noun):
    """Nobody agreed in time, or what was agreed to was not begun in time. The run goes on, and no counter moves."""

    type: Literal["approval_expired"] = "approval_expired"
    request: str
    at: Moment
    expires_at: Moment


class Waiting(Noun):
    """The run stops until a person has decided."""

    type: Literal["waiting"] = "waiting"
    reason: str


class UndoStarted(Noun):
    """A compensation is about to be carried out."""

    type: Literal["undo_started"] = "undo_started"
    tool: str
    key: str
    compensation: str = ""


class Undone(Noun):
    """What came of a compensation."""

    type: Literal["undone"] = "undone"
    tool: str
    key: str
    status: Literal["undone", "failed"]
    reason: str = ""


EffectEvent = ApprovalRequested | ApprovalGiven | ApprovalRefused | ApprovalExpired | Waiting | UndoStarted | Undone


@dataclass(frozen=True)
class Begun:
    """A side effect that may have happened and was not undone."""

    tool: str
    key: str
    step: int
    stuck: str = ""
    """Why its compensation failed; empty where none was tried since the run was last taken up."""
    doubt: bool = False
    """It was begun again though nobody knew whether it had happened: what is said of the second time is not of both."""


@dataclass(frozen=True)
class Effects:
    """What the events say of approvals and side effects. Part of the state."""

    given: ApprovalGiven | None = None
    """The decision about the pending request, or about an effect of which nobody knows whether it happened."""
    under: ApprovalGiven | None = None
    """The approval under which the pending effect was begun."""
    moment: str = ""
    """The latest moment that any event named: the wall clock is never believed to be before it."""
    begun: tuple[Begun, ...] = ()
    """Oldest first."""
    undoing: UndoStarted | None = None
    undoing_epoch: int = 0

    @property
    def next_undo(self) -> Begun | None:
        """The latest effect whose compensation is still to be tried."""
        return next((one for one in reversed(self.begun) if not one.stuck), None)

    def asked(self, event: ApprovalRequested) -> Effects:
        return replace(self, given=None, under=None, moment=max(self.moment, event.at))

    def decided(self, event: ApprovalGiven | ApprovalRefused | ApprovalExpired) -> Effects:
        given = event if isinstance(event, ApprovalGiven) else None
        return replace(self, given=given, moment=max(self.moment, event.at))

    def began(self, tool: str, key: str, step: int) -> Effects:
        """From here on the effect may have happened. Begun again under the same key it is the same effect."""
        after = replace(self, under=self.given or self.under, given=None)
        if any(one.key == key for one in self.begun):
            return replace(after, begun=tuple(replace(b, doubt=b.doubt or b.key == key) for b in self.begun))
        return replace(after, begun=(*self.begun, Begun(tool, key, step)))

    def declined(self, key: str) -> Effects:
        """A tool that declined promises that it changed nothing."""
        return self if any(one.key == key and one.doubt for one in self.begun) else self.without(key)

    def without(self, key: str) -> Effects:
        """It is certain that the effect of a key did not happen, or no longer stands."""
        if not any(one.key == key for one in self.begun):
            return self
        return replace(self, begun=tuple(one for one in self.begun if one.key != key))

    def undo_began(self, event: UndoStarted, epoch: int) -> Effects:
        return replace(self, undoing=event, undoing_epoch=epoch)

    def undo_ended(self, event: Undone) -> Effects:
        after = replace(self, undoing=None, undoing_epoch=0)
        if event.status != "failed":
            return after.without(event.key)
        stuck = event.reason or "it could not be undone"
        begun = tuple(replace(one, stuck=stuck) if one.key == event.key else one for one in self.begun)
        return replace(after, begun=begun)

    def settled(self) -> Effects:
        """What was decided has been acted on."""
        return replace(self, given=None) if self.given else self

    def taken_up(self) -> Effects:
        """A run is taken up again: compensations that failed are tried once more."""
        return replace(self, begun=tuple(replace(one, stuck="") for one in self.begun))


def changes(effects: Effects, event: EffectEvent, epoch: int) -> dict[str, Any]:
    """What one of these events changes in the state: field → new value."""
    match event:
        case ApprovalRequested():
            asks = {"pending": event, "pending_epoch": epoch, "consecutive_parse_errors": 0, "refusal": ""}
            reason = f"{'the plan' if event.tool == PLAN else event.tool} needs the approval of a person"
            waits = {"note": event.note, "status": "waiting", "reason": reason}
            return {**asks, **waits, "effects": effects.asked(event)}
        case ApprovalGiven():
            return {"reason": f"approved by {event.by}; it is not yet begun", "effects": effects.decided(event)}
        case ApprovalRefused():
            said = f"refused by {event.by}: {event.reason}"
            closed = {"pending": None, "retry": False, "reason": said, "refusal": said}
            return {**closed, "effects": effects.decided(event)}
        case ApprovalExpired():
            said = f"the approval ran out at {event.expires_at}"
            return {"pending": None, "retry": False, "refusal": said, "effects": effects.decided(event)}
        case Waiting():
            return {"status": "waiting", "reason": event.reason, "effects": replace(effects, given=None)}
        case UndoStarted():
            return {"effects": effects.undo_began(event, epoch)}
        case Undone():
            return {"effects": effects.undo_ended(event)}


def idempotency_key(run: str, tool: str, values: dict[str, Any]) -> str:
    """What makes an effect of one run the same effect, whoever begins it again."""
    return canonical.digest({"run": run, "tool": tool, "values": values})
