"""What happens to a run when the disk, the clock or another process does something (cases DU-01 to DU-09)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from gate.cli import Cli
from gate.reference import DOCUMENT, FINAL, Store, policy, simulated, terms
from gate.test_damage import change, rows
from gate.test_killed import after, killed
from rootproof import assemble
from rootproof.errors import StoreBusy, StoreFull
from rootproof.event import Event
from rootproof.ledger import chain
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.scripted import Scripted
from rootproof.state import State


def cut(store: Store, seq: int) -> str:
    """A run whose process was killed after an event."""
    options = assemble.Options(store=store.path, model=Scripted(policy), tools=simulated(), listeners=(after(seq),))
    killed(lambda: assemble.run(store.load(DOCUMENT), options))
    opened = assemble.open_store(store.path, read_only=True)
    (row,) = opened.runs()
    opened.close()
    return row.run


# DU-01: a torn tail.


def test_a_torn_write_ahead_log_costs_at_most_what_was_not_committed(store: Store) -> None:
    """Whatever of the log's end is lost, what can be read is a whole prefix of the run, and the run goes on from it."""
    run = cut(store, 17)
    whole = [one.hash for one in store.stored(run)]
    log = Path(f"{store.path}-wal")
    database, written = store.path.read_bytes(), log.read_bytes()
    assert written, "the killed process left its log behind"
    for keep in (len(written) - 1, len(written) - 5000, len(written) // 2):
        Path(f"{store.path}-shm").unlink(missing_ok=True)
        store.path.write_bytes(database)
        log.write_bytes(written[:keep] + b"\x00" * 17)
        kept = [one.hash for one in store.stored(run)]
        assert kept == whole[: len(kept)] and kept
    assert store.resume(run).status == "success"


# DU-05: another process holds the write lock.


class Hindered(SqliteStore):
    """A store that something happens to when one event is about to be written."""

    seq = 0
    hinder: Callable[[sqlite3.Connection], object]

    def _prepare(self) -> None:
        super()._prepare()
        if self.read_only:
            return

        def trace(statement: str) -> None:
            if statement.startswith("BEGIN") and self._count() == Hindered.seq - 1:
                Hindered.hinder(self.connection)

        self.connection.set_trace_callback(trace)

    def _count(self) -> int:
        count = self.connection.execute("SELECT count(*) FROM events").fetchone()[0]
        return int(count)


@pytest.fixture
def hindered(monkeypatch: pytest.MonkeyPatch) -> type[Hindered]:
    monkeypatch.setattr("rootproof.ledger.sqlite.SqliteStore", Hindered)
    monkeypatch.setattr("rootproof.ledger.sqlite.BUSY_SECONDS", 0.05)
    monkeypatch.setattr(Hindered, "seq", 0)
    return Hindered


def test_a_store_that_stays_busy_pauses_the_run_before_the_tool(store: Store, hindered: type[Hindered]) -> None:
    locks: list[sqlite3.Connection] = []

    def lock(connection: sqlite3.Connection) -> None:
        if not locks:
            locks.append(sqlite3.connect(store.path, isolation_level=None))
            locks[0].execute("BEGIN IMMEDIATE")

    hindered.seq, hindered.hinder = 5, staticmethod(lock)  # type: ignore[assignment]
    tools = simulated()
    with pytest.raises(StoreBusy, match=r"run .*: event 5 was not stored: .* is locked") as raised:
        assemble.run(store.load(DOCUMENT), store.options(policy, tools))
    assert raised.value.exit_status == 8 and not tools["run_test"].entered, "what was not written down is not begun"
    locks[0].close()
    hindered.seq = 0
    run = str(raised.value).split()[1].rstrip(":")
    assert len(store.stored(run)) == 4
    change(store, "UPDATE runs SET until = 0")  # the process that could not even let the run go has ended
    assert store.resume(run).status == "success"


# DU-09: no space left.


@pytest.mark.parametrize("seq", [6, 7, 14])
def test_a_full_store_keeps_what_it_has_and_goes_on_when_there_is_space(
    store: Store, hindered: type[Hindered], cli: Cli, seq: int
) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")

    hindered.seq, hindered.hinder = seq, staticmethod(fill)  # type: ignore[assignment]
    large = simulated()
    excerpt = "x" * 12_000  # the observations need pages of their own
    for tool in large.values():
        answer = tool.answer
        tool.answer = lambda request, answer=answer: _with(answer(request), excerpt)
    with pytest.raises(StoreFull, match="full") as raised:
        assemble.run(store.load(DOCUMENT), store.options(policy, large))
    assert raised.value.exit_status == 8 and "free some space" in raised.value.remedy
    hindered.seq = 0
    run = str(raised.value).split()[1].rstrip(":")
    kept = store.stored(run)
    assert len(kept) >= seq - 1 and store.state(run).status == "running"
    assert {fact.event for fact in store.state(run).facts.values()} <= {*range(1, len(kept) + 1)}
    assert cli("show", run).code == 0
    assert store.resume(run).status == "success"


def _with(report: Any, excerpt: str) -> Any:
    return replace(report, excerpt=excerpt)


# DU-07: an event of a version to come.


def test_an_unknown_event_is_listed_and_the_run_not_resumed(store: Store, cli: Cli) -> None:
    run = cut(store, 5)
    found, head = rows(store, run)
    body = b'{"type":"dreamed","of":"sheep"}'
    link = chain.link(head[1], 6, 1, found[-1].time, body)
    change(store, "INSERT INTO events VALUES (?, 6, 1, ?, ?, ?)", run, found[-1].time, body, link)
    change(store, "UPDATE runs SET head_seq = 6, head_hash = ?", link)
    said = cli("show", run)
    assert said.code == 8 and "event 6 is of a kind this version does not know: dreamed" in said.err
    assert said.out.splitlines()[0] == "event 1: began" and said.out.splitlines()[5] == "event 6: dreamed"
    cli("resume", run, "--model", "human").clear(8, "event 6", "a later one")
    assert cli("runs").code == 0
    assert rows(store, run)[1] == (6, link), "nothing was dropped"


# DU-08: the clock.


def test_a_clock_set_back_by_hours_changes_no_limit_and_no_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real, jump = time.time, [0.0]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.fromtimestamp(real() + jump[0], tz)

    monkeypatch.setattr(time, "time", lambda: real() + jump[0])
    monkeypatch.setattr("rootproof.ledger.store.datetime", Clock)

    def back(state: State, event: Event) -> None:
        jump[0] -= 25_000 if event.type == "started" else 0

    run = assemble.run(store.load(DOCUMENT), store.options(policy, simulated(), back))
    assert run.status == "success" and 0 <= run.spent.seconds < 60
    stored = store.stored(run.run)
    assert [one.seq for one in stored] == [*range(1, 26)]
    assert stored[-1].time < stored[0].time, "times are labels; the order is that of the numbers"
    assert all(one.event.usage.seconds >= 0 for one in stored if hasattr(one.event, "usage"))


def test_time_spent_is_summed_across_resumes_and_limits_the_run(store: Store) -> None:
    """A quarter of a second a test run, whatever the clock on the wall says in between."""
    document = terms(max_steps=20)
    document["budget"]["seconds"] = 0.6
    ask = ['{"type": "action", "tool": "run_test", "input": {"test": "' + DOCUMENT["scope"]["tests"][0] + '"}}'] * 20
    tools = simulated()

    def interrupt(state: State, event: Event) -> None:
        if event.type == "checked" and state.step == 1:
            raise KeyboardInterrupt

    first = assemble.run(store.load(document), store.options(ask, tools, interrupt))
    assert first.status == "cancelled" and first.exit_status == 130
    ended = store.resume(first.run, ask)
    assert ended.status == "budget" and ended.outcome.exit_status == 5
    assert len(tools["run_test"].entered) + ended.entered["run_test"] == 3
    assert "of 0.6 seconds are used" in ended.outcome.reason


def test_an_action_for_which_no_test_run_is_left_is_not_started(store: Store) -> None:
    document = terms()
    document["budget"]["test_runs"] = 1
    run = store.play(policy, document)
    assert run.status == "budget" and run.outcome.reason == "1 of 1 test runs are used"
    assert run.entered["run_test"] == 1


# Resume, by what the tree, the tools and the rules have become.


def test_a_run_under_other_tools_or_rules_is_not_resumed_but_shown(
    store: Store, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = cut(store, 9)
    earlier = assemble.RULES
    monkeypatch.setattr(assemble, "RULES", "other")
    said = cli("resume", run, "--model", "human", "--root", store.root)
    assert said.code in (2, 9) and "Traceback" not in said.err
    with pytest.raises(assemble.ResumeRefused, match=f"rules: {earlier} then, other now"):
        store.resume(run)
    assert cli("show", run).code == 0 and len(store.stored(run)) == 9


def test_a_tree_that_changed_between_kill_and_resume_gives_no_success(store: Store) -> None:
    run = cut(store, 15)  # the login entry was read
    place = store.root / "src/auth/login.ts"
    place.write_text(place.read_text().replace("return_to", "next_path"))
    ended = store.resume(run, lambda view: policy(view) if view["step"] < 7 else FINAL)
    assert ended.status == "max_steps" and "producer_key" not in ended.outcome.facts
    assert ended.events("final")[0].stale == ("src/auth/login.ts",)
    assert any("producer_key: stale" in text for text in ended.outcome.missing)


def test_a_cancelled_run_asks_no_model_again_for_what_is_stored(store: Store) -> None:
    def interrupt(state: State, event: Event) -> None:
        if event.type == "replied" and state.step == 3:
            raise KeyboardInterrupt

    first = assemble.run(store.load(DOCUMENT), store.options(policy, simulated(), interrupt))
    assert first.status == "cancelled"
    asked: list[int] = []

    def say(view: dict[str, Any]) -> str:
        asked.append(view["step"])
        return policy(view)

    ended = store.resume(first.run, say)
    assert ended.status == "success" and asked == [4, 5, 6, 7] and ended.outcome.steps == 7
