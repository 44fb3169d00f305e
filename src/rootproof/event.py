"""The events of a run. One turn of the loop appends one; the state is a fold over them.

An event says what happened and is never changed. ``ledger`` adds sequence, time, epoch and hash around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from rootproof.effect import (
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    Undone,
    UndoStarted,
    Waiting,
)
from rootproof.fact import Fact, Noun
from rootproof.plan import PlanStep


class Usage(Noun):
    """What an event cost. Durations are of the monotonic clock."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    test_runs: int = 0
    model_tokens: int = 0
    cost: float = 0.0
    """US dollars of model calls, where prices are known."""

    def plus(self, other: Usage) -> Usage:
        """The sum of two costs."""
        return Usage(
            seconds=self.seconds + other.seconds,
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
            test_runs=self.test_runs + other.test_runs,
            model_tokens=self.model_tokens + other.model_tokens,
            cost=self.cost + other.cost,
        )


class Began(Noun):
    """Event 1: everything that must not change during the run."""

    type: Literal["began"] = "began"
    contract: dict[str, Any]
    contract_digest: str
    contract_by: Literal["user", "proposer"] = "user"
    origin: str = ""
    """Where the contract came from, in words."""
    contract_file: str = ""
    """The file it was read from, if it was: changed, it refuses resume."""
    scope: dict[str, str]
    """Root-relative path → SHA-256 for every readable file and test file."""
    scope_digest: str
    rules: str
    tools: dict[str, str]
    """Tool → version."""
    model: str
    root: str = ""
    """Where the root lay when the run began: a label, for finding it again."""
    containment: str = "none"
    prompt: str = ""
    """Digest of the prompt files, where a language model is asked."""
    masking: str = ""
    """Which scanner looks for secrets in what is recorded."""


class Replied(Noun):
    """A raw message is here, not yet judged. Begins a step."""

    type: Literal["replied"] = "replied"
    text: str
    finish: str = "stop"
    label: str = ""
    origin: Literal["model", "plan", "workflow"] = "model"
    """Who chose it: the model just now, an accepted plan, or the contract's workflow."""
    at: int = 0
    """How many steps of that plan or workflow are begun or left out with this one."""
    usage: Usage = Usage()


class Planned(Noun):
    """A plan was accepted: its steps are carried out one by one, each authorised when its turn comes."""

    type: Literal["planned"] = "planned"
    steps: tuple[PlanStep, ...]
    by: str = "rules"
    """Who accepted it: the rules, or a named person."""
    edited: bool = False
    """That person put other steps in the place of the model's."""
    note: str = ""


class ParseError(Noun):
    """The message is neither action nor final."""

    type: Literal["parse_error"] = "parse_error"
    code: str
    message: str
    line: int = 0
    column: int = 0


class Rejected(Noun):
    """An action inside the contract that cannot be meant; nothing was executed."""

    type: Literal["rejected"] = "rejected"
    tool: str
    reason: str
    hint: str = ""
    note: str = ""
    invalid: bool = True
    """False where an approval does not fit what it is for: then no counter moves."""
    usage: Usage = Usage()


class Known(Noun):
    """A read-only action repeated with nothing changed since; answered from the ledger."""

    type: Literal["known"] = "known"
    tool: str
    request: str
    since_step: int
    event: int
    note: str = ""


class Started(Noun):
    """An authorised action is about to be executed."""

    type: Literal["started"] = "started"
    tool: str
    input: dict[str, Any]
    request: str
    """Digest of tool and canonical input."""
    attempt: int = 1
    note: str = ""
    key: str = ""
    """The idempotency key, where the tool has a side effect: by it the effect is looked up after a crash."""


class Interrupted(Noun):
    """A started action whose end nobody saw; or a model out of reach."""

    type: Literal["interrupted"] = "interrupted"
    reason: str
    resumable: bool = True
    """True: the run stops here and can be resumed. False: the open action is closed and will run once more."""
    absent: bool = False
    """The open action's side effect was looked up by its key, and had not happened."""
    usage: Usage = Usage()


class Observed(Noun):
    """What the tool reported: stored before anything is concluded from it."""

    type: Literal["observed"] = "observed"
    tool: str
    input: dict[str, Any]
    request: str
    digest: str
    fields: Any
    excerpt: str = ""
    attachments: dict[str, str] = {}
    """Name → digest of the stored bytes."""
    conditions: dict[str, Any] = {}
    reads: dict[str, str] = {}
    cut: str = ""
    stale: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    usage: Usage = Usage()


class Checked(Noun):
    """Source, structure and evidence of the observation were judged."""

    type: Literal["checked"] = "checked"
    tool: str
    facts: tuple[Fact, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    """(name, about) of facts withdrawn for the rest of the run."""
    opened: tuple[tuple[str, str, str], ...] = ()
    """(name, about, why) of facts that something speaks against which is not judged to its end."""
    settled: tuple[tuple[str, str], ...] = ()
    """(name, about) of open facts that nothing speaks against any more."""
    failed: str = ""
    """Id of an evidence item with ``otherwise = "fail"`` that the observation does not satisfy."""
    reason: str = ""


class InvalidObservation(Noun):
    """The observation does not answer its request, or has no sound structure. Ends the run."""

    type: Literal["invalid_observation"] = "invalid_observation"
    tool: str
    problem: str


class Blocked(Noun):
    """The action lies outside the contract. Ends the run; the tool was not entered."""

    type: Literal["blocked"] = "blocked"
    tool: str
    code: str
    reason: str


class FinalJudged(Noun):
    """A request to stop was judged against the criteria."""

    type: Literal["final"] = "final"
    accepted: bool
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    """Paths that differ from event 1: facts resting on them are stale from here on."""
    scope_digest: str = ""
    subject: str = ""
    """The subject all required facts are about, where the contract asks for one."""
    note: str = ""
    usage: Usage = Usage()


class Stopped(Noun):
    """A limit, a counter, or the user ended the run."""

    type: Literal["stopped"] = "stopped"
    status: Literal["failed", "max_steps", "budget", "undetermined", "cancelled"]
    reason: str


class Resumed(Noun):
    """A run that had stopped resumably goes on."""

    type: Literal["resumed"] = "resumed"
    by: str = ""
    model: str = ""
    containment: str = "none"


Event = Annotated[
    Began
    | Replied
    | Planned
    | ParseError
    | Rejected
    | Known
    | Started
    | Interrupted
    | Observed
    | Checked
    | InvalidObservation
    | Blocked
    | FinalJudged
    | Stopped
    | Resumed
    | ApprovalRequested
    | ApprovalGiven
    | ApprovalRefused
    | ApprovalExpired
    | Waiting
    | UndoStarted
    | Undone,
    Field(discriminator="type"),
]

EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads an event from its JSON; raises ``pydantic.ValidationError`` for an unknown type."""


def attachments_of(event: Event) -> Mapping[str, str]:
    """Digests of the stored bytes that an event refers to."""
    return event.attachments if isinstance(event, Observed) else {}


def derived(event: Event) -> bool:
    """Whether the event is a function of what is stored before it, and does not end the run: lost, it is made again."""
    return isinstance(event, Checked) and not event.failed
