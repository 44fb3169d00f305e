"""From the verified events of a run to a report: every stated fact with the event it comes from. Pure.

A report carries its events and stored observations, so that whoever has it can derive everything in it again. What a
model said stands apart and is labelled.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rootproof import completion
from rootproof.contract import Contract, read_document
from rootproof.effect import ApprovalGiven, ApprovalRefused
from rootproof.event import Began, Checked, Observed, Replied, Started
from rootproof.ledger import chain
from rootproof.ledger.interface import Stored
from rootproof.state import State, fold
from rootproof.text import one_line

SCHEMA = "rootproof/report/1"
CLAIM = (
    "A test's outcome is a claim of the code under test: a repository that lies about its own tests lies to everyone "
    "who runs them. This report holds against models, and against text of any origin."
)


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
    return {
        "schema": SCHEMA,
        "derived": derive(ledger),
        "run": ledger.run,
        "head": ledger.events[-1].hash,
        "events": [_event(stored) for stored in ledger.events],
        "observations": {
            digest: base64.b64encode(ledger.blob(digest)).decode("ascii") for digest in sorted(_digests(ledger.events))
        },
    }


def derive(ledger: Ledger) -> dict[str, Any]:
    """Everything a reader is told, from the events and observations."""
    state, contract = ledger.state, ledger.contract
    began = state.began
    assert began is not None
    return {
        "status": state.status,
        "reason": state.reason,
        "goal": contract.goal,
        "answer": completion.answer(contract, state),
        "contract_digest": contract.digest,
        "contract_by": began.contract_by,
        "origin": began.origin,
        "model": began.model,
        "containment": began.containment,
        "spent": {**state.spent.model_dump(mode="json"), "steps": state.step},
        "facts": [fact.model_dump(mode="json") for fact in state.facts.values()],
        "missing": [] if state.status == "success" else list(completion.missing_words(contract, state)),
        "cause": cause(ledger, state),
        "suspects": suspects(ledger.events),
        "hypotheses": hypotheses(ledger.events),
        "timeline": timeline(ledger.events),
        "scope": dict(began.scope),
        "claim": CLAIM,
    }


def _event(stored: Stored) -> dict[str, Any]:
    return {
        "seq": stored.seq,
        "epoch": stored.epoch,
        "time": stored.time,
        "hash": stored.hash,
        "body": chain.encode(stored.event).decode("ascii"),
    }


def _digests(events: Iterable[Stored]) -> set[str]:
    return {digest for s in events if isinstance(s.event, Observed) for digest in s.event.attachments.values()}


def _observed(events: Iterable[Stored], *tools: str) -> list[tuple[Stored, Observed]]:
    return [(s, s.event) for s in events if isinstance(s.event, Observed) and s.event.tool in tools]


def cause(ledger: Ledger, state: State) -> dict[str, Any] | None:
    """The confirmed subject; None where the run did not end in success, or was about something else."""
    if state.status != "success":
        return None
    for stored, observed in reversed(_observed(ledger.events, "try_change")):
        fields = observed.fields
        if fields.get("subject") == state.subject and fields.get("verdict") == "supported":
            kept = ("target", "grade", "kind", "signature", "subject", "change", "diff", "spans", "pairs", "neighbours")
            shown = {name: fields.get(name) for name in (*kept, "controls", "unmade", "containment", "place", "width")}
            return {"event": stored.seq, **shown, "context": _context(ledger, observed)}
    return _condition(ledger, state)


CONDITION = (
    "target", "grade", "kind", "signature", "subject", "condition", "predecessors", "variable", "against", "counts",
    "interval", "containment",
)  # fmt: skip


def _condition(ledger: Ledger, state: State) -> dict[str, Any] | None:
    """A cause that is not in the code."""
    for stored, observed in reversed(_observed(ledger.events, "try_condition")):
        fields = observed.fields
        if fields.get("subject") == state.subject and fields.get("verdict") == "supported":
            return {"event": stored.seq, **{name: fields.get(name) for name in CONDITION}}
    return None


def _context(ledger: Ledger, observed: Observed, around: int = 6) -> list[dict[str, Any]]:
    """The lines around each span, from the stored bytes of the file."""
    found = []
    for span in observed.fields.get("spans") or []:
        digest = observed.attachments.get(str(span.get("path")))
        if digest is None:
            continue
        lines = ledger.blob(digest).decode("utf-8", "backslashreplace").split("\n")
        first = max(int(span["first"]) - around, 1)
        last = min(max(int(span["last"]), int(span["first"])) + around, len(lines))
        found.append({**span, "from": first, "lines": lines[first - 1 : last], "digest": observed.reads[span["path"]]})
    return found


def suspects(events: Sequence[Stored]) -> list[dict[str, Any]]:
    """The functions that were suspect, best first, from the last trace."""
    traced = _observed(events, "trace_test")
    if not traced:
        return []
    stored, observed = traced[-1]
    return [{"event": stored.seq, **row} for row in observed.fields.get("functions", []) if isinstance(row, dict)]


def hypotheses(events: Sequence[Stored]) -> list[dict[str, Any]]:
    """Every change and every condition that was tried under the protocol, with its verdict."""
    kept = ("verdict", "grade", "rule", "reason", "place", "diff", "kind", "open_in")
    return [
        {"event": stored.seq, **{name: observed.fields.get(name) for name in kept}}
        for stored, observed in _observed(events, "try_change", "try_condition")
    ]


def timeline(events: Sequence[Stored]) -> list[dict[str, Any]]:
    """One row an event: what it was, in words; a model's own words apart."""
    rows: list[dict[str, Any]] = []
    state = State()
    for stored in events:
        state = fold(state, stored.event, stored.epoch)
        row = {"event": stored.seq, "step": state.step, "type": stored.event.type, "what": _what(stored.event)}
        note = getattr(stored.event, "note", "")
        if note and not isinstance(stored.event, Replied):
            row["model_says_unverified"] = one_line(note, 300)
        rows.append(row)
    return rows


def _what(event: object) -> str:
    if isinstance(event, Started):
        values = ", ".join(str(value) for value in event.input.values() if isinstance(value, str) and value)
        return one_line(f"{event.tool} {values}", 200)
    if isinstance(event, Checked):
        return one_line("known: " + ", ".join(fact.name for fact in event.facts) if event.facts else "nothing new", 200)
    if isinstance(event, Observed):
        fields: Mapping[str, Any] = event.fields if isinstance(event.fields, dict) else {}
        said = [f"{k} {fields[k]}" for k in ("status", "verdict", "grade", "matches", "path") if fields.get(k)]
        return one_line(f"{event.tool}: {', '.join(said) or 'observed'}", 200)
    names = ("reason", "message", "problem", "tool")
    words = next((str(getattr(event, name)) for name in names if getattr(event, name, "")), "")
    by = f"{event.by}: " if isinstance(event, ApprovalGiven | ApprovalRefused) else ""
    return one_line(f"{by}{words}", 200)
