"""Events and outcomes as lines a person reads. No untrusted text begins a line, and all of it is inert."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rootproof.effect import (
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    Undone,
    Waiting,
)
from rootproof.event import (
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
    Started,
    Stopped,
)
from rootproof.fact import Fact
from rootproof.outcome import Outcome
from rootproof.state import State
from rootproof.text import one_line, quoted

WIDTH = 160
_CHIEF = ("test", "path", "query")
"""Inputs that are told first, whatever order they were sent or stored in."""
_SHOWN = ("status", "expected", "actual", "matches", "path", "total_lines", "verdict", "grade", "rule", "tries", "best")
SUSPECTS = 3
"""Leading suspects that are shown as they become known."""


def asked(event: Started) -> str:
    """An action in one line."""
    ordered = sorted(event.input.items(), key=lambda item: (item[0] not in _CHIEF, item[0]))
    values = ", ".join(value for _, value in ordered if isinstance(value, str) and value)
    return one_line(f"{event.tool} {values}", WIDTH)


def came_back(observed: Observed) -> str:
    """The result's chief fields in one line."""
    fields = observed.fields if isinstance(observed.fields, dict) else {}
    parts = [f"{name} {quoted(fields[name], 60)}" for name in _SHOWN if fields.get(name) not in (None, "")]
    if observed.cut:
        parts.append(f"cut: {observed.cut}")
    return one_line(", ".join(parts) or "no fields", WIDTH)


def suspect_lines(observed: Observed) -> tuple[str, ...]:
    """The leading suspects of an observation that ranks some, each with its reason."""
    fields = observed.fields if isinstance(observed.fields, dict) else {}
    rows = fields.get("functions")
    lines = []
    for row in rows[:SUSPECTS] if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("rank"), int | float):
            place = f"{row.get('path')}:{row.get('first')} {row.get('function')}"
            lines.append(one_line(f"suspect {row['rank']:g}: {place}: {row.get('why')}", 240))
    return tuple(lines)


def known(facts: Iterable[Fact]) -> str:
    """What became known, in one line."""
    shown = [fact.name if fact.value is True else f"{fact.name}={quoted(fact.value, 60)}" for fact in facts]
    return one_line(", ".join(shown), 240)


def step_line(event: Event) -> tuple[str, str] | None:
    """The word and the line for an event that ends a step; None for the others."""
    match event:
        case ParseError():
            return "parse_error", event.message
        case Rejected():
            return "rejected", f"{event.tool}: {event.reason}" + (f" ({event.hint})" if event.hint else "")
        case Planned():
            return "plan", planned(event)
        case Known():
            return event.tool, f"known since step {event.since_step}"
        case Blocked():
            return "blocked", event.reason
        case InvalidObservation():
            return "invalid_observation", f"{event.tool}: {event.problem}"
        case FinalJudged():
            said = "final: accepted" if event.accepted else "final: rejected"
            return said, "" if event.accepted else "missing " + "; ".join(event.missing)
        case Stopped() | Interrupted(resumable=True):
            return "stopped", event.reason
    return effect_line(event)


def planned(event: Planned) -> str:
    """An accepted plan in one line."""
    steps = "; ".join(step.tool or step.type for step in event.steps)
    return f"{'edited and ' if event.edited else ''}accepted by {event.by}, {len(event.steps)} steps: {steps}"


def effect_line(event: Event) -> tuple[str, str] | None:
    """The same for approvals and compensations."""
    match event:
        case ApprovalRequested():
            return "approval", f"{event.tool} waits for a person; request {event.request[:16]}"
        case ApprovalGiven():
            return "approved", f"by {event.by}: {event.reason}"
        case ApprovalRefused():
            return "refused", f"by {event.by}: {event.reason}"
        case ApprovalExpired():
            return "expired", f"the approval ran out at {event.expires_at}"
        case Waiting():
            return "waiting", event.reason
        case Undone():
            return "undo", f"{event.tool}: {event.status}" + (f" ({event.reason})" if event.reason else "")
    return None


def outcome_lines(outcome: Outcome) -> list[str]:
    """The end of a run."""
    lines = [f"status={outcome.status}", f"reason: {one_line(outcome.reason, 300)}"]
    if outcome.contract_by != "user":
        lines.append("the contract was written by whoever proposed the steps: this is no plain success")
    if outcome.answer is not None:
        lines.append(f"answer: {one_line(outcome.answer, 2000)}")
    lines += [f"missing: {one_line(text, WIDTH + 40)}" for text in outcome.missing]
    lines += _asked_of_a_person(outcome)
    for effect in outcome.effects:
        stuck = f"; it could not be undone: {one_line(effect.stuck, 200)}" if effect.stuck else ""
        lines.append(f"effect: {one_line(effect.tool, 80)} of step {effect.step} stands{stuck}")
    lines.append(f"spent: {_spent(outcome)}")
    if outcome.containment == "none":
        lines.append("containment: none (the tests could do whatever you can do)")
    lines.append(f"evidence: run {outcome.run}, head {outcome.head[:16]}")
    return lines


def _asked_of_a_person(outcome: Outcome) -> list[str]:
    """Exactly what would be done: the whole canonical input, every character that is not plain as an escape."""
    asks = outcome.asks
    if asks is None:
        return []
    shown = json.dumps(asks["input"], indent=2, sort_keys=True, ensure_ascii=True).splitlines()
    lines = [f"asks: {one_line(str(asks['tool']), 80)} with this input", *(f"  {line}" for line in shown)]
    lines.append(f"request: {asks['request']}")
    if asks["begun"]:
        lines.append("it was begun, and nobody can tell whether it was carried out")
    else:
        lines.append(f"holds until: {asks['expires_at']}")
        lines.append(f"undone by: {one_line(str(asks['compensation']), 300)}")
    if asks["approved_by"]:
        lines.append(f"approved by: {one_line(str(asks['approved_by']), 200)}")
    return lines


def checked_line(state: State, event: Checked) -> str:
    """What became known, or why nothing did."""
    new = [fact for fact in event.facts if not fact.check.startswith("built-in:")] or list(event.facts)
    if event.failed:
        return f"does not hold: {one_line(event.reason, 240)}"
    withdrawn = ", ".join(name for name, _ in event.conflicts)
    return (f"known: {known(new)}" if new else "nothing new") + (f"; in conflict: {withdrawn}" if withdrawn else "")


def _spent(outcome: Outcome) -> str:
    spent = outcome.spent
    tokens = f", {spent.model_tokens} model tokens" if spent.model_tokens else ""
    times = f"{spent.seconds:.1f} s, {spent.cpu_seconds:.1f} CPU s"
    return f"{outcome.steps} steps, {times}, {spent.test_runs} test runs{tokens}"
