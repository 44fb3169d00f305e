"""What happens to a run when the disk, the clock or another process does something (cases DU-01 to DU-09)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from gate.cli import Cli
from gate.reference import DOCUMENT, FINAL, LOGIN, Played, Store, policy, simulated, terms
from gate.test_damage import change, rows
from gate.test_killed import Diary, after, killed
from rootproof import assemble
from rootproof.errors import LeaseLost, StoreBusy, StoreFull
from rootproof.event import Event, Stopped
from rootproof.ledger import chain, heartbeat, lease
from rootproof.ledger.interface import Entry
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.scripted import Scripted
from rootproof.state import State


def _cut(store: Store, seq: int) -> str:
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
    run = _cut(store, 17)
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


# DU-03 (in test_killed) and the writers: one at a time.


def test_two_processes_cannot_work_on_one_run(store: Store) -> None:
    """The second one is told who has it, and runs nothing."""
    seen: list[int] = []

    def meddle(state: State, event: Event) -> None:
        if event.type == "started" and not seen:
            with pytest.raises(StoreBusy, match=f"is being worked on by .* pid {os.getpid()} "):
                assemble.resume("last", store.options([FINAL], tools))
            seen.append(state.seq)

    tools = simulated()
    outcome = assemble.run(store.load(DOCUMENT), store.options(policy, simulated(), meddle))
    assert outcome.status == "success" and not any(tool.entered for tool in tools.values())
    assert seen == [5]


def test_many_processes_begin_in_one_new_store(store: Store) -> None:
    """Whoever comes first makes the tables; nobody takes a half-made store for somebody else's."""
    loaded = store.load(DOCUMENT)
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = assemble.run(loaded, store.options([FINAL], simulated())).exit_status
            finally:
                os._exit(code)
        children.append(child)
    assert {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children} == {1}, "all ended: parse errors"
    opened = assemble.open_store(store.path, read_only=True)
    assert len(opened.runs()) == 6 and {row.events for row in opened.runs()} == {1 + 2 + 2 * 2 + 1}
    opened.close()


def test_two_processes_that_resume_a_killed_run_one_of_them_gets_it(store: Store) -> None:
    run = _cut(store, 9)
    diary = Diary(store.folder / "diary")
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                options = assemble.Options(store=store.path, model=Scripted(diary.say), tools=diary.tools())
                code = {"success": 0}.get(assemble.resume(run, options).status, 1)
            except StoreBusy:
                code = 8
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes.count(0) >= 1 and set(codes) <= {0, 8}
    assert sum("read_file" in line and LOGIN in line for line in diary.lines) == 1
    assert len([one for one in store.stored(run) if one.event.type == "resumed"]) == 1


def test_a_run_that_another_process_ended_in_the_meantime_is_not_begun_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at a run and taking it, somebody else resumed it to its end."""
    run = _cut(store, 9)
    take, others = SqliteStore.take, []

    def late(self: SqliteStore, name: str) -> Any:
        if not others:
            others.append("begun")
            others.append(store.resume(run))
        return take(self, name)

    monkeypatch.setattr(SqliteStore, "take", late)
    ended = store.resume(run)
    assert ended.status == "success" and ended.stored == others[1].stored and not any(ended.entered.values())


def test_a_writer_that_lost_the_lease_cannot_append(store: Store) -> None:
    """Its lease ran out while it slept; it wakes up with an observation in hand, and the observation is refused."""
    old: dict[str, Any] = {}
    taken: list[Played] = []

    def sleeper(state: State, event: Event) -> None:
        if event.type == "started" and not taken:
            old["seq"] = state.seq
            with sqlite3.connect(store.path) as connection:
                connection.execute("UPDATE runs SET until = 0")
            connection.close()
            taken.append(store.resume(assemble.open_store(store.path).find("last")))

    tools = simulated()
    with pytest.raises(LeaseLost, match=rf"event {5 + 1} was not stored") as raised:
        assemble.run(store.load(DOCUMENT), store.options(policy, tools, sleeper))
    assert raised.value.exit_status == 8 and old["seq"] == 5
    (after_it,) = taken
    assert after_it.status == "success" and store.stored(after_it.outcome.run) == after_it.stored


def test_only_the_highest_epoch_writes(store: Store) -> None:
    run = _cut(store, 5)
    opened = assemble.open_store(store.path)
    first = opened.take(run)
    change(store, "UPDATE runs SET until = 0")
    second = opened.take(run)
    assert second.epoch == first.epoch + 1
    entry = Entry(Stopped(status="cancelled", reason="x"))
    with pytest.raises(LeaseLost):
        first.append(first.replay(), entry)
    assert not first.renew() and second.renew()
    first.release()
    with pytest.raises(StoreBusy):
        opened.take(run)  # letting go of what one does not hold lets nothing go
    second.append(second.replay(), entry)
    with pytest.raises(LeaseLost):
        second.append(State(), entry)  # a writer that does not know the end of the chain does not write
    assert len(store.stored(run)) == 6
    opened.close()


def test_a_long_call_keeps_its_lease(store: Store) -> None:
    run = _cut(store, 5)
    opened = assemble.open_store(store.path)
    ledger = opened.take(run)
    change(store, "UPDATE runs SET until = 0")

    def until() -> float:
        (value,) = opened.connection.execute("SELECT until FROM runs").fetchone()
        return float(value)

    with heartbeat.heartbeat(ledger, every=0.01):
        deadline = time.monotonic() + 20
        while until() == 0 and time.monotonic() < deadline:
            pass
    assert until() > time.time() + lease.LEASE_SECONDS / 2
    opened.close()


# DU-07: an event of a version to come.


def test_an_unknown_event_is_listed_and_the_run_not_resumed(store: Store, cli: Cli) -> None:
    run = _cut(store, 5)
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
    monkeypatch.setattr("rootproof.ledger.sqlite.datetime", Clock)

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
    run = _cut(store, 9)
    monkeypatch.setattr(assemble, "RULES", "2")
    said = cli("resume", run, "--model", "human", "--root", store.root)
    assert said.code in (2, 9) and "Traceback" not in said.err
    with pytest.raises(assemble.ResumeRefused, match="rules: 1 then, 2 now"):
        store.resume(run)
    assert cli("show", run).code == 0 and len(store.stored(run)) == 9


def test_a_tree_that_changed_between_kill_and_resume_gives_no_success(store: Store) -> None:
    run = _cut(store, 15)  # the login entry was read
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
