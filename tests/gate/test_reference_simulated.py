"""Every row of the reference case's table, with simulated tools."""

from __future__ import annotations

from typing import Any

import pytest

from gate.reference import (
    CALLBACK,
    CONFIRM,
    FINAL,
    GOOD,
    KEYS,
    LOGIN,
    PROSE,
    READ_LOGIN,
    REGRESSION,
    REPRODUCE,
    SEARCH,
    Answer,
    Store,
    action,
    found,
    known,
    policy,
    read,
    reported,
    sober,
    terms,
)
from rootproof.errors import ContractError
from rootproof.tools.interface import Observation, Request

STEPS = [
    (1, "parse_error"),
    (2, "run_test"),
    (3, "search_code"),
    (4, "read_file"),
    (5, "read_file"),
    (6, "run_test"),
    (7, "final: accepted"),
]


def test_prose_then_choices_from_the_view_succeed(store: Store) -> None:
    run = store.play()
    assert run.status == "success" and run.outcome.exit_status == 0
    assert run.words == STEPS
    assert [sorted(known(event)) for event in run.events("checked")] == [
        ["landed", "reproduced", "wanted"],
        ["search_completed"],
        ["producer", "producer_key"],
        ["consumer", "consumer_key", "fallback"],
        ["contract_mismatch"],
    ]
    assert "matches 2" in run.told and "known: reproduced" in run.told
    assert run.outcome.answer == (
        'Sign-in stores the path under "return_to", the callback reads "next_path" and falls back to "/": '
        '"/settings" is lost.'
    )


@pytest.mark.parametrize(
    ("steps", "status", "words"),
    [
        (7, "success", STEPS),
        (6, "max_steps", [*STEPS[:6], (6, "stopped")]),
        (3, "max_steps", [*STEPS[:3], (3, "stopped")]),
    ],
)
def test_the_last_step_is_judged_in_full(store: Store, steps: int, status: str, words: list[Any]) -> None:
    run = store.play(document=terms(max_steps=steps))
    assert (run.status, run.words, run.outcome.steps) == (status, words, steps)
    assert (run.outcome.answer is None) == (status != "success")
    assert len(run.events("replied")) == steps
    if steps == 6:
        assert {"reproduced", "search_completed", "producer_key", "consumer_key", "contract_mismatch"} <= {
            *run.outcome.facts
        }
    if steps == 3:
        assert "search_completed" in run.outcome.facts and "producer_key" not in run.outcome.facts


def test_no_steps_at_all_is_a_load_error(store: Store) -> None:
    with pytest.raises(ContractError) as raised:
        store.play(document=terms(max_steps=0))
    (fault,) = raised.value.faults
    assert "budget.max_steps" in fault.place and fault.mend and raised.value.exit_status == 2
    assert not store.path.exists()


@pytest.mark.parametrize("at", range(1, 8))
def test_prose_twice_in_a_row_fails_wherever_it_comes(store: Store, at: int) -> None:
    def say(view: dict[str, Any]) -> str:
        if view["step"] in (at, at + 1):
            return PROSE
        return action("search_code", query=f"filler {view['step']}") if (said := sober(view)) == FINAL else said

    run = store.play(say)
    assert run.status == "failed" and run.outcome.steps == at + 1 and run.outcome.answer is None
    assert run.words[-3:] == [(at, "parse_error"), (at + 1, "parse_error"), (at + 1, "stopped")]
    assert run.outcome.reason == "2 parse errors in a row"


