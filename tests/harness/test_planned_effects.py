"""A plan with a step that may not be is refused whole, also where the step is a side effect nobody has to approve."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.desk import SPEC, Desk, opening, report_defect
from rootproof import assemble
from rootproof.contract_file import Loaded
from rootproof.errors import ContractError
from rootproof.tools.interface import Side

READ = {"tool": "read_file", "input": {"path": "src/rates.py"}}
OPEN = {"tool": "open_ticket", "input": {"title": "t"}}


def plan(*steps: dict[str, Any]) -> Any:
    """A model that sends one plan and then asks for the end."""
    sent: list[str] = []

    def say(view: dict[str, Any]) -> str:
        sent.append("a message")
        return json.dumps({"type": "plan", "steps": list(steps)} if len(sent) == 1 else {"type": "final"})

    return say


def planned(desk: Desk, without: str = "", **parts: Any) -> Loaded:
    """The example's contract in plan mode, with some sections replaced and one evidence item left out."""
    document = {**report_defect.contract(6), "mode": "plan", **parts}
    document["evidence"] = [item for item in document["evidence"] if item["id"] != without]
    if without:
        document["answer"] = {"template": "The discount is {{ discount }}."}
    return assemble.load_document(document, desk.root.parent, "contract.toml", [desk.tool])


@pytest.mark.parametrize("side", [Side(), Side(idempotency_key="title", compensation="it is closed")])
def test_a_tool_whose_effect_nobody_must_approve_is_in_no_contract_and_so_in_no_plan(desk: Desk, side: Side) -> None:
    desk.tool.spec = replace(SPEC, side=side)  # type: ignore[misc]
    with pytest.raises(ContractError) as raised:
        planned(desk)
    assert any("approval" in fault.place + fault.found for fault in raised.value.faults)
    assert not desk.path.exists() and desk.tool.entered == 0


@pytest.mark.parametrize("steps", [(READ, OPEN), (OPEN, READ), (READ, {"type": "final"}, OPEN)])
def test_an_effect_outside_the_contract_refuses_the_whole_plan(desk: Desk, steps: tuple[dict[str, Any], ...]) -> None:
    loaded = planned(desk, tools={"read_file": {}}, completion={"all": ["discount == '0.01'"]}, without="reported")
    desk.run(plan(*steps), loaded)
    assert desk.tool.entered == 0 and "started" not in desk.types(), "nothing of it ran, also not what may"
    assert desk.events("rejected")[0].tool == "plan" and not desk.events("planned")


def test_an_accepted_plan_is_no_approval_of_an_effect_in_it(desk: Desk) -> None:
    """Whoever accepts a plan has read it; each effect is asked for when its turn comes, with its input and digest."""
    desk.run(plan(READ, OPEN), planned(desk, plan={"review": "person"}))
    assert desk.types()[-1] == "approval_requested" and desk.tool.entered == 0
    desk.approve(reason="a good plan")
    assert desk.resume(say=plan()).status == "waiting"
    assert [one.tool for one in desk.events("approval_requested")] == ["plan", "open_ticket"] and desk.tool.entered == 0
    desk.refuse(reason="but not this")
    desk.resume(say=lambda view: {"type": "final"})
    assert desk.tool.entered == 0 and desk.tracker.all() == []


def test_actions_in_place_of_a_plan_are_refused_with_their_effects(desk: Desk) -> None:
    desk.run(lambda view: opening("t"), planned(desk))
    assert desk.state().status == "failed" and desk.tool.entered == 0
