"""Killed with -9 just before and just after the commit of each event; then resumed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.real import KEYS, RealStore
from gate.reference import DOCUMENT, FINAL, LOGIN, Played, Simulated, Store, action, policy, simulated
from rootproof import assemble
from rootproof.errors import RunUnknown
from rootproof.event import Event, Started
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.scripted import Scripted
from rootproof.state import State

CONFIRM = action("run_test", test=KEYS)
EVENTS = 25
"""As many as the reference case appends."""


class Diary:
    """What was executed and asked, written at once to a file that outlives the process."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def write(self, line: str) -> None:
        with self.file.open("a") as out:
            out.write(line + "\n")

    @property
    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def count(self, line: str) -> int:
        return self.lines.count(line)

    def tools(self) -> dict[str, Simulated]:
        def noted(tool: Simulated) -> Simulated:
            answer = tool.answer

            def run(request: Any) -> Any:
                self.write(f"{request.tool} {json.dumps(request.input, sort_keys=True)}")
                return answer(request)

            return Simulated(tool.spec, run)

        return {name: noted(tool) for name, tool in simulated().items()}

    def say(self, view: dict[str, Any]) -> str:
        self.write(f"asked {view['step']}")
        return policy(view)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed(act: Callable[[], object]) -> None:
    """Do something in a process of its own that kills itself on the way."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def after(seq: int) -> Callable[[State, Event], None]:
    """A listener that kills as soon as an event is committed."""

    def listen(state: State, event: Event) -> None:
        if state.seq == seq:
            die()

    return listen


class Armed(SqliteStore):
    """A store whose process dies when the transaction of one event is about to be committed."""

    doomed = 0

    def _prepare(self) -> None:
        super()._prepare()

        def trace(statement: str) -> None:
            if (
                statement == "COMMIT"
                and self.connection.execute("SELECT max(seq) FROM events").fetchone()[0] == Armed.doomed
            ):
                die()

        self.connection.set_trace_callback(trace)


def _begin(store: Store, diary: Diary, seq: int, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listeners = (after(seq),) if when == "after" else ()
    options = assemble.Options(store=store.path, model=Scripted(diary.say), tools=diary.tools(), listeners=listeners)

    def act() -> None:
        if when == "before":
            Armed.doomed = seq
            monkeypatch.setattr("rootproof.ledger.sqlite.SqliteStore", Armed)
        assemble.run(store.load(DOCUMENT), options)

    killed(act)


def _only_run(store: Store) -> str:
    opened = assemble.open_store(store.path, read_only=True)
    (row,) = opened.runs()
    opened.close()
    return row.run


def _known(run: Played) -> dict[str, Any]:
    return {name: (fact.value, fact.check, fact.source) for name, fact in run.outcome.facts.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The same run, never interrupted."""
    run = Store(tmp_path_factory.mktemp("whole")).play()
    assert len(run.stored) == EVENTS and run.status == "success"
    return run


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_a_killed_run_resumes_to_the_same_end(
    store: Store, whole: Played, seq: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = Diary(store.folder / "diary")
    _begin(store, diary, seq, when, monkeypatch)
    kept = seq if when == "after" else seq - 1
    if kept == 0:
        opened = assemble.open_store(store.path, read_only=True)
        assert opened.runs() == [], "a run that never began leaves nothing"
        with pytest.raises(RunUnknown):
            opened.find("last")
        return
    run = _only_run(store)
    left = store.stored(run)
    assert len(left) == kept
    tools = diary.tools()
    resumed = store.watch(tools, lambda options: assemble.resume(run, options), diary.say)
    assert (resumed.status, resumed.outcome.answer) == (whole.status, whole.outcome.answer)
    assert _known(resumed) == _known(whole) and resumed.outcome.steps == 7
    assert [one.hash for one in resumed.stored[:kept]] == [one.hash for one in left], "nothing stored was touched"
    lost = whole.stored[kept].event.type if when == "before" else ""
    _nothing_twice(diary, resumed, left[-1].event, asked_again=lost == "replied")


def _nothing_twice(diary: Diary, run: Played, last: Event, asked_again: bool) -> None:
    """Each stored reply cost one model call, each observation one execution; only what nobody saw end ran twice."""
    calls = [diary.count(f"asked {step}") for step in range(1, 8)]
    assert sum(calls) == 7 + asked_again and min(calls) == 1
    for started in (event for event in run.events("started") if event.attempt == 1):
        again = [event for event in run.events("started") if event.request == started.request and event.attempt == 2]
        assert bool(again) == (isinstance(last, Started) and last.request == started.request)
        line = f"{started.tool} {json.dumps(started.input, sort_keys=True)}"
        assert diary.count(line) == 1 or again, f"{line} was executed though its answer was stored"


def test_an_action_interrupted_twice_becomes_a_crashed_observation(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = Diary(store.folder / "diary")
    _begin(store, diary, 13, "after", monkeypatch)  # step 4 has begun: reading the login entry
    run = _only_run(store)
    assert store.stored(run)[-1].event.type == "started"
    options = assemble.Options(store=store.path, model=Scripted(policy), tools=diary.tools(), listeners=(after(16),))
    killed(lambda: assemble.resume(run, options))
    assert [one.event.type for one in store.stored(run)[13:]] == ["resumed", "interrupted", "started"]

    resumed = store.resume(run)
    crashed = next(event for event in resumed.events("observed") if event.cut)
    assert (crashed.cut, crashed.tool, crashed.input["path"]) == ("crashed", "read_file", LOGIN)
    assert [event.attempt for event in resumed.events("started") if event.request == crashed.request] == [1, 2, 1]
    assert not [f for f in resumed.state.facts.values() if f.event == 18], "a crashed observation gives no fact"
    assert resumed.status == "success", "the model asked for it again, and then it was seen"


def test_what_an_interrupted_test_run_cost_is_added(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _begin(store, Diary(store.folder / "diary"), 5, "after", monkeypatch)
    resumed = store.resume(_only_run(store))
    assert resumed.status == "success" and resumed.outcome.spent.test_runs == 3
    assert {event.attempt for event in resumed.events("started") if event.tool == "run_test"} == {1, 2}
    assert [event.resumable for event in resumed.events("interrupted")] == [False]


def test_a_dead_writer_that_nobody_waited_for_holds_no_lease(store: Store) -> None:
    """A killed controller may stay a zombie for long, where its parent does not care."""
    options = assemble.Options(store=store.path, model=Scripted(policy), tools=simulated(), listeners=(after(9),))
    child = os.fork()
    if child == 0:
        assemble.run(store.load(DOCUMENT), options)
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert store.resume(_only_run(store)).status == "success"
    finally:
        os.waitpid(child, 0)


def test_killed_while_a_real_test_runs(tmp_path: Path) -> None:
    store = RealStore(tmp_path)
    options = store.options([CONFIRM, FINAL], {})

    def soon(state: State, event: Event) -> None:
        if event.type == "started":
            signal.setitimer(signal.ITIMER_REAL, 0.3)  # then the test run has begun and has not ended

    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, lambda number, frame: die())
        assemble.run(store.load(store.document(2)), replace(options, listeners=(soon,)))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    outcome = assemble.resume(_only_run(store), options)
    assert outcome.status == "max_steps" and "contract_mismatch" in outcome.facts and outcome.spent.test_runs == 2
