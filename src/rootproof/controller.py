"""The loop: one turn decides the one thing that happens next and appends one event. No path goes round it.

It knows no provider, no tool and no kind of question: only nouns, rules, the ground and the interfaces.
"""

from __future__ import annotations

from rootproof import approval, completion, mode, plan, recovery, review, turn
from rootproof.case import Case
from rootproof.effect import ApprovalRequested
from rootproof.errors import ModelUnavailable
from rootproof.event import Interrupted, Observed, Replied, Started, Stopped
from rootproof.ledger.interface import Entry, Ledger
from rootproof.state import State


def investigate(case: Case, ledger: Ledger, first: Entry | None = None) -> State:
    """Run one investigation to its end; resuming is the same call on a ledger that is not empty.

    Args:
        first: what begins the run, or takes it up again.

    Raises:
        KeyboardInterrupt: before anything was stored, or while undoing: how it ended stands then, and what is not yet
            undone is, when the run is taken up again. At any other moment the run ends as cancelled.
    """
    try:
        return _to_the_end(case, ledger, first)
    except KeyboardInterrupt:
        state = ledger.replay()  # what the interrupted turn stored, if anything
        if state.began is None or state.undoing:
            raise
        if state.stopped:
            return state
        return ledger.append(state, Entry(Stopped(status="cancelled", reason="the user interrupted")))


def _to_the_end(case: Case, ledger: Ledger, first: Entry | None) -> State:
    state = ledger.replay()
    if first is not None:
        state = ledger.append(state, first)
    while not state.stopped:
        try:
            state = ledger.append(state, next_event(case, ledger, state))
        except ModelUnavailable as error:
            state = ledger.append(state, Entry(Interrupted(reason=str(error))))
    return state


def next_event(case: Case, ledger: Ledger, state: State) -> Entry:
    """Decide the one thing that happens next: judge what is pending, stop, take a laid step, or ask the model."""
    if state.undoing:
        return recovery.undo(case, ledger, state)
    match state.pending:
        case Observed() as observed:
            return turn.check(case, ledger, state, observed)
        case ApprovalRequested(tool=plan.PLAN) as asked:
            return review.settle(case, state, asked)
        case ApprovalRequested() as asked:
            return approval.settle(case, ledger, state, asked)
        case Started() as started:
            return turn.carry_out(case, ledger, state, started)
        case Replied() as reply:
            return turn.judge(case, state, reply)
        case None if stopped := completion.stop_reason(case.contract, state):
            return Entry(stopped)
        case None if laid := mode.following(case.contract, state):
            return Entry(laid)
        case None:
            return turn.ask(case, state)
