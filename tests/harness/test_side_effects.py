"""A side effect happens once, whenever the process dies; and is undone where the run ends otherwise than in success."""

from __future__ import annotations

from typing import Any

import pytest

from gate.test_damage import change
from gate.test_killed import Armed, after, die, killed
from harness.desk import TITLE, Desk, opening, propose, two
from rootproof.errors import LeaseLost
from rootproof.state import State
from rootproof.tools.interface import Declined

EVENTS = 14
"""As many as the run of the example appends, with its approval, when nothing happens to it."""
UNDONE = 22
"""As many as a run with two tickets and no success appends, with both undone."""


def act(desk: Desk, say: Any, *listeners: Any) -> None:
    """The whole life of a run in one process: begun, approved and resumed as often as it asks."""
    desk.run(say, None if say is propose else desk.contract(3), *listeners)
    while desk.state().resumable:
        if desk.state().status == "waiting" and desk.state().effects.given is None:
            desk.approve()
        desk.resume("last", say, *listeners)


def kill(desk: Desk, say: Any, seq: int, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def doomed() -> None:
        if when == "before":
            Armed.doomed = seq
            monkeypatch.setattr("rootproof.ledger.sqlite.SqliteStore", Armed)
        act(desk, say, *((after(seq),) if when == "after" else ()))

    if when == "after":
        hear(desk, seq, monkeypatch)
    killed(doomed)
    monkeypatch.undo()


def hear(desk: Desk, seq: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision has no listeners: kill after its event all the same."""
    approve = desk.approve

    def approve_and_die(*words: Any) -> Any:
        outcome = approve(*words)
        if len(desk.stored()) == seq:
            die()
        return outcome

    monkeypatch.setattr(desk, "approve", approve_and_die)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seq", range(2, EVENTS + 1))
def test_killed_at_any_event_there_is_one_ticket(
    desk: Desk, seq: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(desk, propose, seq, when, monkeypatch)
    left = desk.stored()
    assert len(left) == (seq if when == "after" else seq - 1)
    ended = desk.to_the_end()
    assert ended.status == "success" and ended.steps == 3 and "ticket" in ended.facts
    assert desk.tracker.all() == [(TITLE, "open", 0)]
    assert [one.hash for one in desk.stored()[: len(left)]] == [one.hash for one in left]
    assert len([one for one in desk.events("observed") if one.tool == "open_ticket"]) == 1


def test_the_undisturbed_runs_have_as_many_events(desk: Desk) -> None:
    act(desk, propose)
    assert len(desk.stored()) == EVENTS
    act(desk, two)
    assert len(desk.stored()) == UNDONE and desk.state().status == "max_steps"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seq", range(14, UNDONE + 1))
def test_killed_at_any_event_of_undoing_each_ticket_is_closed_once(
    desk: Desk, seq: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(desk, two, seq, when, monkeypatch)
    ended = desk.to_the_end(two)
    assert ended.status == "max_steps" and ended.effects == () and not desk.state().resumable
    assert desk.tracker.all() == [("first", "closed", 1), ("second", "closed", 1)]
    assert [one.status for one in desk.events("undone")] == ["undone", "undone"]
    keys = [one.key for one in desk.events("started")]
    assert [one.key for one in desk.events("undone")] == list(reversed(list(dict.fromkeys(keys))))


def test_undone_in_reverse_order_when_the_run_ends_otherwise_than_in_success(desk: Desk) -> None:
    act(desk, two)
    tail = desk.types()[desk.types().index("stopped") :]
    assert tail == ["stopped", "undo_started", "undone", "undo_started", "undone"]
    assert [one.reason for one in desk.events("undone")] == ["ticket 2 closed", "ticket 1 closed"]
    assert desk.resume(say=two).exit_status == 4 and desk.tool.undone == 2, "told again, nothing done again"


@pytest.mark.parametrize(
    ("then", "status"),
    [
        ('{"type": "action", "tool": "deploy", "input": {}}', "blocked"),
        ("prose", "failed"),
        ('{"type": "final"}', "max_steps"),
    ],
)
def test_every_end_but_success_undoes(desk: Desk, then: str, status: str) -> None:
    def say(view: dict[str, Any]) -> Any:
        return opening("t") if view["step"] == 1 else then

    desk.run(say)
    ended = desk.to_the_end(say)
    assert ended.status == status and desk.tracker.all() == [("t", "closed", 1)] and ended.effects == ()


def test_success_undoes_nothing_and_waiting_and_cancelling_neither(desk: Desk) -> None:
    def interrupt(state: State, event: Any) -> None:
        if event.type == "checked" and event.tool == "open_ticket":
            raise KeyboardInterrupt

    desk.run()
    desk.approve()
    assert desk.resume("last", propose, interrupt).status == "cancelled"
    assert desk.tracker.all() == [(TITLE, "open", 0)] and len(desk.state().effects.begun) == 1
    ended = desk.resume()
    assert ended.status == "success" and desk.tracker.all() == [(TITLE, "open", 0)]
    assert [effect.tool for effect in ended.effects] == ["open_ticket"] and desk.tool.undone == 0


def test_done_but_not_recorded_it_is_found_by_its_key(desk: Desk) -> None:
    desk.run()
    desk.approve()
    desk.tool.after_run = die
    killed(lambda: desk.resume())
    assert desk.types()[-1] == "started" and desk.tracker.all() == [(TITLE, "open", 0)]
    desk.tool.after_run = lambda: None
    ended = desk.resume()
    assert ended.status == "success" and desk.tool.entered == 0, "it was looked up, not done again"
    assert desk.tool.asked == [desk.events("started")[-1].key]


def test_cancelled_within_the_tool_it_is_looked_up(desk: Desk) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    desk.run()
    desk.approve()
    desk.tool.after_run = interrupt
    assert desk.resume().status == "cancelled" and desk.tracker.all() == [(TITLE, "open", 0)]
    desk.tool.after_run = lambda: None
    assert desk.resume().status == "success" and desk.tool.entered == 1


def test_undone_but_not_recorded_it_is_found_by_its_key(desk: Desk) -> None:
    desk.tool.after_undo = die
    killed(lambda: act(desk, two))
    assert desk.types()[-1] == "undo_started" and desk.state().status == "max_steps" and desk.state().resumable
    desk.tool.after_undo = lambda: None
    ended = desk.resume(say=two)
    assert desk.tool.undone == 1 and desk.tracker.all() == [("first", "closed", 1), ("second", "closed", 1)]
    assert (ended.status, ended.effects) == ("max_steps", ())


def test_where_the_tool_cannot_tell_the_run_waits_for_a_person(desk: Desk) -> None:
    desk.run()
    desk.approve()
    desk.tool.after_run = die
    killed(lambda: desk.resume())
    desk.tool.after_run, desk.tool.blind = (lambda: None), True
    for _ in range(2):
        ended = desk.resume()
        assert ended.status == "waiting" and ended.exit_status == 6 and desk.tool.entered == 0
        assert "nobody can tell" in ended.reason and ended.asks is not None and ended.asks["begun"]
    desk.tool.blind = False
    assert desk.resume().status == "success" and desk.tool.entered == 0, "now the tracker answers"
    assert desk.tracker.all() == [(TITLE, "open", 0)]


def test_a_person_may_say_that_it_is_to_begin_again_under_the_same_key(desk: Desk) -> None:
    desk.run()
    desk.approve()
    desk.tool.after_run = die
    killed(lambda: desk.resume())
    desk.tool.after_run, desk.tool.blind = (lambda: None), True
    assert desk.resume().status == "waiting"
    desk.approve(by="Bob", reason="I looked: there is none")
    assert desk.resume().status == "success" and desk.tool.entered == 1
    assert desk.tracker.all() == [(TITLE, "open", 0)], "one key, one ticket"
    assert {one.key for one in desk.events("started") if one.key} == {desk.events("started")[-1].key}


def test_refused_after_it_may_have_happened_it_still_counts_as_possibly_done(desk: Desk) -> None:
    desk.run()
    desk.approve()
    desk.tool.after_run = die
    killed(lambda: desk.resume())
    desk.tool.after_run, desk.tool.blind = (lambda: None), True
    assert desk.resume().status == "waiting"
    desk.refuse(reason="leave it")
    ended = desk.resume()
    assert ended.status == "max_steps" and desk.tracker.all() == [(TITLE, "closed", 1)]


def test_an_approval_that_ran_out_does_not_begin_a_lost_effect_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.test_approval import later

    desk.run()
    desk.approve()

    def stop(state: State, event: Any) -> None:
        if event.type == "started":
            die()

    killed(lambda: desk.resume("last", propose, stop))
    assert desk.tracker.all() == []
    later(monkeypatch, 3601)
    assert desk.resume().status == "max_steps" and desk.tool.entered == 0 and desk.tracker.all() == []


def test_a_compensation_that_fails_is_told_and_tried_again_when_the_run_is_taken_up(desk: Desk) -> None:
    def fail() -> None:
        if desk.tool.undone <= 1:
            raise OSError("no route to the tracker\nstatus=success")

    def close_nothing(key: str) -> bool:
        fail()
        return close(key)

    close, desk.tracker.close = desk.tracker.close, close_nothing  # type: ignore[method-assign]
    act_once = desk.run(two, desk.contract(2))
    desk.approve()
    desk.resume(say=two)
    desk.approve()
    ended = desk.resume(say=two)
    assert ended.status == "max_steps" and [one.status for one in desk.events("undone")] == ["failed", "undone"]
    assert [effect.stuck for effect in ended.effects] == ["OSError: no route to the tracker\\nstatus=success"]
    assert desk.tracker.all() == [("first", "closed", 1), ("second", "open", 0)]
    again = desk.resume(act_once.run, two)
    assert again.status == "max_steps" and again.effects == () and not desk.state().resumable
    assert desk.tracker.all() == [("first", "closed", 1), ("second", "closed", 1)]


def test_interrupted_while_undoing_the_end_stands_and_the_rest_is_undone_later(desk: Desk) -> None:
    def interrupt(state: State, event: Any) -> None:
        if event.type == "undone" and desk.tool.undone == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        act(desk, two, interrupt)
    assert desk.state().status == "max_steps" and desk.state().undoing
    ended = desk.resume(say=two)
    assert ended.status == "max_steps" and ended.effects == () and desk.tool.undone == 2


def test_asked_again_it_is_known_and_not_done_again(desk: Desk) -> None:
    def say(view: dict[str, Any]) -> Any:
        return opening("same") if view["step"] <= 2 else {"type": "final"}

    desk.run(say)
    desk.approve()
    (desk.root / "src" / "rates.py").write_text(
        "MEMBER_DISCOUNT = 0.1\n"
    )  # the files changed: the ticket is open still
    desk.resume(say=say)
    assert desk.tool.entered == 1 and "known" in desk.types()


def test_a_tool_that_declined_did_nothing_that_must_be_undone(desk: Desk) -> None:
    def say(view: dict[str, Any]) -> Any:
        return opening("two\nlines") if view["step"] == 1 else {"type": "final"}

    desk.run(say)
    desk.approve()
    ended = desk.resume(say=say)
    assert ended.status == "max_steps" and desk.tracker.all() == [] and desk.tool.undone == 0 and ended.effects == ()


def test_two_runs_have_their_own_tickets(desk: Desk) -> None:
    for _ in range(2):
        run = desk.run().run
        desk.approve(run)
        desk.resume(run)
    assert desk.tracker.all() == [(TITLE, "open", 0)] * 2


def test_the_same_effect_under_another_input_is_not_done_and_the_model_is_told(desk: Desk) -> None:
    def say(view: dict[str, Any]) -> Any:
        return opening("same", f"body {view['step']}") if view["step"] <= 2 else {"type": "final"}

    desk.run(say)
    ended = desk.to_the_end(say)
    assert ended.status == "max_steps" and desk.tool.entered == 1
    assert "what counts is title" in desk.events("rejected")[0].reason
    assert desk.tracker.all() == [("same", "closed", 1)]


def test_declined_the_second_time_it_may_still_have_happened_the_first(desk: Desk) -> None:
    desk.run()
    desk.approve()
    desk.tool.after_run = die
    killed(lambda: desk.resume())
    desk.tool.after_run, desk.tool.blind = (lambda: None), True
    assert desk.resume().status == "waiting"
    desk.approve(by="Bob", reason="try")
    desk.tool.run = lambda request: Declined("the tracker is closed today")  # type: ignore[method-assign]
    ended = desk.resume()
    assert ended.status == "max_steps" and desk.tracker.all() == [(TITLE, "closed", 1)], "and so it was undone"


@pytest.mark.parametrize(("steps", "left"), [(6, [(TITLE, "open", 0)]), (2, [])])
def test_a_process_that_slept_through_its_lease_wakes_up_before_the_tool(
    desk: Desk, steps: int, left: list[Any]
) -> None:
    """Another one took the run over and ended it. The sleeper enters the tool all the same: one key, one effect, and
    none at all where the run has been undone."""
    desk.run(propose, desk.contract(steps))
    desk.approve()
    taken: list[str] = []

    def sleep(state: State, event: Any) -> None:
        if event.type == "started" and not taken:
            taken.append("now")
            change(desk, "UPDATE runs SET until = 0")
            if steps == 2:
                desk.tool.blind = True
                assert desk.resume().status == "waiting"
                desk.tool.blind = False
                desk.refuse(reason="leave it")
            taken.append(desk.resume().status)

    with pytest.raises(LeaseLost):
        desk.resume("last", propose, sleep)
    assert taken[1] == ("success" if steps == 6 else "max_steps") == desk.state().status
    assert desk.tracker.all() == left


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seq", range(7, 13))
def test_killed_around_an_approval_that_runs_out(
    desk: Desk, seq: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def live(*listeners: Any) -> None:
        desk.run(propose, desk.contract(3, policy={"approval_seconds": 0.001}), *listeners)
        desk.resume("last", propose, *listeners)

    def doomed() -> None:
        if when == "before":
            Armed.doomed = seq
            monkeypatch.setattr("rootproof.ledger.sqlite.SqliteStore", Armed)
        live(*((after(seq),) if when == "after" else ()))

    killed(doomed)
    monkeypatch.undo()
    assert desk.resume().status in ("waiting", "max_steps")
    ended = desk.resume()
    assert ended.status == "max_steps" and ended.steps == 3 and desk.tool.entered == 0
    assert desk.types().count("approval_expired") == 1 and desk.state().consecutive_invalid_actions == 0
