"""What each kind of turn does: ask, judge a message, carry out an action, check an observation, judge a final.

Each function looks at the state and returns the one event that follows. None of them changes the state.
"""

from __future__ import annotations

import time

from rootproof import approval, canonical, completion, evidence, policy, protocol, recovery, review, text, view
from rootproof.authority import authorise
from rootproof.case import Case
from rootproof.contract import read_document
from rootproof.event import (
    Blocked,
    FinalJudged,
    Interrupted,
    InvalidObservation,
    Known,
    Observed,
    ParseError,
    Rejected,
    Replied,
    Started,
    Stopped,
    Usage,
)
from rootproof.ledger.interface import Entry, Ledger
from rootproof.place import Located
from rootproof.recording import record
from rootproof.scope import differing
from rootproof.state import State
from rootproof.tools.interface import Declined, Observation, Request, ToolSpec


def ask(case: Case, state: State) -> Entry:
    """One model call. Its raw reply is stored before it is judged."""
    began = time.monotonic()
    reply = case.model.propose(view.render(case.contract, case.frame, state))
    usage = Usage(seconds=time.monotonic() - began, model_tokens=reply.tokens, cost=reply.cost)
    # One character over the limit is enough to be judged as too large again, however much was sent.
    said = text.whole(reply.text[: protocol.MAX_MESSAGE + 1])
    return Entry(Replied(text=said, finish=reply.finish, label=text.one_line(reply.label, 200), usage=usage))


def judge(case: Case, state: State, reply: Replied) -> Entry:
    """Parse error, final, a plan that is reviewed, or an action that is authorised, rejected or blocked."""
    planning = case.contract.mode == "plan"
    message = protocol.parse(reply.text, reply.finish, planning)
    if isinstance(message, protocol.Malformed):
        error = ParseError(code=message.code, message=message.message, line=message.line, column=message.column)
        return Entry(error)
    if isinstance(message, protocol.Final):
        return final(case, state, message)
    if isinstance(message, protocol.Plan):
        return review.review(case, state, message)
    if planning and reply.origin == "model":
        reason = "under this contract actions are taken from an accepted plan only"
        return Entry(Rejected(tool=message.tool[:80], reason=reason, hint="send a plan, or final", note=message.note))
    verdict = authorise(case, message)
    if isinstance(verdict, policy.Denied):
        return Entry(Blocked(tool=message.tool[:80], code=verdict.code, reason=verdict.reason))
    if isinstance(verdict, policy.Invalid):
        return Entry(Rejected(tool=message.tool, reason=verdict.reason, hint=verdict.hint, note=message.note))
    return _begin(case, state, verdict, message)


def _begin(case: Case, state: State, allowed: policy.Allowed, message: protocol.Action) -> Entry:
    assert state.began is not None
    earlier = state.requests.get(allowed.digest)
    spec = case.tools[message.tool].spec
    once = spec.effect == "side_effect"  # its effect is the same, whatever the files say now
    if earlier and not spec.repeatable and (once or not case.scope.changed(state.began.scope)):
        known = Known(
            tool=message.tool, request=allowed.digest, since_step=earlier.step, event=earlier.event, note=message.note
        )
        return Entry(known)
    spent = completion.exhausted(case.contract, state)
    if spent:
        return Entry(Stopped(status="budget", reason=spent))
    if spec.side.approval:
        return approval.ask(case, state, spec, allowed, message.note)
    return Entry(Started(tool=message.tool, input=dict(allowed.input), request=allowed.digest, note=message.note))


def carry_out(case: Case, ledger: Ledger, state: State, started: Started) -> Entry:
    """Enter the tool, once. An action whose end nobody saw is closed first, then run once more."""
    spec = case.tools[started.tool].spec
    if state.retry:
        spent = completion.exhausted(case.contract, state)
        again = started.model_copy(update={"attempt": started.attempt + 1})
        return Entry(Stopped(status="budget", reason=spent) if spent else again)
    if state.pending_epoch != ledger.epoch:
        return recovery.look_up(case, state, started) if started.key else _lost(case, spec, started)
    result = case.tools[started.tool].run(_request(case, state, spec, started))
    if isinstance(result, Declined):
        usage = Usage(**vars(result.spent))
        return Entry(Rejected(tool=started.tool, reason=result.reason, hint=result.hint, usage=usage))
    assert state.began is not None
    changed = case.scope.changed(state.began.scope)
    stale = tuple(path for path in changed if not result.reads or path in result.reads)
    return record(started, result, stale, case.secrets)


def _lost(case: Case, spec: ToolSpec, started: Started) -> Entry:
    if started.attempt == 1:
        reason = f"{started.tool} was begun and its end was not seen; it runs once more"
        times = started.input.get(spec.times)
        runs = spec.test_runs * (times if type(times) is int else 1)
        return Entry(Interrupted(reason=reason, resumable=False, usage=Usage(test_runs=runs)))
    echoed = {name: started.input[name] for name in spec.echoes}
    said = {"status": "crashed"} if spec.result("status") else {}
    lost = Observation({**said, **echoed}, "begun twice; its end was never seen", cut="crashed")
    return record(started, lost, (), case.secrets)


def _request(case: Case, state: State, spec: ToolSpec, started: Started) -> Request:
    paths: dict[str, Located] = {}
    for _, name, value in (n for n in policy.named_values(spec, started.input) if n[0].kind == "path"):
        place = case.scope.locate(str(value)) if value is not None else None
        if isinstance(place, Located):
            paths[name] = place
    left = completion.left(case.contract, state)
    room = (left.seconds, left.cpu_seconds, left.test_runs)
    return Request(started.tool, started.input, paths, *room, state.tries, case.secrets, started.key)


def check(case: Case, ledger: Ledger, state: State, observed: Observed) -> Entry:
    """Source and structure first, then evidence. Judged on the stored bytes."""
    spec = case.tools[observed.tool].spec
    problem = evidence.unsound(spec, observed.input, observed)
    if problem:
        return Entry(InvalidObservation(tool=observed.tool, problem=problem))
    attachments = {name: ledger.blob(digest) for name, digest in observed.attachments.items()}
    seen = evidence.Seen(observed.input, observed, attachments, spec.times)
    return Entry(evidence.judge(case.contract, spec, state, seen, case.checks))


def final(case: Case, state: State, message: protocol.Final) -> Entry:
    """Hash the scope again; then only the criteria decide."""
    assert state.began is not None
    began = time.monotonic()
    now = case.scope.manifest()
    stale = differing(state.began.scope, now)
    judged = FinalJudged(accepted=False, stale=stale, scope_digest=canonical.digest(now), note=message.note)
    agreed = read_document(state.began.contract)  # what event 1 fixed, whatever became of the object in memory
    after = completion.after_final(agreed, state, judged)
    usage = Usage(seconds=time.monotonic() - began)
    return Entry(after.model_copy(update={"usage": usage}))