@pytest.mark.parametrize(("steps", "status"), [(8, "max_steps"), (12, "success")])
def test_prose_between_good_actions_never_fails_on_parse_errors(store: Store, steps: int, status: str) -> None:
    run = store.play(lambda view: PROSE if view["step"] % 2 else sober(view), terms(max_steps=steps))
    assert run.status == status
    assert [word for _, word in run.words if word == "parse_error"] == ["parse_error"] * (steps // 2)


def test_final_at_every_step_is_rejected_each_time(store: Store) -> None:
    run = store.play([FINAL] * 9)
    assert run.words == [*((n, "final: rejected") for n in range(1, 9)), (8, "stopped")]
    assert run.status == "max_steps" and not run.outcome.facts
    assert all(len(event.missing) == 5 for event in run.events("final"))


def test_the_same_search_again_and_again_is_answered_from_the_ledger(store: Store) -> None:
    run = store.play([SEARCH] * 8)
    assert run.status == "max_steps" and run.entered["search_code"] == 1
    assert [event.since_step for event in run.events("known")] == [1] * 7


def test_the_same_test_again_and_again_is_run_each_time(store: Store) -> None:
    run = store.play([REPRODUCE] * 8)
    assert run.status == "max_steps" and run.entered["run_test"] == 8
    assert run.words == [*((n, "run_test") for n in range(1, 9)), (8, "stopped")]


FORBIDDEN = {
    "deploy": action("deploy", target="production"),
    "another test": action("run_test", test="tests/auth/other.test.ts#x"),
    "a test of the file, not listed": action("run_test", test=f"{REGRESSION}-too"),
    "secret": action("read_file", path=".env"),
    "secret, folded": action("read_file", path=".ENV"),
    "up and out": action("read_file", path="../secrets"),
    "absolute": action("read_file", path="/etc/passwd"),
    "another file": action("read_file", path="src/app.ts"),
    "another file the long way": action("read_file", path="src/auth/../app.ts"),
    "blank query": action("search_code", query="   "),
    "empty query": action("search_code", query=""),
    "long query": action("search_code", query="q" * 101),
}


@pytest.mark.parametrize("message", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_the_contract_does_not_allow_stops_the_run_before_any_tool(store: Store, message: str) -> None:
    run = store.play([PROSE, message, *GOOD, FINAL])
    assert run.status == "blocked" and run.outcome.exit_status == 3
    assert run.words == [(1, "parse_error"), (2, "blocked")]
    assert not any(run.entered.values()) and not run.events("started") and not run.outcome.facts


def test_a_query_of_a_hundred_characters_is_within_the_contract(store: Store) -> None:
    assert store.play([action("search_code", query="q" * 100)]).entered["search_code"] == 1


def test_an_absolute_path_inside_the_root_is_its_relative_form(store: Store) -> None:
    run = store.play([READ_LOGIN, action("read_file", path=str(store.root / LOGIN))])
    assert run.words[:2] == [(1, "read_file"), (2, "read_file")] and run.entered["read_file"] == 1


BROKEN: dict[str, tuple[str, dict[str, Answer]]] = {
    "another test": (REPRODUCE, {"run_test": reported(test=KEYS)}),
    "no status": (REPRODUCE, {"run_test": lambda request: Observation({"test": request.input["test"]})}),
    "a status that is none": (REPRODUCE, {"run_test": reported(status="fine")}),
    "exit code a text": (REPRODUCE, {"run_test": reported(exit_code="1")}),
    "exit code a boolean": (REPRODUCE, {"run_test": reported(exit_code=True)}),
    "content no text": (READ_LOGIN, {"read_file": read(content=7)}),
    "another file": (READ_LOGIN, {"read_file": read(path=CALLBACK)}),
    "another query": (SEARCH, {"search_code": lambda request: _renamed(request)}),
    "no object": (REPRODUCE, {"run_test": lambda request: Observation(["passed"])}),  # type: ignore[arg-type]
    "cut, and yet passed": (
        REPRODUCE,
        {"run_test": lambda request: Observation({**reported()(request).fields, "status": "passed"}, cut="timeout")},
    ),
}


def _renamed(request: Request) -> Observation:
    report = found()(request)
    assert isinstance(report, Observation)
    return Observation({**report.fields, "query": "another"})


@pytest.mark.parametrize(("message", "answers"), BROKEN.values(), ids=BROKEN)
def test_an_observation_that_does_not_answer_its_request_is_stored_and_ends_the_run(
    store: Store, message: str, answers: dict[str, Answer]
) -> None:
    run = store.play([message, *GOOD, FINAL], **answers)
    assert run.status == "failed" and run.outcome.exit_status == 1
    assert run.words == [(1, "invalid_observation")] and not run.outcome.facts
    assert len(run.events("observed")) == 1, "what the tool said is kept"


UNMET: dict[str, tuple[str, dict[str, Answer], str]] = {
    "regression passes": (REPRODUCE, {"run_test": reported(status="passed")}, "reproduced"),
    "fails otherwise": (REPRODUCE, {"run_test": reported(actual="/home")}, "reproduced"),
    "fails with another wish": (REPRODUCE, {"run_test": reported(expected="/")}, "reproduced"),
    "contract test passes": (CONFIRM, {"run_test": reported(status="passed")}, "contract_mismatch"),
    "search finds nothing": (SEARCH, {"search_code": found(0)}, "search_completed"),
    "times out": (
        REPRODUCE,
        {
            "run_test": lambda request: Observation(
                {**reported(status="timeout")(request).fields, "exit_code": None}, cut="timeout"
            )
        },
        "reproduced",
    ),
}


@pytest.mark.parametrize(("message", "answers", "item"), UNMET.values(), ids=UNMET)
def test_an_item_that_must_hold_and_does_not_ends_the_run(
    store: Store, message: str, answers: dict[str, Answer], item: str
) -> None:
    run = store.play([message, *GOOD, FINAL], **answers)
    assert run.status == "failed" and run.outcome.reason.startswith(f"{item}: ")
    (checked,) = run.events("checked")
    assert checked.failed == item and not known(checked)
    assert f"does not hold: {item}" in run.told


def test_a_model_that_changes_its_view_changes_nothing(store: Store) -> None:
    def say(view: dict[str, Any]) -> str:
        said = policy(view)
        view["facts"]["reproduced"] = view["facts"]["contract_mismatch"] = True
        view["facts"].setdefault("files_read", []).append("everything")
        view["step"], view["max_steps"], view["criteria"] = 1, 10_000, []
        view.clear()
        return said

    changed, plain = store.play(say), store.play()
    assert changed.words == plain.words == STEPS
    assert [one.event.type for one in changed.stored] == [one.event.type for one in plain.stored]
    assert {n: f.value for n, f in changed.outcome.facts.items()} == {
        n: f.value for n, f in plain.outcome.facts.items()
    }


def test_the_view_has_what_a_script_needs(store: Store) -> None:
    views: list[dict[str, Any]] = []

    def say(view: dict[str, Any]) -> str:
        views.append(view)
        return policy(view)

    store.play(say)
    assert [view["step"] for view in views] == [*range(1, 8)]
    assert {view["max_steps"] for view in views} == {8}
    assert [view["consecutive_parse_errors"] for view in views] == [0, 1, 0, 0, 0, 0, 0]
    assert views[3]["facts"]["search_matches"] == 2 and views[3]["facts"]["files_read"] == []
    assert views[6]["facts"]["files_read"] == [LOGIN, CALLBACK]
