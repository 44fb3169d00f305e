"""Somebody stops within a transaction: a server ends it, and in the one file of this machine the others wait for it.

A server that is away for a moment is waited for as well.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from fleet.small import ground
from postgres import Cluster
from rootproof import assemble
from rootproof.apps.fleet import tables
from rootproof.apps.fleet.board import Board, Limits
from rootproof.apps.fleet.job import Terms, read_jobs
from rootproof.apps.fleet.worker import Settings, work
from rootproof.errors import StoreDamaged, StoreUnreachable
from rootproof.ledger import postgres_errors

MODELS = ("detective",)


@pytest.fixture
def handlers() -> Iterator[None]:
    """A worker takes the signals of its process for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_server_ends_a_transaction_whose_client_fell_silent(server: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.database()
    monkeypatch.setattr(postgres_errors, "IDLE_SECONDS", 1)
    frozen, other = tables.PostgresTables(url), tables.PostgresTables(url)
    with pytest.raises(StoreUnreachable), frozen.exclusive():
        assert Board(other).claim("", 60.0, MODELS) is None, "had to wait for the lock, and got it"
        frozen.query("SELECT 1")
    assert Board(frozen).claim("", 60.0, MODELS) is None, "a new connection is made with the next statement"
    frozen.close()
    other.close()


def test_no_connection_waits_or_makes_others_wait_without_end(server: Cluster) -> None:
    """Those of the queue's engine are made of the same parts; an address's own options are kept."""
    place = postgres_errors.address(f"{server.database()}?options=-c%20statement_timeout%3D77s")
    with psycopg.connect(**postgres_errors.bounded(place)) as made:
        found = [
            made.execute(f"SHOW {name}").fetchone()
            for name in ("lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout")
        ]
    assert found == [("10s",), ("5s",), ("77s",)]


def test_a_worker_waits_for_a_file_that_somebody_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handlers: None
) -> None:
    made = ground(tmp_path / "ground", 1)
    monkeypatch.setattr(tables, "BUSY_SECONDS", 0.05)
    board = Board(tables.open_tables(str(made.store)))
    board.add("b", read_jobs(made.jobs, Terms((made.model,))), Limits())
    writer = sqlite3.connect(made.store, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, writer.execute, ("ROLLBACK",))
    release.start()
    options = assemble.Options(store=str(made.store), model=made.model)
    work(Settings(options, (made.model,), "b"))
    release.join()
    assert board.counts("b") == {"success": 1}
    board.tables.close()
    writer.close()


def test_a_server_that_comes_back_is_waited_for(server: Cluster) -> None:
    url, asked = server.database(), 0
    tables.open_tables(url).close()
    server.stop()

    def ask() -> tables.Tables:
        nonlocal asked
        asked += 1
        if asked == 2:
            server.start()
        return tables.open_tables(url)

    with contextlib.closing(tables.patiently(ask)) as found:
        assert Board(found).claim("", 60.0, MODELS) is None
    assert asked == 2


def test_what_waiting_does_not_mend_is_said_at_once(tmp_path: Path) -> None:
    asked = 0

    def ask() -> tables.Tables:
        nonlocal asked
        asked += 1
        return tables.open_tables(tmp_path / "no-store")

    (tmp_path / "no-store").write_text("no database, whatever its name says\n" * 100)
    with pytest.raises(StoreDamaged):
        tables.patiently(ask)
    assert asked == 1
