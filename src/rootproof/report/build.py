"""From the verified events of a run to a report: every stated fact with the event it comes from. Pure.

A report carries its events and stored observations, so that whoever has it can derive everything in it again. What a
model said stands apart and is labelled.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rootproof import completion
from rootproof.contract import Contract, read_document
from rootproof.event import Began, Observed
from rootproof.fact import Fact
from rootproof.ledger import chain
from rootproof.ledger.interface import Stored
from rootproof.report import cause as causes
from rootproof.report import tried
from rootproof.report.document import (
    CodeCause,
    ConditionCause,
    Criterion,
    Derived,
    Needed,
    Report,
    Spent,
    StoredEvent,
)
from rootproof.report.timeline import timeline
from rootproof.report.words import CLAIM
from rootproof.state import State


@dataclass(frozen=True)
class Ledger:
    """The events of one run with the bytes they refer to."""

    run: str
    events: tuple[Stored, ...]
    blob: Callable[[str], bytes]

    @cached_property
    def state(self) -> State:
        return chain.replay(self.events)

    @cached_property
    def contract(self) -> Contract:
        first = self.events[0].event
        assert isinstance(first, Began)
        return read_document(first.contract)


def build(ledger: Ledger) -> dict[str, Any]:
    """The whole report as plain data; ``derived`` follows from ``events`` and ``observations`` alone."""
    stored = {digest: base64.b64encode(ledger.blob(digest)).decode("ascii") for digest in _digests(ledger.events)}
    report = Report(
        derived=derived(ledger),
        run=ledger.run,
        head=ledger.events[-1].hash,
        events=[_event(stored) for stored in ledger.events],
        observations=dict(sorted(stored.items())),
    )
    return report.model_dump(mode="json", by_alias=True)


def derive(ledger: Ledger) -> dict[str, Any]:
    """Everything a reader is told, from the events and observations, as plain data.

    Raises:
        ValueError: an observation has another shape than the tool it names gives.
    """
    return derived(ledger).model_dump(mode="json")


def derived(ledger: Ledger) -> Derived:
    """The same as a noun."""
    state, contract = ledger.state, ledger.contract
    began = state.began
    assert began is not None
    return Derived(
        status=state.status,
        reason=state.reason,
        goal=contract.goal,
        answer=completion.answer(contract, state),
        contract_digest=contract.digest,
        contract_by=began.contract_by,
        origin=began.origin,
        model=began.model,
        rules=began.rules,
        containment=began.containment,
        spent=Spent(**vars(state.spent), steps=state.step),
        facts=list(state.facts.values()),
        criteria=_criteria(contract, state),
        needed=_needed(contract, state),
        missing=[] if state.status == "success" else list(completion.missing_words(contract, state)),
        cause=cause(ledger, state),
        suspects=tried.suspects(ledger.events),
        hypotheses=tried.hypotheses(ledger.events),
        searches=tried.searches(ledger.events),
        timeline=timeline(ledger.events),
        scope=dict(began.scope),
        claim=CLAIM,
    )


def _event(stored: Stored) -> StoredEvent:
    body = chain.encode(stored.event).decode("ascii")
    return StoredEvent(seq=stored.seq, epoch=stored.epoch, time=stored.time, hash=stored.hash, body=body)


def _digests(events: Iterable[Stored]) -> set[str]:
    return {digest for s in events if isinstance(s.event, Observed) for digest in s.event.attachments.values()}


def cause(ledger: Ledger, state: State) -> CodeCause | ConditionCause | None:
    """The confirmed subject; None where the run did not end in success, or was about something else."""
    if state.status != "success":
        return None
    for stored, observed in reversed(tried.observed(ledger.events, "try_change")):
        if _confirms(observed, state):
            return causes.code(stored.seq, observed, ledger.blob)
    for stored, observed in reversed(tried.observed(ledger.events, "try_condition")):
        if _confirms(observed, state):
            return causes.condition(stored.seq, observed)
    return None


def _confirms(observed: Observed, state: State) -> bool:
    return bool(observed.fields.get("subject") == state.subject and observed.fields.get("verdict") == "supported")


def _subject(contract: Contract, state: State) -> str:
    return state.subject or completion.best(contract, state)[0]


def _criteria(contract: Contract, state: State) -> list[Criterion]:
    facts = completion.held(state, _subject(contract, state))
    truths = ((text, completion.parsed(text).truth(facts)) for text in contract.completion.all)
    return [Criterion(text=text, met=truth if isinstance(truth, bool) else None) for text, truth in truths]


def _needed(contract: Contract, state: State) -> list[Needed]:
    """Each fact that the criteria name, once, in their order."""
    subject = _subject(contract, state)
    names = dict.fromkeys(name for text in contract.completion.all for name in completion.parsed(text).names)
    found = []
    for name in names:
        item = completion.provider(contract, name)
        fact = state.facts.get((name, subject)) or state.facts.get((name, ""))
        found.append(_needed_fact(name, item.means if item and item.id == name else "", fact))
    return found


def _needed_fact(name: str, means: str, fact: Fact | None) -> Needed:
    held = fact is not None and fact.standing == "held"
    return Needed(name=name, means=means, held=held, event=fact.event if fact else None)
