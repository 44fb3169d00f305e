"""A run that goes on in a process of its own, and is struck there after a while: interrupted, or killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from harness.desk import Desk, Say, propose


def live(desk: Desk, say: Say, seconds: float, strike: Callable[[], None], struck: int) -> bool:
    """Begin the run or go on with it; whether it came to its end before the strike.

    ``strike`` is called in the process after so many seconds; ``struck`` is how that process then must end: as an exit
    status, 130 for a KeyboardInterrupt, or as a signal's number below zero.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, lambda number, frame: strike())
            signal.setitimer(signal.ITIMER_REAL, seconds)
            if not desk.path.exists() or not desk.types_or_none():
                desk.run(say, None if say is propose else desk.contract(3))
            desk.to_the_end(say)
            signal.setitimer(signal.ITIMER_REAL, 0)
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, struck), code
    return code == 0
