"""How a launcher ended becomes how the command ended: one reading for every mechanism."""

from __future__ import annotations

import signal
from pathlib import Path

from rootproof.sandbox.interface import Completed, Level, LimitHit
from rootproof.sandbox.process import Ending

Outcome = tuple[int | None, int | None, LimitHit | None]
"""(exit code, signal, limit): exactly one is set."""


def supervised(ending: Ending) -> Outcome:
    """How the command ended, by its supervisor's last word."""
    if ending.limit is not None:
        return None, None, ending.limit
    word, _, number = ending.status.strip().rpartition("\n")[2].partition(" ")
    if word == "exit":
        return int(number), None, None
    if word == "signal":
        return by_signal(int(number))
    # A supervisor that was itself killed passes its own signal on.
    return by_signal(-ending.returncode if ending.returncode < 0 else signal.SIGKILL)


def by_signal(number: int) -> Outcome:
    """The kernel's own limits end a process by signals of their own."""
    if number == signal.SIGXCPU:
        return None, None, "cpu"
    if number == signal.SIGXFSZ:
        return None, None, "disk"
    return None, number, None


def completed(
    ending: Ending, outcome: Outcome, mechanism: str, level: Level, root_inside: Path | None = None
) -> Completed:
    """The outcome with what was captured and spent."""
    exit_code, signalled, limit = outcome
    return Completed(
        exit_code=exit_code,
        signal=signalled,
        limit=limit,
        stdout=ending.stdout,
        stderr=ending.stderr,
        channel=ending.channel,
        seconds=ending.seconds,
        cpu_seconds=ending.cpu_seconds,
        level=level,
        mechanism=mechanism,
        root_inside=root_inside,
    )
