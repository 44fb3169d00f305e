"""A contract in plain words, for a person who was not there when it was written. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from rootproof import completion
from rootproof.contract import Contract
from rootproof.text import one_line


def lines(contract: Contract) -> Iterator[str]:
    """The agreement, one sentence or list entry a line."""
    yield f"The question: {one_line(contract.goal, 400)}"
    yield f"It may read {_list(contract.scope.read)}."
    yield f"It may run {_list(contract.scope.tests)}."
    never = f", nor {_list(contract.scope.never)}" if contract.scope.never else ""
    yield f"It may never read secret files{never}."
    tools = _list(tuple(sorted(contract.tools)))
    yield f"It has the tools {tools}, none of which may reach {_list(contract.scope.excluded)}."
    yield from _mode(contract)
    yield from _budget(contract)
    on_invalid = "ends the run" if contract.policy.on_invalid_input == "block" else "is refused with a hint"
    yield f"A request that cannot be meant {on_invalid}; one outside these bounds ends the run."
    yield "What becomes a fact:"
    for item in contract.evidence:
        otherwise = "; if it is seen otherwise, the run fails" if item.otherwise == "fail" else ""
        yield f"  {item.id}: {one_line(completion.needs(item), 300)}{otherwise}"
    yield "Success needs every one of:"
    for text in contract.completion.all:
        yield f"  {one_line(text, 300)}"
    if contract.answer:
        yield f"The answer then reads: {one_line(contract.answer.template, 500)}"
    yield f"Digest of this agreement: {contract.digest}"


def _mode(contract: Contract) -> Iterator[str]:
    if contract.mode == "workflow":
        yield "Its steps are fixed, and no model is asked:"
        for number, step in enumerate(contract.workflow, 1):
            when = f", if {one_line(step.when, 200)}" if step.when else ""
            values = ", ".join(f"{name} {one_line(str(value), 120)}" for name, value in step.input.items())
            yield f"  {number}. {step.tool}{' on ' + values if values else ''}{when}"
    elif contract.mode == "plan":
        who = "a person, after the rules," if contract.plan.review == "person" else "the rules"
        yield (
            f"A model sends a plan of at most {contract.plan.max_steps} steps, which {who} must accept as a whole "
            f"before it starts; at most {contract.plan.replans} plans may follow the first."
        )


def _budget(contract: Contract) -> Iterator[str]:
    budget = contract.budget
    yield (
        f"It ends after {budget.max_steps} steps, {budget.max_consecutive_parse_errors} unreadable messages "
        f"in a row, or {budget.max_consecutive_invalid_actions} requests in a row that cannot be meant."
    )
    limits = {
        "seconds": budget.seconds,
        "CPU seconds": budget.cpu_seconds,
        "test runs": budget.test_runs,
        "model tokens": budget.model_tokens,
        "steps without a new fact": budget.max_no_progress,
    }
    yield "It may use " + ", ".join(f"{limit:g} {name}" for name, limit in limits.items() if limit) + "."


def _list(values: tuple[str, ...]) -> str:
    shown = ", ".join(one_line(value, 120) for value in values[:12])
    return (shown or "nothing") + (f" and {len(values) - 12} more" if len(values) > 12 else "")
