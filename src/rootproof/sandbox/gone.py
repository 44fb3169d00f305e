"""Whether killed processes are gone: a signal is sent at once, and what it hits may take a moment to end."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from pathlib import Path

_ROUNDS = 100
_TICK = 0.01


def wait_gone(pids: Collection[int]) -> None:
    """Wait, for a second at most, until none of these processes lives. The dead may wait for whoever collects them."""
    for _ in range(_ROUNDS):
        if not any(_stat(pid)[0] not in ("", "Z", "X") for pid in pids):
            return
        time.sleep(_TICK)


def of_group(group: int) -> list[int]:
    """Processes of a process group (where there is a ``/proc`` to see them in)."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [pid for pid in pids if _stat(pid)[1] == group]


def _stat(pid: int) -> tuple[str, int]:
    """State and group of a process; an empty state where there is none."""
    try:
        text = (Path("/proc") / str(pid) / "stat").read_text("ascii", "replace")
    except OSError:
        return "", 0
    state, _, group, *_ = text.rpartition(") ")[2].split()
    return state, int(group)
