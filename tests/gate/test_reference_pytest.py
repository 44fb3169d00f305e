"""Every row of the reference case's table, on real pytest. The statuses are those of the simulated case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.real import CALLBACK, KEYS, LOGIN, REGRESSION, SOURCE, RealStore
from gate.reference import FINAL, PROSE, Played, action, known
from gate.test_reference_simulated import STEPS
from rootproof.errors import ContractError
from rootproof.tools.interface import Observation

REPRODUCE, CONFIRM = action("run_test", test=REGRESSION), action("run_test", test=KEYS)
SEARCH = action("search_code", query="return_to next_path")


@pytest.fixture
def store(tmp_path: Path) -> RealStore:
    return RealStore(tmp_path)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The case as ``rootproof demo`` runs it, with seven steps."""
    return RealStore(tmp_path_factory.mktemp("demo")).real(max_steps=7)


def test_seven_steps_succeed_and_name_both_keys(demo: Played) -> None:
    assert demo.status == "success" and demo.words == STEPS
    assert [sorted(known(event)) for event in demo.events("checked")] == [
        ["landed", "reproduced", "wanted"],
        ["search_completed"],
        ["producer", "producer_key"],
        ["consumer", "consumer_key", "fallback"],
        ["contract_mismatch"],
    ]
    assert demo.outcome.answer == (
        'Sign-in stores the path under "return_to", the callback reads "next_path" and falls back to "/": '
        '"/settings" is lost.'
    )


def test_a_captured_value_says_where_it_stands(demo: Played) -> None:
    source = demo.outcome.facts["producer_key"].source
    assert source is not None and source.path == LOGIN
    assert "return_to" in (SOURCE / LOGIN).read_text().splitlines()[source.line - 1]


@pytest.mark.parametrize(("steps", "words"), [(6, STEPS[:6]), (3, STEPS[:3])])
def test_fewer_steps_end_without_an_answer(store: RealStore, steps: int, words: list[Any]) -> None:
    run = store.real(max_steps=steps)
    assert run.status == "max_steps" and run.outcome.answer is None
    assert run.words == [*words, (steps, "stopped")]
    if steps == 6:
        assert {"reproduced", "search_completed", "producer_key", "consumer_key", "contract_mismatch"} <= {
            *run.outcome.facts
        }


def test_no_steps_at_all_is_a_load_error(store: RealStore) -> None:
    with pytest.raises(ContractError, match="1 fault"):
        store.real(max_steps=0)


@pytest.mark.parametrize("at", [1, 7])
def test_prose_twice_in_a_row_fails(store: RealStore, at: int) -> None:
    fillers = [action("search_code", query=f"filler{n} session") for n in range(1, at)]
    run = store.real([*fillers, PROSE, PROSE])
    assert run.status == "failed" and run.outcome.steps == at + 1
    assert run.words[-3:] == [(at, "parse_error"), (at + 1, "parse_error"), (at + 1, "stopped")]


def test_prose_between_good_actions_never_fails_on_parse_errors(store: RealStore) -> None:
    good = [SEARCH, action("read_file", path=LOGIN), action("read_file", path=CALLBACK), CONFIRM]
    run = store.real([message for pair in zip([PROSE] * 4, good, strict=True) for message in pair])
    assert run.status == "max_steps" and "contract_mismatch" in run.outcome.facts
    assert [word for _, word in run.words[::2]] == ["parse_error"] * 4 + ["stopped"]


def test_final_at_every_step_is_rejected_each_time(store: RealStore) -> None:
    run = store.real([FINAL] * 8)
    assert run.status == "max_steps" and run.words == [*((n, "final: rejected") for n in range(1, 9)), (8, "stopped")]


def test_the_same_read_again_and_again_is_answered_from_the_ledger(store: RealStore) -> None:
    run = store.real([action("read_file", path=LOGIN)] * 8)
    assert run.status == "max_steps" and run.entered["read_file"] == 1
    assert run.words == [*((n, "read_file") for n in range(1, 9)), (8, "stopped")]


def test_the_same_test_again_is_run_again(store: RealStore) -> None:
    run = store.real([REPRODUCE] * 8)
    assert run.status == "max_steps" and run.entered["run_test"] == 8
    assert not run.events("known") and [event.fields["status"] for event in run.events("observed")] == ["failed"] * 8


