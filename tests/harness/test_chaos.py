"""Killed again and again at random moments, with no regard for events: every effect happens once and is undone once."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from gate.test_killed import die
from harness.desk import TITLE, Desk, propose, two
from harness.struck import live

RUNS = 20


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(RUNS))
def test_killed_at_random_moments(tmp_path: Path, runs: Path, seed: int) -> None:
    chance = random.Random(seed)
    say = chance.choice([propose, two])
    desk, kills = Desk(tmp_path, runs), 0
    while not live(desk, say, chance.uniform(0.004, 0.06) * (1 + kills / 5), die, -signal.SIGKILL):
        kills += 1
        assert kills < 100
    status, tickets = desk.state().status, desk.tracker.all()
    if say is propose:
        assert status == "success" and tickets == [(TITLE, "open", 0)]
    else:
        assert status == "max_steps" and tickets == [("first", "closed", 1), ("second", "closed", 1)]
    assert len(desk.events("approval_given")) == len(desk.events("approval_requested"))
