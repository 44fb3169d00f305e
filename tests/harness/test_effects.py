"""What a tool declares of its effect: a side effect without key, approval and compensation does not load."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.desk import SPEC, Desk, Ticket
from rootproof import assemble
from rootproof.effect_faults import effect_faults
from rootproof.errors import ContractError, StoreError
from rootproof.tools.interface import Side, ToolSpec


class Odd:
    """A tool of another declaration."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def run(self, request: Any) -> Any:
        raise AssertionError("it must not be entered")


def faults(spec: ToolSpec, desk: Desk) -> list[Any]:
    with pytest.raises(ContractError) as raised:
        assemble.load_document(dict(desk.contract().contract.document), desk.root.parent, "contract.toml", [Odd(spec)])
    assert raised.value.exit_status == 2 and not desk.path.exists()
    return list(raised.value.faults)


def test_a_side_effect_without_key_approval_and_compensation_does_not_load(desk: Desk) -> None:
    found = faults(replace(SPEC, side=Side(), reaches=()), desk)
    assert [fault.place for fault in found] == ["contract.toml: tools.open_ticket"] * 4
    said = [fault.found for fault in found]
    for word in ("idempotency_key", "approval", "compensation", "nothing that it reaches"):
        assert sum(word in text for text in said) == 1, said
    assert all(fault.mend for fault in found)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"side": replace(SPEC.side, idempotency_key="heading")}, "'heading', which is no input field"),
        ({"side": replace(SPEC.side, approval="robot")}, "approval rule 'robot' does not exist"),
        ({"side": replace(SPEC.side, compensation="  ")}, "declares no compensation"),
        ({"repeatable": True}, "is repeatable"),
        ({"reaches": ("write", "wire")}, "'wire', which nothing is called"),
        ({"effect": "none", "side": Side()}, "reaches write and declares no effect"),
        ({"reaches": ("write", "network")}, "reaches network, which scope.excluded forbids"),
    ],
)
def test_one_thing_wrong_in_a_declaration_is_one_fault_with_its_mend(
    desk: Desk, changed: dict[str, Any], words: str
) -> None:
    (fault,) = faults(replace(SPEC, **changed), desk)
    assert words in fault.found and fault.mend and "tools.open_ticket" in fault.place


def test_what_no_tool_may_reach_unless_it_is_said(desk: Desk) -> None:
    with pytest.raises(ContractError, match="1 fault") as raised:
        desk.contract(scope={"excluded": ["write"]})
    assert "reaches write" in raised.value.faults[0].found


def test_a_tool_that_cannot_say_what_it_did_is_not_run(desk: Desk) -> None:
    options = replace(desk.options(lambda view: ""), tools={"open_ticket": Odd(SPEC)})
    with pytest.raises(ContractError) as raised:
        assemble.run(desk.contract(), options)
    assert "no lookup or no compensate" in raised.value.faults[0].found
    assert not desk.path.exists()


def test_nothing_built_in_has_a_side_effect() -> None:
    for name, spec in assemble.catalog().items():
        assert spec.effect == "none" and not {"write", "deploy", "network", "credentials"} & set(spec.reaches), name
        assert spec.reaches and list(effect_faults(spec)) == []


def test_a_run_with_a_tool_that_is_not_here_is_shown_but_not_resumed(desk: Desk) -> None:
    desk.run()
    with pytest.raises((assemble.UsageError, StoreError), match="this installation has no tool open_ticket"):
        assemble.resume("last", replace(desk.options(lambda view: ""), tools={}))
    other = Ticket(desk.tracker)
    other.spec = replace(SPEC, version="2")
    with pytest.raises(StoreError, match="tool open_ticket: 1 then, 2 now"):
        assemble.resume("last", replace(desk.options(lambda view: ""), tools={"open_ticket": other}))
    assert desk.state().status == "waiting"