@pytest.mark.parametrize(
    "message",
    [
        action("deploy"),
        action("run_test", test="tests/auth/test_paths.py::test_x"),
        action("run_test", test="other.test.py::x"),
        action("read_file", path=".env"),
        action("read_file", path="../secrets"),
        action("read_file", path="/etc/passwd"),
        action("read_file", path="src/shop/app.py"),
        action("search_code", query=""),
        action("search_code", query="  "),
        action("search_code", query="q" * 101),
    ],
)
def test_what_the_contract_does_not_allow_stops_the_run_before_any_tool(store: RealStore, message: str) -> None:
    (store.root / ".env").write_text("PASSWORD=canary-hunter2\n")
    run = store.real([message])
    assert run.status == "blocked" and run.words == [(1, "blocked")] and not any(run.entered.values())


def _with(**fields: Any) -> Any:
    return lambda report: replace(report, fields={**report.fields, **fields})


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (REPRODUCE, {"run_test": _with(test=KEYS)}),
        (action("read_file", path=LOGIN), {"read_file": _with(content=b"bytes")}),
    ],
    ids=["another test", "content no text"],
)
def test_a_report_that_does_not_answer_its_request_ends_the_run(
    store: RealStore, message: str, changes: dict[str, Any]
) -> None:
    run = store.real([message, FINAL], **changes)
    assert run.status == "failed" and run.words == [(1, "invalid_observation")]
    assert len(run.events("observed")) == 1 and not run.outcome.facts


@pytest.mark.parametrize("code", ["1", True], ids=["text", "boolean"])
def test_an_exit_code_that_is_no_whole_number_ends_the_run(store: RealStore, code: object) -> None:
    assert store.real([REPRODUCE], run_test=_with(exit_code=code)).words == [(1, "invalid_observation")]


REPAIRS = {
    "regression and contract test pass": (
        'session.pop("next_path"',
        'session.pop("return_to"',
        REPRODUCE,
        "reproduced",
    ),
    "regression fails otherwise": ('"next_path", "/")', '"next_path", "/home")', REPRODUCE, "reproduced"),
    "contract test passes": ('session.pop("next_path"', 'session.pop("return_to"', CONFIRM, "contract_mismatch"),
}


@pytest.mark.parametrize(("old", "new", "message", "item"), REPAIRS.values(), ids=REPAIRS)
def test_another_outcome_than_the_contract_speaks_of_ends_the_run(
    store: RealStore, old: str, new: str, message: str, item: str
) -> None:
    callback = store.root / CALLBACK
    assert old in callback.read_text()
    callback.write_text(callback.read_text().replace(old, new))
    run = store.real([message, FINAL])
    assert run.status == "failed" and run.outcome.reason.startswith(f"{item}: ")
    (checked,) = run.events("checked")
    assert checked.failed == item and not known(checked)


def test_a_search_that_finds_nothing_ends_the_run(store: RealStore) -> None:
    run = store.real([action("search_code", query="nowhere")])
    assert run.status == "failed" and run.outcome.reason.startswith("search_completed: ")


def test_a_model_that_changes_its_view_changes_nothing(demo: Played, store: RealStore) -> None:
    def say(view: dict[str, Any]) -> str:
        view["facts"] |= {"reproduced": True, "contract_mismatch": True, "producer_key": "return_to"}
        view["max_steps"] = 1000
        return FINAL

    run = store.real(say)
    assert run.status == "max_steps" and not run.outcome.facts and len(run.events("final")) == 8


def test_a_file_changed_during_the_run_makes_its_facts_stale(store: RealStore) -> None:
    """Not in the table, but its neighbour: success needs the tree of event 1 to the end."""

    def lie(report: Observation) -> Observation:
        (store.root / LOGIN).write_text((store.root / LOGIN).read_text() + "# later\n")
        return report

    run = store.real([action("read_file", path=LOGIN), action("read_file", path=CALLBACK), FINAL], 3, read_file=lie)
    assert run.status == "max_steps" and "producer_key" not in run.outcome.facts
