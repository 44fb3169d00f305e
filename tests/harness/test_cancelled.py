"""Interrupted at any event, also while it waits for a person, judges its end or undoes: the ledger is whole, and the
run comes to the end it would have come to. Every effect happens once and is undone once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from harness.desk import TITLE, Desk, propose, two
from harness.struck import live
from harness.test_side_effects import EVENTS, UNDONE
from rootproof.event import Event
from rootproof.state import State

ENDED = ("stopped", "undo_started", "undone")


class Once:
    """A listener that interrupts when an event has been stored; once."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.kind = ""

    def __call__(self, state: State, event: Event) -> None:
        if state.seq == self.seq and not self.kind:
            self.kind = event.type
            raise KeyboardInterrupt


def whole_and_stopped(desk: Desk, struck: str) -> None:
    """The chain verifies, and its last event says how the run stands."""
    state, last = desk.state(), desk.stored()[-1].event
    if state.undoing or struck in ENDED:
        assert last.type in ENDED and state.status == "max_steps", "how it ended stands"
    elif state.status in ("waiting", "success"):
        assert last.type == struck, "it had stopped already"
    else:
        assert last.type == "stopped" and state.status == "cancelled"


@pytest.mark.parametrize(("say", "seq"), [(propose, n) for n in range(1, EVENTS + 1)] + [(two, n) for n in range(14, UNDONE + 1)])  # fmt: skip
def test_at_any_event(desk: Desk, say: Any, seq: int) -> None:
    once = Once(seq)
    try:
        until_struck(desk, say, once)
    except KeyboardInterrupt:
        assert once.kind in ENDED, "only an end that stands already is not told in the outcome"
    if once.kind:  # else the event was a person's decision, which listens to nobody
        whole_and_stopped(desk, once.kind)
    right(desk, say)


def until_struck(desk: Desk, say: Any, once: Once) -> None:
    """The life of a run up to the interrupt."""
    desk.run(say, None if say is propose else desk.contract(3), once)
    while not once.kind and desk.state().resumable:
        if desk.state().status == "waiting" and desk.state().effects.given is None:
            desk.approve()
        desk.resume("last", say, once)


def right(desk: Desk, say: Any) -> None:
    """To the end it would have come to."""
    ended = desk.to_the_end(say)
    if say is propose:
        assert ended.status == "success" and desk.tracker.all() == [(TITLE, "open", 0)]
    else:
        assert ended.status == "max_steps" and desk.tracker.all() == [("first", "closed", 1), ("second", "closed", 1)]
    observed = [one for one in desk.events("observed") if one.tool == "open_ticket"]
    assert len(observed) == (1 if say is propose else 2)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(30))
def test_at_random_moments(tmp_path: Path, runs: Path, seed: int) -> None:
    chance = random.Random(seed)
    say = chance.choice([propose, two])
    desk, strikes = Desk(tmp_path, runs), 0
    while not live(desk, say, chance.uniform(0.004, 0.06) * (1 + strikes / 5), interrupt, 130):
        strikes += 1
        if desk.types_or_none():
            desk.state()  # a whole chain
        assert strikes < 100
    right(desk, say)
