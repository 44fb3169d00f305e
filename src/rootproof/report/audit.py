"""From the verified events of a run to an audit: who decided what, what was refused, which limits were hit. Pure.

Nothing is left out and nothing is added: every row names the event it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rootproof.effect import ApprovalExpired, ApprovalGiven, ApprovalRefused, ApprovalRequested, Undone
from rootproof.event import (
    Blocked,
    Checked,
    FinalJudged,
    Interrupted,
    InvalidObservation,
    Observed,
    ParseError,
    Rejected,
    Resumed,
    Started,
    Stopped,
)
from rootproof.ledger.interface import Stored
from rootproof.masking import MASK
from rootproof.report.build import Ledger
from rootproof.state import State, fold
from rootproof.text import one_line

SCHEMA = "rootproof/audit/1"

Row = dict[str, Any]


def audit(ledger: Ledger) -> dict[str, Any]:
    """The whole audit as plain data."""
    began, state = ledger.state.began, ledger.state
    assert began is not None
    rows = list(_rows(ledger))
    return {
        "schema": SCHEMA,
        "run": ledger.run,
        "head": ledger.events[-1].hash,
        "events": len(ledger.events),
        "began_at": ledger.events[0].time,
        "contract": {"digest": began.contract_digest, "by": began.contract_by, "origin": began.origin},
        "model": began.model,
        "rules": began.rules,
        "tools": dict(began.tools),
        "containment": began.containment,
        "status": state.status,
        "reason": state.reason,
        "approvals": [row for kind, row in rows if kind == "approval"],
        "refusals": [row for kind, row in rows if kind == "refusal"],
        "limits": [row for kind, row in rows if kind == "limit"],
        "effects": [row for kind, row in rows if kind == "effect"],
        "interruptions": [row for kind, row in rows if kind == "interruption"],
        "masked": [row for kind, row in rows if kind == "mask"],
    }


def _rows(ledger: Ledger) -> Iterator[tuple[str, Row]]:
    state = State()
    for stored in ledger.events:
        before, state = state, fold(state, stored.event, stored.epoch)
        place = {"event": stored.seq, "step": state.step, "at": stored.time}
        yield from ((kind, {**place, **row}) for kind, row in _of(stored, before, state))


def _of(stored: Stored, before: State, after: State) -> Iterator[tuple[str, Row]]:
    yield from _approval(stored)
    yield from _refusal(stored)
    yield from _limit(stored)
    yield from _effect(stored, before, after)
    match stored.event:
        case Interrupted() as event:
            yield "interruption", {"what": "interrupted", "reason": event.reason}
        case Resumed() as event:
            said = {"by": event.by, "model": event.model, "containment": event.containment}
            yield "interruption", {"what": "resumed", **said}
        case Observed() as event:
            masked = _masked(event)
            if masked:
                yield "mask", {"tool": event.tool, "masked": masked}


def _approval(stored: Stored) -> Iterator[tuple[str, Row]]:
    match stored.event:
        case ApprovalRequested() as event:
            asked = {"tool": event.tool, "input": event.input, "request": event.request, "until": event.expires_at}
            yield "approval", {"what": "requested", **asked}
        case ApprovalGiven() as event:
            yield "approval", {"what": "given", "by": event.by, "reason": event.reason, "request": event.request}
        case ApprovalRefused() as event:
            yield "approval", {"what": "refused", "by": event.by, "reason": event.reason, "request": event.request}
        case ApprovalExpired() as event:
            yield "approval", {"what": "expired", "request": event.request, "until": event.expires_at}


def _refusal(stored: Stored) -> Iterator[tuple[str, Row]]:
    event = stored.event
    match event:
        case ParseError():
            row = {"reason": event.message}
        case Rejected() | Blocked():
            row = {"tool": event.tool, "reason": event.reason}
        case InvalidObservation():
            row = {"tool": event.tool, "reason": event.problem}
        case FinalJudged(accepted=False):
            row = {"reason": "missing " + "; ".join(event.missing)}
        case ApprovalRefused():
            row = {"reason": f"refused by {event.by}: {event.reason}"}
        case ApprovalExpired():
            row = {"reason": f"the approval ran out at {event.expires_at}"}
        case Checked() if event.failed:
            row = {"tool": event.tool, "reason": event.reason}
        case _:
            return
    yield "refusal", {"what": event.type, **row}


def _limit(stored: Stored) -> Iterator[tuple[str, Row]]:
    match stored.event:
        case Stopped() as event:
            yield "limit", {"what": event.status, "reason": event.reason}
        case Observed() as event if event.cut:
            yield "limit", {"what": event.cut, "reason": f"the observation of {event.tool} is not whole"}
        case Observed() as event if "truncated" in event.flags:
            yield "limit", {"what": "output", "reason": f"the text of {event.tool} was shortened"}


def _effect(stored: Stored, before: State, after: State) -> Iterator[tuple[str, Row]]:
    match stored.event:
        case Started() as event if event.key:
            yield "effect", {"what": "begun", "tool": event.tool, "key": event.key, "attempt": event.attempt}
        case Observed() as event if isinstance(before.pending, Started) and before.pending.key:
            yield "effect", {"what": "observed", "tool": event.tool, "key": before.pending.key}
        case Undone() as event:
            said = {"tool": event.tool, "key": event.key, "reason": event.reason}
            yield "effect", {"what": event.status, **said}


def _masked(event: Observed) -> dict[str, int]:
    """Kind of secret → how often it was masked."""
    return {flag.split(":", 2)[1]: int(flag.split(":", 2)[2]) for flag in event.flags if flag.startswith("masked:")}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The same for a person. Every text from outside is one inert line."""
    contract = found["contract"]
    yield f"run {found['run']}: {found['events']} events, the chain is whole, head {found['head']}"
    yield f"began {found['began_at']}, model {one_line(found['model'], 80)}, containment {found['containment']}"
    origin = one_line(contract["origin"], 200) or "nowhere named"
    yield f"contract {contract['digest']} by {contract['by']}, from {origin}"
    yield (
        f"ended {found['status']}: {one_line(found['reason'], 300)}" if found["reason"] else f"it is {found['status']}"
    )
    titles = {
        "approvals": "approvals",
        "refusals": "refusals",
        "limits": "limits hit",
        "effects": "side effects",
        "interruptions": "interruptions",
        "masked": f"secrets masked as {MASK}",
    }
    for key, title in titles.items():
        rows = found[key]
        yield f"{title}: {len(rows) or 'none'}"
        yield from (f"  event {row['event']}, step {row['step']}, {row['at']}: {_told(row)}" for row in rows)


def _told(row: Row) -> str:
    parts = [str(row["what"])] if "what" in row else []
    parts += [f"{name} {row[name]}" for name in ("tool", "by", "until", "model", "masked") if row.get(name)]
    for name in ("request", "key"):
        if row.get(name):
            parts.append(f"{name} {str(row[name])[:16]}")
    if row.get("reason"):
        parts.append(str(row["reason"]))
    return one_line(", ".join(parts), 400)
