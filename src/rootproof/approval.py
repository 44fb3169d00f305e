"""A person's approval: asked for, and settled when the run is taken up again. It never skips authorisation.

An approval is bound to one canonical input by its digest, to the contract by its digest, and to a time. Where any of
them no longer fits, the action is refused and the run goes on.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

from rootproof import completion, policy
from rootproof.authority import authorise
from rootproof.case import Case
from rootproof.effect import ApprovalExpired, ApprovalGiven, ApprovalRequested, Effects, Waiting, idempotency_key
from rootproof.event import Blocked, Rejected, Started, Stopped
from rootproof.ledger.interface import Entry, Ledger
from rootproof.protocol import Action
from rootproof.state import State
from rootproof.tools.interface import ToolSpec


def moment(effects: Effects, after_seconds: float = 0.0) -> str:
    """Now, in UTC; never before a moment that the run already knows, however far a clock was set back."""
    now = datetime.fromtimestamp(time.time(), timezone.utc)
    known = datetime.fromisoformat(effects.moment) if effects.moment else now
    return (max(now, known) + timedelta(seconds=after_seconds)).isoformat(timespec="milliseconds")


def ask(case: Case, state: State, spec: ToolSpec, allowed: policy.Allowed, note: str) -> Entry:
    """The run stops here until a person has decided."""
    request = ApprovalRequested(
        tool=spec.name,
        input=dict(allowed.input),
        request=allowed.digest,
        contract=case.contract.digest,
        at=moment(state.effects),
        expires_at=moment(state.effects, case.contract.policy.approval_seconds),
        compensation=spec.side.compensation,
        note=note,
    )
    return Entry(request)


def settle(case: Case, ledger: Ledger, state: State, asked: ApprovalRequested) -> Entry:
    """Authorisation, expiry, decision and digests, all looked at again; then the action begins or is refused."""
    verdict = again(case, asked)
    if isinstance(verdict, policy.Denied):
        return Entry(Blocked(tool=asked.tool[:80], code=verdict.code, reason=verdict.reason))
    expired = ran_out(state.effects, asked)
    if expired:
        return Entry(expired)
    given = state.effects.given
    if given is None:
        return Entry(Waiting(reason=f"{asked.tool} still needs the approval of a person"))
    problem = _unfit(case, asked, given, verdict)
    if problem:
        return Entry(Rejected(tool=asked.tool, reason=problem, invalid=False))
    spent = completion.exhausted(case.contract, state)
    if spent:
        return Entry(Stopped(status="budget", reason=spent))
    key = key_of(ledger, case.tools[asked.tool].spec, asked.input)
    if key and any(one.key == key for one in state.effects.begun):
        same = ", ".join(case.tools[asked.tool].spec.side.key_fields)
        said = f"the same effect was begun before: what counts is {same}, and it happens once"
        return Entry(Rejected(tool=asked.tool, reason=said, invalid=False))
    return Entry(Started(tool=asked.tool, input=asked.input, request=asked.request, note=asked.note, key=key))


def ran_out(effects: Effects, asked: ApprovalRequested | ApprovalGiven) -> ApprovalExpired | None:
    """What to record where a request or an approval no longer holds."""
    now = moment(effects)
    if now < asked.expires_at:
        return None
    return ApprovalExpired(request=asked.request, at=now, expires_at=asked.expires_at)


def key_of(ledger: Ledger, spec: ToolSpec, values: dict[str, object]) -> str:
    """The idempotency key of an effect of this run; empty for a tool without side effect."""
    if spec.effect != "side_effect":
        return ""
    return idempotency_key(ledger.run, spec.name, {name: values.get(name) for name in spec.side.key_fields})


def again(case: Case, asked: ApprovalRequested | Started) -> policy.Verdict:
    """Judge an action again from its canonical input, as a message would send it: what was left out is left out."""
    tool = case.tools.get(asked.tool)
    optional = {field.name for field in tool.spec.fields if not field.required} if tool else set()
    given = {name: value for name, value in asked.input.items() if value is not None or name not in optional}
    return authorise(case, Action(asked.tool, given))


def _unfit(case: Case, asked: ApprovalRequested, given: ApprovalGiven, verdict: policy.Verdict) -> str:
    """Why an approval does not cover what would be done now; empty where it does."""
    if not isinstance(verdict, policy.Allowed):
        return f"it can no longer be meant: {verdict.reason}"
    if verdict.digest != asked.request:
        return "what it would do now is not what approval was asked for"
    return elsewhere(case, asked, given, "input")


def elsewhere(case: Case, asked: ApprovalRequested, given: ApprovalGiven, what: str) -> str:
    """Why an approval belongs to something else than was asked for here; empty where it does not.

    Args:
        what: the word for what was asked for.
    """
    if given.request != asked.request:
        return f"the approval given by {given.by} is for another {what}"
    if not asked.contract == given.contract == case.contract.digest:
        return f"the approval given by {given.by} is for another contract"
    return ""
