"""Killed again and again at random moments, with no regard for events: every effect happens once and is undone once."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from gate.test_killed import die
from harness.desk import TITLE, Desk, propose, two

RUNS = 20


def live(desk: Desk, say: object, seconds: float) -> bool:
    """Go on with the run in a process that is killed after a while; whether it came to its end before."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, lambda number, frame: die())
            signal.setitimer(signal.ITIMER_REAL, seconds)
            if not desk.path.exists() or not desk.types_or_none():
                desk.run(say, None if say is propose else desk.contract(3))  # type: ignore[arg-type]
            desk.to_the_end(say)  # type: ignore[arg-type]
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code == 0


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(RUNS))
def test_killed_at_random_moments(tmp_path: Path, runs: Path, seed: int) -> None:
    chance = random.Random(seed)
    say = chance.choice([propose, two])
    desk, kills = Desk(tmp_path, runs), 0
    while not live(desk, say, chance.uniform(0.004, 0.06) * (1 + kills / 5)):
        kills += 1
        assert kills < 100
    status, tickets = desk.state().status, desk.tracker.all()
    if say is propose:
        assert status == "success" and tickets == [(TITLE, "open", 0)]
    else:
        assert status == "max_steps" and tickets == [("first", "closed", 1), ("second", "closed", 1)]
    assert len(desk.events("approval_given")) == len(desk.events("approval_requested"))
