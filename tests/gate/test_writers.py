"""One writer a run: a lease with a fencing epoch, whatever processes do at the same time (case DU-03 in test_killed)."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any

import pytest

from gate.reference import DOCUMENT, FINAL, LOGIN, Played, Store, policy, simulated
from gate.test_damage import change
from gate.test_durability import cut
from gate.test_killed import Diary
from rootproof import assemble
from rootproof.errors import LeaseLost, StoreBusy
from rootproof.event import Event, Stopped
from rootproof.ledger import heartbeat, lease
from rootproof.ledger.interface import Entry
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.scripted import Scripted
from rootproof.state import State


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
    run = cut(store, 9)
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
    run = cut(store, 9)
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
    run = cut(store, 5)
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
    run = cut(store, 5)
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


def test_a_reader_is_not_misled_by_an_event_that_is_appended_meanwhile(store: Store) -> None:
    """Head and events are read as of one moment; else a healthy run would be called damaged."""
    run = cut(store, 9)
    reader, writer = assemble.open_store(store.path, read_only=True), assemble.open_store(store.path)
    ledger = writer.take(run)
    state = ledger.replay()
    late = [Entry(Stopped(status="cancelled", reason="meanwhile"))]

    def between(statement: str) -> None:
        if statement.startswith("SELECT seq") and late:
            ledger.append(state, late.pop())

    reader.connection.set_trace_callback(between)
    assert len(list(reader.events(run))) == state.seq
    assert not late and len(list(reader.events(run))) == state.seq + 1
