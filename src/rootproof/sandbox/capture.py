"""Bounded keeping of a stream: head and tail are kept, everything is counted and digested.

Reading never stops at the cap: a command that floods its output must neither hang on a full pipe nor fill our memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from rootproof.sandbox.interface import Capture

_CHUNK = 1 << 18


class Keeper:
    """Takes the bytes of one stream in order and becomes a :class:`Capture`.

    At most ``cap`` bytes are kept. ``head_only`` keeps them all at the beginning (result channels, where a torn
    middle would be worth nothing); otherwise half is the head and half the tail.
    """

    def __init__(self, cap: int, *, head_only: bool = False) -> None:
        self._head_cap = cap if head_only else cap - cap // 2
        self._tail_cap = 0 if head_only else cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._digest = hashlib.sha256()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        self._digest.update(data)
        room = self._head_cap - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data and self._tail_cap:
            self._tail += data[-self._tail_cap :]
            if len(self._tail) > 2 * self._tail_cap:
                del self._tail[: -self._tail_cap]

    def done(self) -> Capture:
        """What was kept so far."""
        tail = bytes(self._tail[-self._tail_cap :]) if self._tail_cap else b""
        return Capture(bytes(self._head), tail, self.total, self._digest.hexdigest())


class Pipe:
    """A pipe whose read end is ours and whose write end goes to the command; ``close`` may be called twice."""

    def __init__(self, cap: int, *, head_only: bool = False, heard: Callable[[bytes], None] | None = None) -> None:
        self._heard = heard
        self.read, self.write = os.pipe()
        os.set_blocking(self.read, False)
        self.keeper = Keeper(cap, head_only=head_only)
        self._open = {self.read, self.write}

    def close_write(self) -> None:
        """Give up our copy of the command's end, so that the end of the stream can be seen."""
        self._close(self.write)

    def close(self) -> None:
        """Close both ends."""
        self._close(self.read)
        self._close(self.write)

    def _close(self, fd: int) -> None:
        if fd in self._open:
            self._open.discard(fd)
            os.close(fd)

    def pull(self, rounds: int = 4) -> bool:
        """Take what is there now, at most ``rounds`` pieces. False: the stream has ended."""
        for _ in range(rounds):
            try:
                data = os.read(self.read, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.keeper.feed(data)
            if self._heard is not None:
                self._heard(data)
        return True

    def drain(self) -> None:
        """Take what is left without ever waiting: a process that holds the other end may outlive the command."""
        for _ in range(64):
            if not self.pull(1):
                return
