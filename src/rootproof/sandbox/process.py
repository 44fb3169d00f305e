"""Following one started process tree to its end: streams, time, limits, interruption.

What every mechanism shares. A mechanism says how the tree is started, seen and killed (:class:`Launch`); here is
when. The rules: never wait for the end of a stream (a daemon may hold it), never leave without killing, and whatever
ends the wait (exit, limit, interrupt, a fault of ours) goes through the same kill.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rootproof.sandbox.capture import Pipe
from rootproof.sandbox.interface import Capture, LimitHit, Limits
from rootproof.sandbox.interrupt import held_back
from rootproof.sandbox.side_by_side import CalledOff, called_off
from rootproof.sandbox.watch import Watch

_BLIND_TICK = 0.02
_PATIENCE = 5.0
"""Seconds that a tree which was told to die is waited for before its supervisor is killed too."""


class Streams:
    """The pipes between one command and us."""

    def __init__(self, limits: Limits, channel: bool, heard: Callable[[bytes], None] | None = None) -> None:
        self.stdout = Pipe(limits.output_bytes)
        self.stderr = Pipe(limits.output_bytes)
        self.channel = Pipe(limits.channel_bytes if channel else 0, head_only=True, heard=heard)
        self.status = Pipe(1 << 16, head_only=True)
        """What our own launcher has to say: set-up faults, how the command ended."""
        self.has_channel = channel

    @property
    def pipes(self) -> tuple[Pipe, ...]:
        return (self.stdout, self.stderr, self.channel, self.status)

    @property
    def total(self) -> int:
        """Bytes read so far of what the command wrote."""
        return self.stdout.keeper.total + self.stderr.keeper.total + self.channel.keeper.total

    def captures(self) -> tuple[Capture, Capture, Capture]:
        channel = self.channel.keeper.done() if self.has_channel else Capture()
        return self.stdout.keeper.done(), self.stderr.keeper.done(), channel

    def close(self) -> None:
        for pipe in self.pipes:
            pipe.close()


class Launch(Protocol):
    """How one mechanism starts, sees and kills one command."""

    def start(self, streams: Streams) -> subprocess.Popen[bytes]:
        """Start the launcher; its standard output and error are the streams'."""
        ...

    def watch(self, pid: int) -> Watch | None:
        """A watch over the tree as soon as it can be seen; asked for again until it is there."""
        ...

    def kill(self, pid: int) -> None:
        """Tell the whole tree to die; the launcher's own end then says that it is dead."""
        ...

    def close(self) -> None:
        """Give back what the launch holds. Called once, after the end."""
        ...


@dataclass(frozen=True)
class Ending:
    """How a launcher ended."""

    limit: LimitHit | None
    returncode: int
    """As :class:`subprocess.Popen` has it: negative for a signal."""
    status: str
    """All that the launcher said on the status pipe."""
    seconds: float
    cpu_seconds: float
    stdout: Capture
    stderr: Capture
    channel: Capture


class _Child:
    """A started launcher that can be waited for together with its streams and with its use of the CPU."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.popen = popen
        self.cpu_seconds = 0.0
        self.ready = os.pidfd_open(popen.pid) if sys.platform == "linux" else None

    def ended(self) -> bool:
        """Whether it is over; collects it when it is."""
        if self.popen.returncode is None:
            pid, status, use = os.wait4(self.popen.pid, os.WNOHANG)
            if pid:
                self._collect(status, use)
        return self.popen.returncode is not None

    def _collect(self, status: int, use: resource.struct_rusage) -> None:
        self.popen.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = max(self.cpu_seconds, use.ru_utime + use.ru_stime)

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; True: it is over."""
        until = time.monotonic() + seconds
        while not self.ended():
            left = until - time.monotonic()
            if left <= 0:
                return False
            if self.ready is None:
                time.sleep(min(left, _BLIND_TICK))
            else:
                select.select([self.ready], [], [], left)
        return True

    def close(self) -> None:
        if self.ready is not None:
            os.close(self.ready)


def carry_out(launch: Launch, limits: Limits, channel: bool, heard: Callable[[bytes], None] | None = None) -> Ending:
    """Start, follow and end one command.

    Raises:
        OSError: the launcher itself could not be started.
        KeyboardInterrupt: and anything else that interrupts the wait, after the tree is dead.
    """
    streams = Streams(limits, channel, heard)
    try:
        return _carry_out(launch, limits, streams)
    finally:
        streams.close()
        launch.close()


def _carry_out(launch: Launch, limits: Limits, streams: Streams) -> Ending:
    began = time.monotonic()
    child: _Child | None = None
    limit: LimitHit | None = None
    try:
        with held_back():
            child = _Child(launch.start(streams))
        for pipe in streams.pipes:
            pipe.close_write()
        limit = _follow(launch, child, streams, limits, began)
    finally:
        if child is not None:
            with held_back():
                _end(launch, child)
    for pipe in streams.pipes:
        pipe.drain()
    status = streams.status.keeper.done().head.decode("utf-8", "replace")
    seconds = time.monotonic() - began
    return Ending(limit, child.popen.returncode, status, seconds, child.cpu_seconds, *streams.captures())


def _end(launch: Launch, child: _Child) -> None:
    if not child.ended():
        launch.kill(child.popen.pid)
        if not child.wait(_PATIENCE):
            child.popen.kill()
            child.wait(_PATIENCE)
    child.close()


def _follow(launch: Launch, child: _Child, streams: Streams, limits: Limits, began: float) -> LimitHit | None:
    """Read and watch until the launcher ends (None) or a limit is reached."""
    poll = select.poll()
    pipes = {pipe.read: pipe for pipe in streams.pipes}
    for fd in [*pipes, *(other for other in (child.ready, called_off()) if other is not None)]:
        poll.register(fd, select.POLLIN)
    watch: Watch | None = None
    until = began + limits.seconds
    try:
        while not child.ended():
            now = time.monotonic()
            if now >= until:
                return "time"
            watch = watch or launch.watch(child.popen.pid)
            hit = watch.look() if watch and now >= watch.due else None
            if hit:
                return hit
            _read_ready(poll, pipes, min(until, watch.due if watch else now + _BLIND_TICK))
            if streams.total > limits.flood_bytes:
                return "output"
        return None
    finally:
        if watch:
            child.cpu_seconds = max(child.cpu_seconds, watch.cpu_seconds)
            watch.close()


def _read_ready(poll: select.poll, pipes: dict[int, Pipe], until: float) -> None:
    """Wait until something happens, at most to ``until``, and take what has come.

    Raises:
        CalledOff: whoever started this command beside others was interrupted.
    """
    left = max(0.0, until - time.monotonic())
    for fd, _ in poll.poll(left * 1000 + 0.5):
        if fd == called_off():
            raise CalledOff
        if fd in pipes and not pipes[fd].pull():
            poll.unregister(fd)
