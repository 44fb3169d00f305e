"""What a run came to, whatever its end: one shape, built from the state alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootproof import canonical, completion
from rootproof.canonical import Json
from rootproof.contract import Contract, read_document
from rootproof.effect import ApprovalRequested, Begun
from rootproof.errors import LedgerDamaged
from rootproof.event import Started, Usage
from rootproof.fact import Fact
from rootproof.state import State
from rootproof.status import EXIT_STATUS, UNSUCCESSFUL, Status


@dataclass(frozen=True)
class Outcome:
    """The result of one run. Not an exception at any end."""

    run: str
    status: Status
    reason: str
    answer: str | None
    facts: Mapping[str, Fact]
    """Facts that stand, by name; where several subjects have one, that of the concluded subject."""
    missing: tuple[str, ...]
    spent: Usage
    steps: int
    contract_digest: str
    contract_by: str
    origin: str
    containment: str
    model: str
    head: str
    """Hash of the last event: held elsewhere, it proves every event before it."""
    asks: Mapping[str, Json] | None = None
    """What a person is asked to approve, exactly; None where nothing is."""
    effects: tuple[Begun, ...] = ()
    """Side effects that stand: done or possibly done, and not undone."""

    @property
    def exit_status(self) -> int:
        """As ``semantics`` lists them. A contract that the proposer wrote is never plain success."""
        if self.status == "success" and self.contract_by != "user":
            return EXIT_STATUS["undetermined"]
        return EXIT_STATUS[self.status]

    @property
    def effects_to_undo(self) -> bool:
        """It ended otherwise than in success, and not all of what it changed is undone."""
        return self.status in UNSUCCESSFUL and bool(self.effects)

    def document(self) -> dict[str, Json]:
        """As JSON."""
        return {
            "schema": "rootproof/outcome/1",
            "run": self.run,
            "status": self.status,
            "exit_status": self.exit_status,
            "reason": self.reason,
            "answer": self.answer,
            "facts": {name: fact.model_dump(mode="json") for name, fact in self.facts.items()},
            "missing": list(self.missing),
            "spent": self.spent.model_dump(mode="json"),
            "steps": self.steps,
            "contract_digest": self.contract_digest,
            "contract_by": self.contract_by,
            "origin": self.origin,
            "containment": self.containment,
            "model": self.model,
            "head": self.head,
            "asks": self.asks,
            "effects": [vars(effect) for effect in self.effects],
        }


def outcome(run: str, contract: Contract, state: State, head: str) -> Outcome:
    """Build the result of a run from its state."""
    began = state.began
    facts: dict[str, Fact] = {}
    for fact in state.facts.values():
        if fact.standing == "held" and (fact.name not in facts or fact.about == state.subject):
            facts[fact.name] = fact
    return Outcome(
        run=run,
        status=state.status,
        reason=state.reason,
        answer=completion.answer(contract, state),
        facts=facts,
        missing=() if state.status == "success" else completion.missing_words(contract, state),
        spent=state.spent,
        steps=state.step,
        contract_digest=began.contract_digest if began else contract.digest,
        contract_by=began.contract_by if began else "user",
        origin=began.origin if began else "",
        containment=began.containment if began else "none",
        model=began.model if began else "",
        head=head,
        asks=_asks(state),
        effects=state.effects.begun,
    )


def _asks(state: State) -> Mapping[str, Json] | None:
    """The action that waits for a person: still to be decided, or decided and still to be begun."""
    asked = state.pending
    if state.status != "waiting" or not isinstance(asked, ApprovalRequested | Started):
        return None
    given = state.effects.given
    request = asked if isinstance(asked, ApprovalRequested) else None
    return {
        "tool": asked.tool,
        "input": asked.input,
        "request": asked.request,
        "begun": request is None,
        "expires_at": request.expires_at if request else None,
        "compensation": request.compensation if request else None,
        "approved_by": given.by if given else None,
    }


def prove(run: str, state: State) -> None:
    """That a state is that of a run under its own contract and, after success, that its facts meet the criteria.

    Raises:
        LedgerDamaged: it is not, or they do not.
    """
    if state.began is None:
        raise LedgerDamaged(f"run {run}: event 1 is not the beginning of a run")
    contract = read_document(state.began.contract)
    if canonical.digest(state.began.contract) != state.began.contract_digest:
        raise LedgerDamaged(f"run {run}: event 1 holds another contract than its digest says")
    if state.status == "success" and completion.unmet(contract, state, state.subject):
        raise LedgerDamaged(f"run {run}: event {state.seq} says success, but its criteria are not met by its facts")
