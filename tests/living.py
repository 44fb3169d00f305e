"""Whether a process lives. One that is dead and waits for somebody to collect it does not."""

from __future__ import annotations

from pathlib import Path


def lives(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(") ")[2][0] not in "ZX"
