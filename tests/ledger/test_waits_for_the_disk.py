"""Every stored event waits for the disk, but one that is derived from those before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.reference import FINAL, REPRODUCE, Store, policy, reported
from harness.desk import Desk, two
from rootproof.ledger.sqlite import SqliteStore

FULL = 2
"""``PRAGMA synchronous``: a commit returns when the disk has it."""


class Watched(SqliteStore):
    """A store that notes, as each event is committed, what the database was told about waiting."""

    diary: list[tuple[dict[str, Any], int]] = []

    def _prepare(self) -> None:
        super()._prepare()
        ask, known = self.connection.execute, set[int]()

        def trace(statement: str) -> None:
            if statement != "COMMIT":
                return
            row = ask("SELECT rowid, body FROM events ORDER BY rowid DESC LIMIT 1").fetchone()
            if row and row[0] not in known:
                known.add(row[0])
                Watched.diary.append((json.loads(row[1]), ask("PRAGMA synchronous").fetchone()[0]))

        self.connection.set_trace_callback(trace)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], int]]:
    monkeypatch.setattr("rootproof.ledger.sqlite.SqliteStore", Watched)
    monkeypatch.setattr(Watched, "diary", [])
    return Watched.diary


def test_only_a_check_that_ends_nothing_does_not_wait(tmp_path: Path, noted: list[Any]) -> None:
    store = Store(tmp_path / "a")
    assert store.play(policy).status == "success"
    assert store.play([REPRODUCE, FINAL], run_test=reported(status="passed")).status == "failed"
    desk = Desk(tmp_path, tmp_path)
    desk.run(two, desk.contract(2))
    desk.approve()
    desk.resume(say=two)
    desk.refuse()
    assert desk.resume(say=two).status == "max_steps"
    assert {event["type"] for event, level in noted if level < FULL} == {"checked"}
    assert not [event for event, level in noted if level < FULL and event.get("failed")]
    waited = {event["type"] for event, level in noted if level == FULL}
    assert waited >= {"began", "replied", "started", "observed", "final", "stopped", "parse_error", "resumed"}
    assert waited >= {"approval_requested", "approval_given", "approval_refused", "undo_started", "undone"}
    assert [event for event, level in noted if event["type"] == "checked" and event.get("failed") and level == FULL]


def test_what_is_no_event_waits_as_well(tmp_path: Path) -> None:
    """A holder's claim, and runs that come or go as a whole, after an event that did not wait."""
    store = Store(tmp_path / "a")
    run = store.play(policy).outcome.run
    opened = SqliteStore(store.path)
    levels: list[int] = []
    ask = opened.connection.execute

    def trace(statement: str) -> None:
        if statement == "COMMIT":
            levels.append(ask("PRAGMA synchronous").fetchone()[0])

    ask("PRAGMA synchronous=NORMAL")
    opened.connection.set_trace_callback(trace)
    ledger = opened.take(run)
    ask("PRAGMA synchronous=NORMAL")
    ledger.release()
    ask("PRAGMA synchronous=NORMAL")
    with opened.bulk() as bulk:
        bulk.remove(run)
    opened.close()
    assert levels == [FULL] * 3
