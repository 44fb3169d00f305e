"""A named person's decision about a run that waits: one event, bound to what was asked. It begins nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rootproof import approval, assemble
from rootproof.contract import read_document
from rootproof.effect import ApprovalGiven, ApprovalRefused, ApprovalRequested
from rootproof.errors import UsageError
from rootproof.event import Started
from rootproof.ledger.interface import Entry
from rootproof.ledger.transfer import refuse_unvouched
from rootproof.outcome import Outcome, outcome
from rootproof.plan import PLAN, PlanStep
from rootproof.state import State
from rootproof.text import one_line


@dataclass(frozen=True)
class Decision:
    """Who says what about the action a run waits for."""

    answer: Literal["approve", "refuse"]
    by: str
    reason: str
    request: str = ""
    """The beginning of the digest of what the person saw; empty: whatever the run waits for now."""
    steps: tuple[PlanStep, ...] = ()
    """Where a plan is approved: what is to be carried out in its place."""


def decide(run: str, decision: Decision, store_file: str | Path | None) -> Outcome:
    """Record a decision. Of two at the same time one is recorded, and the other is told so.

    Raises:
        UsageError: the run waits for nothing, for something else, or was decided already.
        StoreBusy: another process has the run at this moment.
    """
    for name, value, most in (("--by", decision.by, 200), ("--reason", decision.reason, 2000)):
        if not value.strip() or len(value) > most:
            raise UsageError(f"{name} needs 1 to {most} characters", "a decision has a name and a reason")
    store = assemble.open_store(store_file)
    try:
        run = store.find(run)
        refuse_unvouched(store, run)
        asked_of(run, assemble.proved(store, run), decision)
        ledger = store.take(run)
        try:
            state = ledger.replay()  # as it is now that nobody else can write
            asked = asked_of(run, state, decision)
            state = ledger.append(state, Entry(_event(state, asked, decision)))
        finally:
            ledger.release()
        assert state.began is not None
        return outcome(run, read_document(state.began.contract), state, store.head(run))
    finally:
        store.close()


def asked_of(run: str, state: State, decision: Decision) -> ApprovalRequested | Started:
    """What the run waits for.

    Raises:
        UsageError: nothing, or not what the decision is about.
    """
    asked = state.pending
    if state.status != "waiting" or not isinstance(asked, ApprovalRequested | Started):
        said = state.status if state.stopped else "still running"
        raise UsageError(
            f"run {run} waits for no approval: it is {said}", f"`rootproof show {run}` tells how it stands"
        )
    given = state.effects.given
    if given is not None:
        raise UsageError(
            f"run {run}: {given.by} has approved it already ({one_line(given.reason, 100)})",
            f"`rootproof resume {run}` goes on",
        )
    if decision.request and not asked.request.startswith(decision.request.lower()):
        raise UsageError(
            f"run {run} waits for another input: {asked.request[:16]}, not {one_line(decision.request, 80)}",
            f"`rootproof show {run}` shows exactly what would be done",
        )
    if decision.steps and asked.tool != PLAN:
        raise UsageError(f"run {run} waits for {asked.tool}, not for a plan", "leave --plan out")
    if isinstance(asked, ApprovalRequested) and approval.ran_out(state.effects, asked):
        raise UsageError(
            f"run {run}: the request for approval ran out at {asked.expires_at}",
            f"`rootproof resume {run}` records that and goes on",
        )
    return asked


def _event(state: State, asked: ApprovalRequested | Started, decision: Decision) -> ApprovalGiven | ApprovalRefused:
    assert state.began is not None
    contract = read_document(state.began.contract)
    at = approval.moment(state.effects)
    by, reason = one_line(decision.by, 400), one_line(decision.reason, 4000)
    if decision.answer == "refuse":
        return ApprovalRefused(by=by, reason=reason, request=asked.request, at=at)
    until, under = approval.moment(state.effects, contract.policy.approval_seconds), contract.digest
    if isinstance(asked, ApprovalRequested):
        until, under = asked.expires_at, asked.contract
    return ApprovalGiven(
        by=by, reason=reason, request=asked.request, contract=under, at=at, expires_at=until, steps=decision.steps
    )
