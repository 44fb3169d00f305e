"""Tokens of the queue: whoever is dead loses them, whoever lives keeps them; an address never shows its password."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.small import ground, program
from postgres import PASSWORD, QUOTED, Cluster
from rootproof.apps.fleet import tokens
from rootproof.apps.fleet.board import Limits
from rootproof.apps.fleet.job import Terms, read_jobs
from rootproof.apps.fleet.tables import PostgresTables


@pytest.fixture
def url(server: Cluster, tmp_path: Path) -> str:
    made, address = ground(tmp_path / "g", 3), server.database()
    jobs = read_jobs(made.jobs, Terms((made.model,)))
    assert tokens.submit(address, "b", jobs, Limits())
    assert not tokens.submit(address, "b", jobs, Limits()), "a batch and its tokens are put once"
    return address


def test_the_tokens_of_dead_workers_come_back_and_those_of_the_living_stay(url: str) -> None:
    tables = PostgresTables(url)
    begun = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => ?)) RETURNING id"
    ((living,),) = tables.query(begun, 1.0)
    ((dead,),) = tables.query(begun, 30.0)
    ids = [row[0] for row in tables.query("SELECT id FROM procrastinate_jobs ORDER BY id")]
    assert len(ids) == 3
    for token, worker in zip(ids, (living, dead, None), strict=True):
        tables.change("UPDATE procrastinate_jobs SET status='doing', worker_id=? WHERE id=?", worker, token)
    assert tokens.reap(tables, 5.0) == 2
    rows = tables.query("SELECT id, status::text, worker_id FROM procrastinate_jobs ORDER BY id")
    assert rows == [(ids[0], "doing", living), (ids[1], "todo", None), (ids[2], "todo", None)]
    assert tables.query("SELECT id FROM procrastinate_workers") == [(living,)]
    assert tokens.reap(tables, 5.0) == 0
    tables.close()


def test_a_job_whose_token_was_lost_gets_another(url: str) -> None:
    tables = PostgresTables(url)
    assert tokens.replace_lost(tables) == 0
    ((lost,),) = tables.query("DELETE FROM procrastinate_jobs WHERE args->>'number' = '2' RETURNING id")
    assert tokens.replace_lost(tables) == 1 and tokens.replace_lost(tables) == 0
    ((token, status),) = tables.query("SELECT id, status::text FROM procrastinate_jobs WHERE args->>'number' = '2'")
    assert token != lost and status == "todo"
    tables.change("DELETE FROM procrastinate_jobs")
    tables.change("UPDATE fleet_jobs SET outcome = '{}' WHERE number = 1")
    assert tokens.replace_lost(tables) == 2
    tables.change("DELETE FROM procrastinate_jobs")
    tables.change("UPDATE fleet_batches SET cancelled = 1")
    assert tokens.replace_lost(tables) == 0
    tables.close()


def test_no_password_is_told_or_kept(url: str, tmp_path: Path) -> None:
    tables = PostgresTables(url)
    for table in ("fleet_batches", "fleet_jobs", "procrastinate_jobs", "procrastinate_workers"):
        assert "canary" not in str(tables.query(f"SELECT * FROM {table}"))
    tables.close()
    lost = url.replace("/runs_", "/nowhere_")
    for words in (["batch", "status", "--store", lost], ["worker", "--queue", lost], ["batch", "status"]):
        said = program(*words) if words[-1] == lost else program(*words, "--store", url)
        out, err = said.communicate(timeout=60)
        assert PASSWORD not in out + err and QUOTED not in out + err and "Traceback" not in err
        assert said.returncode == (8 if words[-1] == lost else 0), err
