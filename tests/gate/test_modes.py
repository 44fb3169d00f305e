"""Three ways to choose the next step: one contract, one log, one gate, and the same facts at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate import real
from gate.reference import (
    CALLBACK,
    CONFIRM,
    DOCUMENT,
    FINAL,
    LOGIN,
    READ_CALLBACK,
    READ_LOGIN,
    REPRODUCE,
    SEARCH,
    Played,
    Store,
    action,
    reported,
    terms,
)
from rootproof import protocol
from rootproof.contract_file import document_of
from rootproof.decisions import Decision, decide
from rootproof.errors import ContractError, UsageError
from rootproof.plan import PlanStep

ALL = (REPRODUCE, SEARCH, READ_LOGIN, READ_CALLBACK, CONFIRM)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def laid(*messages: str, **more: Any) -> list[dict[str, Any]]:
    """Messages as the steps of a workflow or of a plan."""
    return [{key: value for key, value in json.loads(one).items() if key != "type"} | more for one in messages]


def plan(*messages: str, **more: Any) -> str:
    return json.dumps({"type": "plan", "steps": laid(*messages, **more)})


def says(*messages: str) -> Callable[[dict[str, Any]], str]:
    """A model that sends its messages in order, whenever it is asked, and then only asks to stop."""
    rest = list(messages)
    return lambda view: rest.pop(0) if rest else FINAL


def planning(**parts: Any) -> dict[str, Any]:
    return terms(mode="plan", plan=parts, policy={"on_invalid_input": "reject"})


def flow(*steps: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return terms(mode="workflow", workflow=list(steps), **parts)


def facts(run: Played) -> dict[str, Any]:
    return {name: fact.value for name, fact in run.outcome.facts.items()}


def unasked(view: dict[str, Any]) -> str:
    raise AssertionError("a model was asked")


def words(run: Played) -> list[str]:
    return [word for _, word in run.words]


def test_a_workflow_reaches_the_facts_of_react_and_asks_nobody(store: Store) -> None:
    react, fixed = store.play(), store.play(unasked, flow(*laid(*ALL)))
    assert fixed.status == "success" and facts(fixed) == facts(react)
    assert fixed.outcome.answer == react.outcome.answer
    assert words(fixed) == ["run_test", "search_code", "read_file", "read_file", "run_test", "final: accepted"]


def test_a_plan_reaches_the_facts_of_react_and_asks_twice(store: Store) -> None:
    react, planned = store.play(), store.play(says(plan(*ALL)), planning())
    assert planned.status == "success" and facts(planned) == facts(react)
    assert [one.origin for one in planned.events("replied")] == ["model", *["plan"] * 5, "model"]
    assert planned.state.step == 7


def test_a_plan_may_end_in_its_own_final(store: Store) -> None:
    steps = [*laid(*ALL), {"type": "final"}]
    assert store.play([json.dumps({"type": "plan", "steps": steps})], planning()).status == "success"


@pytest.mark.parametrize("mode", ["workflow", "plan"])
def test_the_real_case_has_the_same_facts_in_every_mode(tmp_path: Path, mode: str) -> None:
    name = "workflow.toml" if mode == "workflow" else "contract.toml"
    source = {**document_of(real.SOURCE / name), "mode": mode}
    messages = (
        action("run_test", test=real.REGRESSION),
        action("search_code", query="return_to next_path"),
        action("read_file", path=real.LOGIN),
        action("read_file", path=real.CALLBACK),
        action("run_test", test=real.KEYS),
    )
    react = real.RealStore(tmp_path / "react").real(max_steps=7)
    other = real.RealStore(tmp_path / mode).play(says(plan(*messages)), source)
    assert react.status == other.status == "success"
    assert {name: fact.value for name, fact in other.outcome.facts.items()} == facts(react)


@pytest.mark.parametrize(
    "forbidden",
    [
        action("deploy"),
        action("run_test", test="tests/other.test.ts#x"),
        action("read_file", path=".env"),
        action("read_file", path="../secrets"),
        action("read_file", path="src/app.ts"),
        action("search_code", query=""),
        action("read_file", path=LOGIN, lines="all"),
    ],
)
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_plan_with_one_forbidden_step_is_refused_whole(store: Store, forbidden: str, place: int) -> None:
    steps = list(ALL)
    steps.insert(place, forbidden)
    run = store.play(says(plan(*steps)), planning())
    assert not any(run.entered.values()) and not run.events("planned")
    assert f"step {place + 1}" in run.events("rejected")[0].reason
    assert run.state.consecutive_invalid_actions == 1


def test_an_action_outside_any_plan_is_refused_in_plan_mode(store: Store) -> None:
    run = store.play([REPRODUCE] * 3, planning())
    assert run.status == "failed" and not any(run.entered.values())


def test_a_plan_is_a_parse_error_in_the_other_modes(store: Store) -> None:
    run = store.play([plan(*ALL), plan(*ALL)])
    assert run.status == "failed" and run.events("parse_error")[0].code == "invalid_value"


def test_a_step_is_authorised_again_when_its_turn_comes(store: Store) -> None:
    def vanish(request: Any) -> Any:
        (store.root / LOGIN).unlink()
        (store.root / LOGIN).symlink_to(store.root / ".env")
        return reported()(request)

    run = store.play(says(plan(REPRODUCE, READ_LOGIN)), planning(), run_test=vanish)
    assert run.status == "blocked" and run.entered["read_file"] == 0


def test_evidence_against_a_plan_drops_its_rest_and_asks_again(store: Store) -> None:
    document = planning()
    document["evidence"][0]["otherwise"] = "go_on"
    views: list[dict[str, Any]] = []

    def say(view: dict[str, Any]) -> str:
        views.append(view)
        return plan(REPRODUCE, READ_LOGIN, expects=["reproduced"]) if len(views) == 1 else FINAL

    run = store.play(say, document, run_test=reported(status="passed"))
    assert run.entered["read_file"] == 0
    assert "step 1 of 2" in views[1]["plan_dropped"] and "reproduced" in views[1]["plan_dropped"]
    assert views[1]["plans_left"] == 2


def test_plans_are_bounded(store: Store) -> None:
    document = planning(replans=1)
    run = store.play(says(plan(SEARCH), plan(READ_LOGIN), *[plan(READ_CALLBACK)] * 3), document)
    assert run.status == "failed" and len(run.events("planned")) == 2
    assert run.entered == {"run_test": 0, "search_code": 1, "read_file": 1}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([*laid(*ALL)] * 3, "15 steps, and 12 are allowed"),
        (laid(SEARCH, expects=["nothing_makes_this"]), "nothing_makes_this"),
        ([{"type": "final"}, *laid(SEARCH)], "final, and 1 more follow"),
        ([*laid(*ALL), *laid(*ALL)], "10 steps, and 7 are left"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(store: Store, steps: list[Any], said: str) -> None:
    run = store.play(says(json.dumps({"type": "plan", "steps": steps})), planning())
    assert said in run.events("rejected")[0].reason and not any(run.entered.values())


def test_every_plan_step_costs_a_step(store: Store) -> None:
    run = store.play([plan(*ALL)], planning() | {"budget": {"max_steps": 6}})
    assert run.status == "max_steps" and run.state.step == 6 and run.outcome.answer is None


@pytest.mark.parametrize(
    ("message", "code", "place"),
    [
        ('{"type": "plan"}', "missing_field", "$.steps"),
        ('{"type": "plan", "steps": {}}', "wrong_type", "$.steps"),
        ('{"type": "plan", "steps": []}', "invalid_value", "$.steps"),
        ('{"type": "plan", "steps": [1]}', "wrong_type", "$.steps[0]"),
        ('{"type": "plan", "steps": [{"type": "plan"}]}', "invalid_value", "$.steps[0].type"),
        ('{"type": "plan", "steps": [{"type": []}]}', "invalid_value", "$.steps[0].type"),
        ('{"type": "plan", "steps": [{"tool": "a"}]}', "missing_field", "$.steps[0].input"),
        ('{"type": "plan", "steps": [{"tool": 1, "input": {}}]}', "wrong_type", "$.steps[0].tool"),
        ('{"type": "plan", "steps": [{"tool": "a", "input": {}, "if": 1}]}', "unknown_field", "$.steps[0].if"),
        ('{"type": "plan", "steps": [{"tool": "a", "input": {}, "expects": [1]}]}', "wrong_type", "$.steps[0].expects"),
        ('{"type": "plan", "steps": [{"tool": "a", "input": {}, "note": 1}]}', "wrong_type", "$.steps[0].note"),
        ('{"type": "plan", "steps": [{"type": "final", "tool": "a"}]}', "unknown_field", "$.steps[0].tool"),
        ('{"type": "plan", "steps": [{"type": "final"}], "by": "me"}', "unknown_field", "$.by"),
    ],
)
def test_a_malformed_plan_names_the_place(message: str, code: str, place: str) -> None:
    found = protocol.parse(message, plans=True)
    assert isinstance(found, protocol.Malformed) and (found.code, found.place) == (code, place)


def test_a_workflow_leaves_out_a_step_whose_condition_is_not_true(store: Store) -> None:
    steps = [*laid(REPRODUCE), *laid(SEARCH, when="producer_key == 'return_to'"), *laid(READ_LOGIN, when="reproduced")]
    run = store.play(unasked, flow(*steps))
    assert run.entered == {"run_test": 1, "search_code": 0, "read_file": 1}
    assert [one.at for one in run.events("replied")] == [1, 3, 4]


def test_a_workflow_that_shows_too_little_ends_undetermined(store: Store) -> None:
    run = store.play(unasked, flow(*laid(REPRODUCE, SEARCH)))
    assert run.status == "undetermined" and "end" in run.outcome.reason and run.outcome.answer is None
    assert words(run)[-2:] == ["final: rejected", "stopped"]


def test_every_fault_of_a_workflow_is_found_at_load(store: Store) -> None:
    steps = [
        {"tool": "deploy", "input": {}},
        {"tool": "run_test", "input": {"test": "tests/none.ts#x"}},
        {"tool": "read_file", "input": {"path": "src/app.ts"}},
        {"tool": "read_file", "input": {"path": ".env"}},
        {"tool": "read_file", "input": {}},
        {"tool": "search_code", "input": {"query": "a", "speed": 1}},
        {"tool": "search_code", "input": {"query": 1}},
        {"tool": "search_code", "input": {"query": "a"}, "when": "f(x)"},
        {"tool": "search_code", "input": {"query": "a"}, "when": "nothing_known"},
        {"input": {}},
    ]
    with pytest.raises(ContractError) as caught:
        store.load(flow(*steps))
    for number in range(len(steps)):
        assert any(f"workflow[{number}]" in fault.place for fault in caught.value.faults), number


@pytest.mark.parametrize("parts", [{"mode": "workflow"}, {"workflow": laid(SEARCH)}, {"plan": {"review": "nobody"}}])
def test_steps_and_mode_belong_together(store: Store, parts: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        store.load({**DOCUMENT, **parts})


def asked(store: Store, *messages: str) -> Played:
    """A run whose plan waits for a person."""
    run = store.play([plan(*messages or ALL)], planning(review="person"))
    assert run.status == "waiting" and not any(run.entered.values())
    return run


def decided(store: Store, run: Played, answer: Any = "approve", steps: tuple[PlanStep, ...] = ()) -> None:
    decide(run.outcome.run, Decision(answer, "Ada", "looked at it", steps=steps), store.path)


def test_a_person_accepts_a_plan(store: Store) -> None:
    run = asked(store)
    assert run.outcome.asks is not None and len(run.outcome.asks["input"]["steps"]) == 5
    assert store.resume(run.outcome.run, unasked).status == "waiting"
    decided(store, run)
    after = store.resume(run.outcome.run, says())
    assert after.status == "success" and after.events("planned")[0].by == "Ada"


def test_a_person_refuses_a_plan_and_the_run_goes_on(store: Store) -> None:
    run = asked(store)
    decided(store, run, "refuse")
    after = store.resume(run.outcome.run, says())
    assert after.status == "max_steps" and not any(after.entered.values())
    assert after.state.consecutive_invalid_actions == 0 and after.events("approval_refused")[0].by == "Ada"


def test_a_person_edits_a_plan_within_the_rules_only(store: Store) -> None:
    read = PlanStep(tool="read_file", input={"path": CALLBACK})
    run = asked(store)
    decided(store, run, steps=(read,))
    after = store.resume(run.outcome.run, says())
    assert after.events("planned")[0].edited and after.entered == {"run_test": 0, "search_code": 0, "read_file": 1}
    again = asked(store)
    decided(store, again, steps=(PlanStep(tool="read_file", input={"path": ".env"}), read))
    after = store.resume(again.outcome.run, says())
    assert not after.events("planned") and not any(after.entered.values())
    assert "secret" in after.events("rejected")[0].reason


def test_only_a_plan_can_be_edited(store: Store) -> None:
    run = store.play([REPRODUCE], terms(max_steps=1))
    with pytest.raises(UsageError):
        decide(run.outcome.run, Decision("approve", "Ada", "yes", steps=(PlanStep(type="final"),)), store.path)


def test_a_model_cannot_say_where_its_message_comes_from(store: Store) -> None:
    forged = json.dumps({**json.loads(REPRODUCE), "origin": "plan"})
    assert store.play([forged, forged], planning()).status == "failed"
