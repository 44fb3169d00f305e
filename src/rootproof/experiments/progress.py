"""What a long request lets hear while it runs, as a line for a person. Unverified, shown and never kept."""

from __future__ import annotations

import json
from collections.abc import Callable

MOST = 1 << 16
"""Bytes of an unfinished record that are kept; more of one is nothing to show."""

Tell = Callable[[str], None]


def silent(text: str) -> None:
    """Tell nobody."""


class Hearing:
    """Reads the engine's channel as it comes. Whatever the code under test writes there, nothing is raised."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._rest = b""
        self._traced = 0

    def __call__(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MOST]
        for line in lines:
            if line.startswith(b'{"progress"'):
                self._searched(line)
            elif line.startswith(b'{"story"'):
                self._tell("the failing test is traced; now the tests near it")
            elif line.startswith(b'{"ran"'):
                self._traced += 1
                if self._traced % 25 == 0:
                    self._tell(f"{self._traced} tests near it are traced")

    def _searched(self, line: bytes) -> None:
        try:
            told = json.loads(line)
            done, most, flips, left = (int(told[name]) for name in ("progress", "of", "flips", "seconds_left"))
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        found = "none turned it green yet" if not flips else f"{flips} turned it green and kept its neighbours"
        self._tell(f"{done} of {most} changes tried, {found}, at most {left} s left")
