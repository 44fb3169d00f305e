"""The board: order, limits, leases, and exactly one outcome a job. In SQLite and in Postgres."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet.small import ground
from postgres import Cluster
from rootproof import assemble
from rootproof.apps.fleet.board import Board, Claim, Limits
from rootproof.apps.fleet.job import Job
from rootproof.apps.fleet.tables import open_tables
from rootproof.apps.fleet.work import Dropped, Finished, Later, attempt
from rootproof.errors import UsageError
from rootproof.stores import open_store

MODELS = ("detective", "anthropic:x")


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite3")
    server: Cluster = request.getfixturevalue("server")
    return server.database()


@pytest.fixture
def board(kept: str) -> Iterator[Board]:
    tables = open_tables(kept)
    yield Board(tables)
    tables.close()


def job(name: str, repository: str = "/r", priority: int = 0, model: str = "detective") -> Job:
    return Job(name, {"goal": name}, "/", repository, "file", model, priority)


def claims(board: Board, count: int, batch: str = "b", models: Sequence[str] = MODELS) -> list[str]:
    found = [board.claim(batch, 60.0, models) for _ in range(count)]
    return [claim.job.id if claim else "-" for claim in found]


def test_higher_priority_first_then_the_order_of_the_file(board: Board) -> None:
    assert board.add("b", [job("x"), job("y", priority=5), job("z"), job("w", priority=-1)], Limits())
    assert not board.add("b", [job("other")], Limits()), "a batch is put once"
    assert claims(board, 5) == ["y", "x", "z", "w", "-"]


def test_limits_leave_room_for_others(board: Board) -> None:
    jobs = [job("a1", "/a"), job("a2", "/a"), job("b1", "/b"), job("c1", "/c", model="anthropic:x")]
    jobs += [job("c2", "/d", model="anthropic:x")]
    board.add("b", jobs, Limits(per_repository=1, per_provider={"anthropic": 1}))
    assert claims(board, 4) == ["a1", "b1", "c1", "-"]


def test_a_worker_gets_no_job_whose_model_it_was_not_given(board: Board) -> None:
    board.add("b", [job("a", model="anthropic:x"), job("d")], Limits())
    assert claims(board, 2, models=("detective",)) == ["d", "-"]
    assert claims(board, 1, batch="") == ["a"]


def test_only_the_last_attempt_ends_a_job(board: Board) -> None:
    board.add("b", [job("a")], Limits())
    old = board.claim("b", -1.0, MODELS)  # its lease is over at once
    new = board.claim("b", 60.0, MODELS)
    assert old and new and (old.run, old.attempt, new.attempt) == (new.run, 1, 2)
    assert board.renew(old, 60.0) == "lost" and board.renew(new, 60.0) == "held"
    assert not board.end(old, {"status": "failed", "exit_status": 1})
    assert not board.give_back(old, 0.0, fault=True)
    assert board.claim("b", 60.0, MODELS) is None
    assert board.end(new, {"status": "success", "exit_status": 0})
    assert not board.end(new, {"status": "failed", "exit_status": 1}), "an outcome is written once"
    ended, _ = board.ended("b")
    assert [each.outcome["status"] for each in ended] == ["success"] and board.left("b") == 0


def test_what_a_dead_worker_of_this_machine_had_is_taken_at_once(board: Board, kept: str) -> None:
    board.add("b", [job("a")], Limits())
    child = os.fork()
    if child == 0:
        Board(open_tables(kept)).claim("b", 600.0, MODELS)
        os._exit(0)
    os.waitpid(child, 0)
    claim = board.claim("b", 60.0, MODELS)
    assert claim is not None and claim.attempt == 2


def test_what_was_given_back_waits_and_its_faults_are_counted(board: Board) -> None:
    board.add("b", [job("a")], Limits())
    first = board.claim("b", 60.0, MODELS)
    assert first and board.give_back(first, 3600.0, fault=True)
    assert board.claim("b", 60.0, MODELS) is None and board.left("b") == 1
    board.tables.change("UPDATE fleet_jobs SET not_before=0")
    again = board.claim("b", 60.0, MODELS)
    assert again and again.faults == 1


def test_a_cancelled_batch_begins_nothing_and_tells_those_who_work(board: Board) -> None:
    board.add("b", [job("a"), job("c"), job("d")], Limits())
    claim, gone = board.claim("b", 60.0, MODELS), board.claim("b", -1.0, MODELS)
    assert claim and gone and board.cancel("b") == 3
    assert board.claim("b", 60.0, MODELS) is None
    assert board.counts("b") == {"cancelled": 2, "running": 1}
    assert board.renew(claim, 60.0) == "cancelled"
    assert not board.end(gone, {"status": "success", "exit_status": 0})
    assert board.end(claim, {"status": "success", "exit_status": 0}), "what ended before it was told so has its outcome"
    assert board.counts("b") == {"cancelled": 2, "success": 1}


def test_a_batch_is_found_by_the_beginning_of_its_name(board: Board) -> None:
    with pytest.raises(UsageError, match="no batch"):
        board.find("")
    board.add("one-1", [job("a")], Limits())
    board.add("one-2", [job("b")], Limits())
    assert board.find("") == "one-2" and board.find("one-1") == "one-1"
    with pytest.raises(UsageError, match="2 batches"):
        board.find("one")


# What becomes of an attempt.


def claimed(board: Board, made: Any, **parts: Any) -> Claim:
    folder = made.folder / "repo0"
    document = assemble.contract_document(folder / "contract.toml")
    whole = {"id": "a", "document": document, "base": str(folder), "root": str(folder), "origin": "line 1"}
    board.add("b", [Job(**{**whole, "model": made.model, "by": "user", **parts})], Limits(retries=1))
    claim = board.claim("b", 60.0, (made.model, *MODELS))
    assert claim is not None
    return claim


def test_an_attempt_runs_the_job_under_its_own_id_and_another_tells_it_again(
    board: Board, kept: str, tmp_path: Path
) -> None:
    made = ground(tmp_path / "g", 1)
    claim, store = claimed(board, made), open_store(kept)
    options = assemble.Options(store=kept)
    first, second = attempt(store, claim, options), attempt(store, claim, options)
    assert isinstance(first, Finished) and first == second
    assert first.outcome["status"] == "success" and [row.run for row in store.runs()] == [claim.run]
    store.close()


def test_a_contract_of_a_job_is_its_authors_and_no_plain_success(board: Board, kept: str, tmp_path: Path) -> None:
    store = open_store(kept)
    result = attempt(store, claimed(board, ground(tmp_path / "g", 1), by="proposer"), assemble.Options(store=kept))
    assert isinstance(result, Finished)
    assert (result.outcome["status"], result.outcome["exit_status"]) == ("success", 7)
    assert result.outcome["contract_by"] == "proposer"
    store.close()


def test_faults_of_infrastructure_are_tried_again_within_bounds(board: Board, kept: str, tmp_path: Path) -> None:
    made, store = ground(tmp_path / "g", 1), open_store(kept)
    (made.folder / "model.py").write_text("def propose(view):\n    raise OSError('the line is dead')\n")
    claim = claimed(board, made)
    first = attempt(store, claim, assemble.Options(store=kept))
    assert isinstance(first, Later) and first.fault and "the line is dead" in first.reason
    last = attempt(store, replace(claim, faults=1), assemble.Options(store=kept))
    assert isinstance(last, Finished)
    assert (last.outcome["status"], last.outcome["exit_status"]) == ("interrupted", 8)
    assert "given up after 2 faults" in last.outcome["reason"]
    store.close()


def test_errors_of_the_job_are_its_outcome_and_not_tried_again(board: Board, kept: str, tmp_path: Path) -> None:
    store = open_store(kept)
    claim = claimed(board, ground(tmp_path / "g", 1), base=str(tmp_path / "nowhere"))
    result = attempt(store, claim, assemble.Options(store=kept))
    assert isinstance(result, Finished)
    assert result.outcome["status"] == "error" and result.outcome["exit_status"] in (2, 9)
    store.close()


def test_who_lost_the_run_says_nothing_about_it(board: Board, kept: str, tmp_path: Path) -> None:
    made = ground(tmp_path / "g", 1)
    claim, store = claimed(board, made), open_store(kept)

    def steal(state: Any, event: Any) -> None:
        if state.seq == 4:
            table = "rootproof_runs" if "://" in kept else "runs"
            board.tables.change(f"UPDATE {table} SET epoch = epoch + 1")

    assert isinstance(attempt(store, claim, assemble.Options(store=kept, listeners=(steal,))), Dropped)
    store.close()


def test_a_job_that_takes_every_worker_with_it_is_given_up(board: Board, kept: str, tmp_path: Path) -> None:
    store = open_store(kept)
    claim = replace(claimed(board, ground(tmp_path / "g", 1)), attempt=51)
    result = attempt(store, claim, assemble.Options(store=kept))
    assert isinstance(result, Finished) and "begun 50 times" in result.outcome["reason"]
    assert store.runs() == []
    store.close()


def test_a_job_that_waited_for_a_person_goes_on_once_its_run_has(board: Board) -> None:
    """Its outcome was an end for as long as nobody decided; no other outcome is ever taken back."""
    board.add("b", [job("x"), job("y"), job("z")], Limits())
    first, second, third = [board.claim("b", 60.0, MODELS) for _ in range(3)]
    assert first and second and third
    for claim, status in ((first, "waiting"), (second, "waiting"), (third, "success")):
        assert board.end(claim, {"status": status, "head": "h1"})
    heads = {first.run: "h2", second.run: "h1", third.run: "h2"}
    assert board.take_up("b", lambda run: heads[run]) == 1 and board.left("b") == 1
    assert board.take_up("b", lambda run: heads[run]) == 0
    assert not board.end(first, {"status": "failed"}), "whoever had it before has it no more"
    again = board.claim("b", 60.0, MODELS)
    assert again and again.run == first.run and board.end(again, {"status": "success", "head": "h3"})
    board.cancel("b")
    assert board.take_up("b", lambda run: "h9") == 0, "a cancelled batch begins nothing"


def test_all_jobs_that_go_on_are_taken_up_at_once(board: Board) -> None:
    """Between two of them the batch would look as if it had ended, and workers would go home."""
    board.add("b", [job("x"), job("y")], Limits())
    for claim in [board.claim("b", 60.0, MODELS) for _ in range(2)]:
        assert claim and board.end(claim, {"status": "waiting", "head": "h1"})
    seen: list[int] = []

    def head(run: str) -> str:
        seen.append(board.left("b"))
        return "h2"

    assert board.take_up("b", head) == 2 and board.left("b") == 2
    assert seen == [0, 0]
