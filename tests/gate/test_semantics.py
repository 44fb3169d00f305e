"""Rows of the tables of what a run means that the reference case does not show: counters, conflict, limits, masking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.reference import (
    CALLBACK,
    CONFIRM,
    FINAL,
    LOGIN,
    PROSE,
    READ_CALLBACK,
    READ_LOGIN,
    REGRESSION,
    REPRODUCE,
    SEARCH,
    Answer,
    Store,
    action,
    known,
    policy,
    read,
    reported,
    sober,
    terms,
)
from rootproof.errors import ModelUnavailable
from rootproof.evidence import POSSIBLY_CONTAINMENT
from rootproof.tools.interface import Declined, Observation, Request, Spend

MISTYPED = action("search_code", query=7)
GONE = action("read_file", path="src/auth/gone.ts")
REJECT = {"policy": {"on_invalid_input": "reject"}}


def _in_turn(*answers: Answer) -> Answer:
    """Another answer each time, the last one for ever."""
    rest = list(answers)
    return lambda request: (rest.pop(0) if len(rest) > 1 else rest[0])(request)


# Three separate counters.


def test_three_invalid_actions_in_a_row_fail_and_execute_nothing(store: Store) -> None:
    run = store.play([MISTYPED, action("read_file"), action("run_test", test=REGRESSION, sead=1)], terms(**REJECT))
    assert run.words == [(1, "rejected"), (2, "rejected"), (3, "rejected"), (3, "stopped")]
    assert run.status == "failed" and run.outcome.reason == "3 invalid actions in a row"
    assert not any(run.entered.values()) and "did you mean 'seed'?" in run.told


def test_an_executed_action_resets_invalid_actions_and_a_parse_error_does_not(store: Store) -> None:
    run = store.play([MISTYPED, MISTYPED, SEARCH, MISTYPED, MISTYPED, SEARCH, PROSE, MISTYPED], terms(**REJECT))
    assert run.status == "failed" and run.outcome.steps == 8, "a repeat from the ledger executes nothing"
    store.path.unlink()
    run = store.play([MISTYPED, MISTYPED, SEARCH, MISTYPED, MISTYPED, CONFIRM, MISTYPED, PROSE], terms(**REJECT))
    assert run.status == "max_steps"


def test_a_rejected_message_that_is_well_formed_resets_parse_errors(store: Store) -> None:
    run = store.play([PROSE, MISTYPED, PROSE, FINAL, PROSE, SEARCH, PROSE, SEARCH], terms(**REJECT))
    assert run.status == "max_steps" and run.state.consecutive_parse_errors == 0


def test_an_in_scope_path_that_is_not_there_is_rejected_with_a_hint(store: Store) -> None:
    document = terms(**REJECT)
    document["scope"]["read"] = ["src/**"]
    run = store.play([GONE, FINAL] * 4, document)
    assert run.words[0] == (1, "rejected") and 'there is no "src/auth/gone.ts"' in run.told
    assert run.entered["read_file"] == 0


def test_what_a_tool_declines_is_rejected_with_its_reason(store: Store) -> None:
    decline = Declined("it is binary", "name a text file", Spend(seconds=0.5))
    run = store.play([READ_LOGIN], terms(max_steps=1), read_file=lambda request: decline)
    assert run.words[0] == (1, "rejected") and "it is binary (name a text file)" in run.told
    assert run.outcome.spent.seconds >= 0.5 and run.state.consecutive_invalid_actions == 1


@pytest.mark.parametrize(
    ("say", "steps"),
    [([FINAL] * 9, 3), ([SEARCH] * 9, 4), ([REPRODUCE] * 9, 4), ([SEARCH, SEARCH, REPRODUCE, FINAL, SEARCH, FINAL], 6)],
    ids=["finals", "a repeated search", "a repeated test", "a new fact between"],
)
def test_no_progress_ends_undetermined_where_the_contract_says_so(store: Store, say: list[str], steps: int) -> None:
    run = store.play(say, terms(max_no_progress=3))
    assert (run.status, run.outcome.exit_status, run.outcome.steps) == ("undetermined", 7, steps)
    assert run.outcome.reason == "no new fact in 3 steps"


# Evidence that turns against itself.


def test_a_fact_that_the_same_request_no_longer_gives_is_withdrawn_for_good(store: Store) -> None:
    document = terms(max_steps=12)
    for item in document["evidence"]:
        item.pop("otherwise", None)
    flaky = _in_turn(reported(), reported(status="passed", actual=None, expected=None), reported())
    again = [REPRODUCE, REPRODUCE, REPRODUCE, SEARCH, READ_LOGIN, READ_CALLBACK, CONFIRM, *[FINAL] * 5]
    run = store.play(again, document, run_test=flaky)
    assert run.status == "max_steps" and "reproduced" not in run.outcome.facts
    assert run.state.facts["reproduced", ""].standing == run.state.facts["wanted", ""].standing == "conflict"
    assert "contract_mismatch" in run.outcome.facts, "another request leaves it alone"
    assert any("reproduced: conflict" in text for text in run.outcome.missing)
    assert "in conflict: reproduced" in run.told.replace("landed, ", "").replace("wanted, ", "")


def test_another_request_or_condition_withdraws_nothing(store: Store) -> None:
    document = terms(max_steps=3)
    document["evidence"][0].pop("otherwise")
    other = action("run_test", test=REGRESSION, seed=7)
    passed = reported(status="passed")
    run = store.play([REPRODUCE, other, FINAL], document, run_test=_in_turn(reported(), passed))
    assert "reproduced" in run.outcome.facts

    def under(order: str, answer: Answer) -> Answer:
        return lambda request: replace(answer(request), conditions={"order": order})  # type: ignore[type-var]

    store.path.unlink()
    run = store.play(
        [REPRODUCE, REPRODUCE],
        terms(max_steps=2, **_no_end()),
        run_test=_in_turn(under("a", reported()), under("b", passed)),
    )
    assert "reproduced" in run.outcome.facts


def _no_end() -> dict[str, Any]:
    evidence = [{key: value for key, value in item.items() if key != "otherwise"} for item in terms()["evidence"]]
    return {"evidence": evidence}


def test_captures_that_disagree_are_a_conflict(store: Store) -> None:
    place = store.root / LOGIN
    place.write_text(place.read_text() + "session['other'] = validatedPath\n")
    run = store.play(sober)
    assert run.status == "max_steps" and run.state.facts["producer_key", ""].standing == "conflict"


def test_a_capture_inside_a_comment_is_none(store: Store) -> None:
    place = store.root / CALLBACK
    place.write_text(place.read_text().replace("const landing", "// const landing"))
    run = store.play([READ_CALLBACK, FINAL], terms(max_steps=2))
    assert "consumer_key" not in run.outcome.facts and "files_read" in run.outcome.facts


@pytest.mark.parametrize("status", ["timeout", "crashed", "incomplete"])
def test_a_cut_observation_is_valid_and_proves_nothing(store: Store, status: str) -> None:
    def cut(request: Request) -> Observation:
        report = reported(status=status, exit_code=None)(request)
        assert isinstance(report, Observation)
        return replace(report, cut="timeout")

    run = store.play([REPRODUCE, FINAL], terms(max_steps=2, **_no_end()), run_test=cut)
    assert run.words == [(1, "run_test"), (2, "final: rejected"), (2, "stopped")]
    assert "reproduced" not in run.outcome.facts and run.events("observed")[0].cut == "timeout"


def test_evidence_can_ask_for_a_timeout(store: Store) -> None:
    document = terms(max_steps=2, **_no_end(), completion={"all": ["reproduced"]}, answer={"template": "it hangs"})
    document["evidence"][0] |= {"expect": {"status": "timeout"}, "bind": {}}

    def cut(request: Request) -> Observation:
        report = reported(status="timeout", exit_code=None)(request)
        assert isinstance(report, Observation)
        return replace(report, cut="timeout")

    assert store.play([REPRODUCE, FINAL], document, run_test=cut).outcome.answer == "it hangs"


def test_a_failure_that_containment_may_have_caused_is_no_evidence(store: Store) -> None:
    def flagged(request: Request) -> Observation:
        report = reported()(request)
        assert isinstance(report, Observation)
        return replace(report, flags=(POSSIBLY_CONTAINMENT,))

    run = store.play([REPRODUCE], terms(max_steps=1, **_no_end()), run_test=flagged)
    assert "reproduced" not in run.outcome.facts and not known(run.events("checked")[0])


def test_a_file_that_changed_gives_a_stale_observation_and_no_fact(store: Store) -> None:
    def late(request: Request) -> Observation:
        place = store.root / LOGIN
        place.write_text(place.read_text() + "// later\n")
        report = read()(request)
        assert isinstance(report, Observation)
        return report

    run = store.play(
        [READ_LOGIN, REPRODUCE, READ_CALLBACK], terms(max_steps=3, **_no_end()), read_file=_in_turn(late, read())
    )
    observed = run.events("observed")
    assert observed[0].stale == (LOGIN,) and observed[1].stale == (LOGIN,), "a test run rests on the whole tree"
    assert observed[2].stale == () and "consumer_key" in run.outcome.facts
    assert not {"producer_key", "reproduced"} & {*run.outcome.facts}


# Limits.


def test_an_end_that_the_last_step_causes_wins_over_max_steps(store: Store) -> None:
    assert store.play([action("deploy")], terms(max_steps=1)).status == "blocked"
    assert store.play([REPRODUCE], terms(max_steps=1), run_test=reported(status="passed")).status == "failed"
    assert store.play([REPRODUCE], terms(max_steps=1), run_test=reported(exit_code="x")).status == "failed"
    assert store.play([PROSE, PROSE], terms(max_steps=2)).status == "failed"


def test_no_model_is_asked_once_the_steps_are_used(store: Store) -> None:
    asked: list[int] = []

    def say(view: dict[str, Any]) -> str:
        asked.append(view["step"])
        return FINAL

    assert store.play(say, terms(max_steps=3)).status == "max_steps" and asked == [1, 2, 3]


def test_an_action_for_which_no_time_is_left_is_not_started(store: Store) -> None:
    document = terms()
    document["budget"]["seconds"] = 0.25
    run = store.play([REPRODUCE, CONFIRM], document)
    assert run.status == "budget" and run.entered["run_test"] == 1 and run.words[-1][1] == "stopped"


# A model out of reach.


def test_a_model_out_of_reach_interrupts_and_the_run_goes_on_later(store: Store) -> None:
    def say(view: dict[str, Any]) -> str:
        if view["step"] == 4:
            raise ModelUnavailable("no route")
        return policy(view)

    run = store.play(say)
    assert (run.status, run.outcome.exit_status, run.outcome.steps) == ("interrupted", 8, 3)
    ended = store.resume(run.outcome.run)
    assert ended.status == "success" and ended.outcome.steps == 7


# What is kept is masked before anything is concluded.


def test_secrets_of_the_environment_are_nowhere_in_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hunter2-canary-0451"
    monkeypatch.setenv("SERVICE_TOKEN", secret)
    place = store.root / LOGIN
    place.write_text(place.read_text() + f"// {secret}\n")
    views: list[str] = []

    def say(view: dict[str, Any]) -> str:
        views.append(str(view))
        return sober(view)

    run = store.play(say, run_test=reported(message=f"leaked {secret}", exception=secret))
    written = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
    assert run.status == "success" and secret.encode() not in written and secret not in run.told + "".join(views)
    assert b"[masked]" in written, "and it is said that something was there"
