"""The events of a run as rows in words; what a model said of its own accord stands in a field of its own. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rootproof.effect import ApprovalGiven, ApprovalRefused
from rootproof.event import Began, Checked, FinalJudged, Observed, Planned, Replied, Started, Usage
from rootproof.ledger.interface import Stored
from rootproof.report.document import Row
from rootproof.state import State, fold
from rootproof.text import one_line, quoted

OWN_WORDS = ("why",)
"""Inputs that are a proposer's reasons, by which nothing is decided."""
_CHIEF = ("test", "target", "path", "query", "kind")
_TOLD = ("status", "verdict", "grade", "tries", "matches", "path", "total_lines")
WIDTH = 200


def timeline(events: Sequence[Stored]) -> list[Row]:
    """One row an event."""
    rows: list[Row] = []
    state = State()
    for stored in events:
        state = fold(state, stored.event, stored.epoch)
        event = stored.event
        usage = getattr(event, "usage", Usage())
        rows.append(
            Row(
                event=stored.seq,
                step=state.step,
                type=event.type,
                tool=str(getattr(event, "tool", "")),
                what=what(event),
                at=stored.time,
                seconds=usage.seconds,
                test_runs=usage.test_runs,
                model_says_unverified=_own_words(event),
            )
        )
    return rows


def what(event: object) -> str:
    """What happened, by the controller's and the tools' words alone, as one inert line."""
    if isinstance(event, Started):
        return one_line(_asked(event.input), WIDTH)
    if isinstance(event, Checked):
        return _became_known(event)
    if isinstance(event, Observed):
        return _reported(event)
    if isinstance(event, Began):
        return one_line(f"contract by {event.contract_by}, {event.origin}", WIDTH)
    if isinstance(event, FinalJudged):
        missing = "; ".join(event.missing)
        return one_line("accepted: every criterion is met" if event.accepted else f"rejected, missing {missing}", WIDTH)
    names = ("reason", "message", "problem")
    words = next((str(getattr(event, name)) for name in names if getattr(event, name, "")), "")
    by = f"{event.by}: " if isinstance(event, ApprovalGiven | ApprovalRefused) else ""
    return one_line(f"{by}{words}", WIDTH)


def _asked(given: Mapping[str, Any]) -> str:
    ordered = sorted(given.items(), key=lambda item: (item[0] not in _CHIEF, item[0]))
    return ", ".join(value for name, value in ordered if isinstance(value, str) and value and name not in OWN_WORDS)


def _reported(event: Observed) -> str:
    fields: Mapping[str, Any] = event.fields if isinstance(event.fields, dict) else {}
    said = [f"{name} {quoted(fields[name], 80)}" for name in _TOLD if fields.get(name) not in (None, "")]
    if event.cut:
        said.append(f"cut: {event.cut}")
    return one_line(", ".join(said) or "observed", WIDTH)


def _became_known(event: Checked) -> str:
    if event.failed:
        return one_line(f"does not hold: {event.reason}", WIDTH)
    names = dict.fromkeys(fact.name for fact in event.facts)
    known = "now known: " + ", ".join(names) if names else "nothing new became known"
    withdrawn = ", ".join(name for name, _ in event.conflicts)
    return one_line(known + (f"; withdrawn, for it is contradicted: {withdrawn}" if withdrawn else ""), WIDTH)


def _own_words(event: object) -> str:
    if isinstance(event, Replied | Planned):
        return ""
    said = [str(getattr(event, "note", ""))]
    if isinstance(event, Started):
        said += [str(event.input[name]) for name in OWN_WORDS if isinstance(event.input.get(name), str)]
    return one_line("; ".join(dict.fromkeys(words for words in said if words)), 300)
