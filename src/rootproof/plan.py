"""Steps laid down before they are taken: a contract's workflow, or a plan that a model sent and a reviewer accepted.

Laying down decides nothing else: when its turn comes, every step is a message like any other, parsed and authorised
as ever.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rootproof import canonical
from rootproof.fact import Noun

PLAN = "plan"
"""Stands where a tool's name would, when a plan itself is asked about or refused. No tool has this name."""
FINAL_MESSAGE = '{"type":"final"}'


class WorkflowStep(Noun):
    """One fixed step of a contract."""

    tool: Annotated[str, Field(min_length=1, max_length=200)]
    input: dict[str, Any] = {}
    when: Annotated[str, Field(max_length=500)] = ""
    """A condition over facts; unless it is true the step is left out. Empty: always taken."""


class PlanStep(Noun):
    """One step of a plan."""

    type: Literal["action", "final"] = "action"
    tool: str = ""
    input: dict[str, Any] = {}
    expects: tuple[str, ...] = ()
    """Facts that must be known after it; else the evidence contradicts the plan, and the rest of it is dropped."""
    note: str = ""


class PlanTerms(Noun):
    """How a contract treats plans."""

    review: Literal["rules", "person"] = "rules"
    """Who accepts a plan. The rules judge it in either case: a person can only allow what they allow."""
    max_steps: Annotated[int, Field(ge=1, le=100)] = 12
    replans: Annotated[int, Field(ge=0, le=100)] = 2
    """How many plans may follow the first."""


def message(step: WorkflowStep | PlanStep) -> str:
    """The step as a model would have sent it."""
    if isinstance(step, PlanStep) and step.type == "final":
        return FINAL_MESSAGE
    said: dict[str, Any] = {"type": "action", "tool": step.tool, "input": step.input}
    if isinstance(step, PlanStep) and step.note:
        said["note"] = step.note
    return canonical.to_bytes(said).decode("ascii")
