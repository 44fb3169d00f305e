"""Who holds a run, and whether they may still be working. The fencing epoch, not this, is what makes writing safe."""

from __future__ import annotations

import os
import socket
from pathlib import Path

LEASE_SECONDS = 60.0
"""A holder that has not appended or renewed for so long may be taken over."""


def owner() -> str:
    """This process, so that another one on the same machine can see whether it lives."""
    return f"{socket.gethostname()} pid {os.getpid()} since {_start_of(os.getpid())}"


def alive(holder: str) -> bool:
    """Whether the holder may still be working: unknown counts as alive until its lease ends."""
    parts = holder.rsplit(" ", 4)
    if len(parts) != 5 or parts[0] != socket.gethostname():
        return bool(holder)
    return _start_of(int(parts[2])) == parts[4] if parts[2].isdigit() else True


def _start_of(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "gone" if status[0] in "ZX" else status[19]  # a killed process that nobody waited for writes no more
    except (OSError, IndexError):
        return "gone"
