"""The review of a plan: as a whole, before any of it runs; by the rules, and by a person where the contract says so.

A plan with one step that may not be is refused whole. A person can accept, edit or refuse what the rules allow, and
what was edited is judged by the same rules again.
"""

from __future__ import annotations

from rootproof import approval, canonical, mode, policy
from rootproof.authority import authorise
from rootproof.case import Case
from rootproof.effect import ApprovalGiven, ApprovalRequested, Waiting
from rootproof.event import Planned, Rejected
from rootproof.ledger.interface import Entry
from rootproof.plan import PLAN, PlanStep
from rootproof.protocol import Action, Plan
from rootproof.state import State

MOST_TOLD = 5
HINT = "the whole plan is refused and nothing of it was run; send another"


def review(case: Case, state: State, plan: Plan) -> Entry:
    """Accepted, refused whole, or laid before a person."""
    problems = objections(case, state, plan.steps)
    if problems:
        return Entry(Rejected(tool=PLAN, reason="; ".join(problems[:MOST_TOLD]), hint=HINT, note=plan.note))
    if case.contract.plan.review == "rules":
        return Entry(Planned(steps=plan.steps, note=plan.note))
    laid = {"steps": [step.model_dump(mode="json", exclude_defaults=True) for step in plan.steps]}
    asked = ApprovalRequested(
        tool=PLAN,
        input=laid,
        request=policy.request_digest(PLAN, laid),
        contract=case.contract.digest,
        at=approval.moment(state.effects),
        expires_at=approval.moment(state.effects, case.contract.policy.approval_seconds),
        note=plan.note,
    )
    return Entry(asked)


def settle(case: Case, state: State, asked: ApprovalRequested) -> Entry:
    """Expiry, decision, digests and the rules, all looked at again; then the plan stands or is refused."""
    expired = approval.ran_out(state.effects, asked)
    if expired:
        return Entry(expired)
    given = state.effects.given
    if given is None:
        return Entry(Waiting(reason="the plan still needs the approval of a person"))
    steps = given.steps or tuple(
        PlanStep.model_validate_json(canonical.to_bytes(step)) for step in asked.input["steps"]
    )
    unfit = _unfit(case, asked, given)
    problems = [*([unfit] if unfit else []), *objections(case, state, steps)]
    if problems:
        return Entry(Rejected(tool=PLAN, reason="; ".join(problems[:MOST_TOLD]), hint=HINT, invalid=False))
    return Entry(Planned(steps=steps, by=given.by, edited=bool(given.steps), note=asked.note))


def _unfit(case: Case, asked: ApprovalRequested, given: ApprovalGiven) -> str:
    if policy.request_digest(PLAN, asked.input) != asked.request:
        return "what it would do now is not what approval was asked for"
    return approval.elsewhere(case, asked, given, "plan")


def objections(case: Case, state: State, steps: tuple[PlanStep, ...]) -> list[str]:
    """Everything that speaks against a plan."""
    problems = mode.unfit(case.contract, state, steps)
    for number, step in enumerate(steps, 1):
        if step.type == "final":
            continue
        verdict = authorise(case, Action(step.tool, step.input))
        if not isinstance(verdict, policy.Allowed):
            problems.append(f"step {number}: {verdict.reason}")
    return problems
