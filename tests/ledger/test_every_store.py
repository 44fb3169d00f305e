"""What every store does, over each member of the family: the same runs, the same proof, the same errors."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.reference import DOCUMENT, policy, project, simulated
from ledger.places import Place
from rootproof import assemble
from rootproof.errors import (
    LeaseLost,
    LedgerDamaged,
    RunUnknown,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreNewer,
)
from rootproof.event import Event, Stopped
from rootproof.ledger import heartbeat
from rootproof.ledger.interface import Entry
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.scripted import Scripted
from rootproof.outcome import Outcome
from rootproof.state import State

EVENTS = 25
STOP = Entry(Stopped(status="cancelled", reason="x"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


def options(place: Place, *listeners: Any, say: Any = policy) -> assemble.Options:
    return assemble.Options(store=place.named, model=Scripted(say), tools=simulated(), listeners=listeners)


def play(place: Place, root: Path, *listeners: Any) -> Outcome:
    return assemble.run(assemble.load_document(DOCUMENT, root, "c"), options(place, *listeners))


def cut(place: Place, root: Path, seq: int) -> str:
    """A run whose process ended after an event without a word."""

    def end(state: State, event: Event) -> None:
        if state.seq == seq:
            os._exit(0)

    child = os.fork()
    if child == 0:
        play(place, root, end)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store = place.open(read_only=True)
    try:
        return store.find("last")
    finally:
        store.close()


def test_a_whole_run_is_kept_and_proved(place: Place, root: Path) -> None:
    outcome = play(place, root)
    assert outcome.status == "success"
    store = place.open(read_only=True)
    (row,) = store.runs()
    assert (row.run, row.events, row.owner) == (outcome.run, EVENTS, "")
    store.check_blobs(outcome.run)
    assert store.head(outcome.run) == outcome.head == list(store.events(outcome.run))[-1].hash
    assert assemble.replayed(store, outcome.run).status == "success"
    assert store.head("nothing") == ""
    with pytest.raises(RunUnknown):
        list(store.events("nothing"))
    store.close()


@pytest.mark.parametrize("seq", [1, 5, 6, 13, 24])
def test_a_run_that_ended_without_a_word_goes_on(place: Place, root: Path, seq: int) -> None:
    run = cut(place, root, seq)
    outcome = assemble.resume(run, options(place))
    assert outcome.status == "success" and outcome.steps == 7
    assert assemble.resume(run, options(place)).head == outcome.head, "an ended run is only told again"


def test_only_the_highest_epoch_writes(place: Place, root: Path) -> None:
    run = cut(place, root, 5)
    store = place.open()
    first = store.take(run)
    place.change("UPDATE runs SET until = ENDED")
    second = store.take(run)
    assert second.epoch == first.epoch + 1
    with pytest.raises(LeaseLost, match="event 6 was not stored"):
        first.append(first.replay(), STOP)
    assert not first.renew() and second.renew()
    first.release()
    with pytest.raises(StoreBusy, match=f"pid {os.getpid()} "):
        store.take(run)
    second.append(second.replay(), STOP)
    with pytest.raises(LeaseLost):
        second.append(State(), STOP)
    with pytest.raises(LeaseLost):
        store.create(run).append(State(), STOP)
    assert len(list(store.events(run))) == 6
    store.close()


def test_many_processes_begin_in_one_new_store_and_one_gets_an_id(place: Place, root: Path) -> None:
    loaded = assemble.load_document(DOCUMENT, root, "c")
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store = place.open()
                code = assemble.begin(store, loaded, options(place), run="the-one").exit_status
            except LeaseLost:
                code = 8
            finally:
                os._exit(code)
        children.append(child)
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [0, 8, 8, 8]
    store = place.open(read_only=True)
    assert [row.run for row in store.runs()] == ["the-one"] and len(list(store.events("the-one"))) == EVENTS
    store.close()


def test_a_long_call_keeps_its_lease(place: Place, root: Path) -> None:
    run = cut(place, root, 5)
    store = place.open()
    ledger = store.take(run)
    place.change("UPDATE runs SET until = ENDED")
    with heartbeat.heartbeat(ledger, every=0.01):
        deadline = time.monotonic() + 20
        while place.change("UPDATE runs SET owner = owner WHERE until = ENDED") and time.monotonic() < deadline:
            pass
    with pytest.raises(StoreBusy):
        store.take(run)
    store.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET time = 'then' WHERE seq = 7", "event 7 was changed"),
        ("UPDATE events SET hash = 'x' WHERE seq = 3", "event 3 was changed"),
        ("UPDATE events SET epoch = 9 WHERE seq = 4", "event 4 was changed"),
        ("DELETE FROM events WHERE seq = 9", "event 9 is missing"),
        ("DELETE FROM events WHERE seq = 25", "event 25 is missing"),
        ("UPDATE runs SET head_hash = 'x' WHERE true", "event 26 is missing"),
        ("DELETE FROM blobs WHERE true", "are missing"),
    ],
)
def test_damage_is_named(place: Place, root: Path, statement: str, words: str) -> None:
    run = play(place, root).run
    assert place.change(statement) >= 1
    store = place.open(read_only=True)
    with pytest.raises(LedgerDamaged, match=words):
        store.check_blobs(run)
    store.close()
    with pytest.raises(LedgerDamaged, match=words):
        assemble.resume(run, options(place))


@pytest.mark.parametrize("how", ["full", "busy"])
def test_an_event_that_cannot_be_stored_is_named_and_the_run_goes_on_later(place: Place, root: Path, how: str) -> None:
    place.open().close()
    place.hinder(6, how)
    kind = {"full": StoreFull, "busy": StoreBusy}[how]
    with pytest.raises(kind, match="event 6 was not stored"):
        play(place, root)
    place.ease()  # type: ignore[attr-defined]
    assert assemble.resume("last", options(place)).status == "success"


def test_a_reader_beside_a_writer_never_sees_half(place: Place, root: Path) -> None:
    run = cut(place, root, 5)
    writer = place.open()
    ledger, done, begun = writer.take(run), threading.Event(), threading.Event()
    state = ledger.replay()
    faults: list[Exception] = []

    def read() -> None:
        reader = place.open(read_only=True)
        while not done.is_set() and not faults:
            try:
                list(reader.events(run))
            except StoreError as error:
                faults.append(error)
            begun.set()
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    begun.wait(20)
    for _ in range(60):
        state = ledger.append(replace(state, status="running"), STOP)
    done.set()
    thread.join()
    assert not faults, faults[0]
    writer.close()


def test_a_store_of_a_newer_version_is_read_but_not_written(place: Place, root: Path) -> None:
    run = play(place, root).run
    place.change("UPDATE meta SET value = '2' WHERE key = 'schema'")
    with pytest.raises(StoreNewer, match="schema 2"):
        place.open()
    store = place.open(read_only=True)
    assert assemble.replayed(store, run).status == "success"
    store.close()


def test_where_nothing_is_nothing_is_made_by_looking(place: Place) -> None:
    with pytest.raises(RunUnknown, match="there is no store at"):
        place.open(read_only=True)


def test_the_same_run_has_the_same_facts_and_bodies_everywhere(place: Place, root: Path) -> None:
    outcome = play(place, root)
    again = assemble.run(
        assemble.load_document(DOCUMENT, root, "c"),
        assemble.Options(store=root.parent / "other.sqlite3", model=Scripted(policy), tools=simulated()),
    )
    assert outcome.facts == again.facts and (outcome.answer, outcome.steps) == (again.answer, again.steps)


def test_what_an_interrupt_left_open_is_not_written_into(place: Place, root: Path) -> None:
    """Ctrl-C between the beginning of a transaction and its block: the next event is durable all the same."""
    run = cut(place, root, 5)
    store, other = place.open(), place.open(read_only=True)
    begin = "BEGIN IMMEDIATE" if isinstance(store, SqliteStore) else "BEGIN"
    ledger = store.take(run)
    state = ledger.replay()
    store.connection.execute(begin)  # type: ignore[attr-defined]
    state = ledger.append(state, STOP)
    assert len(list(other.events(run))) == 6
    store.connection.execute(begin)  # type: ignore[attr-defined]
    assert ledger.replay().seq == state.seq
    store.connection.execute(begin)  # type: ignore[attr-defined]
    ledger.release()
    assert [row.owner for row in other.runs()] == [""]
    store.close()
    other.close()
