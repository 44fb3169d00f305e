"""Running one program of the user's to its end: input, bounded output, bounded time, and nothing left alive.

The program is the user's own (it is named on the command line), so it has the user's environment and no sandbox. It
is supervised all the same: it may hang, flood, fork or leave daemons behind.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rootproof.sandbox.gone import wait_gone
from rootproof.sandbox.interrupt import held_back

TOKEN = "ROOTPROOF_MODEL_CALL"
"""Environment variable that marks every process of one call, also those that left its session."""
_TICK = 0.05
_ROUNDS = 20


@dataclass(frozen=True)
class Ended:
    """How the program ended: exactly one of ``exit_code``, ``signal`` and ``limit`` is set."""

    stdout: bytes
    stderr: bytes
    """The last bytes only."""
    exit_code: int | None = None
    signal: int | None = None
    limit: str = ""
    """``time`` or ``output``."""


@dataclass
class _Kept:
    """What was kept of both streams: the beginning of one, the end of the other."""

    most: int
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    def take(self, name: str, data: bytes) -> None:
        if name == "out":
            self.out += data[: self.most + 1 - len(self.out)]
        else:
            self.err += data
            del self.err[:-4096]

    @property
    def full(self) -> bool:
        return len(self.out) > self.most


def run(argv: Sequence[str], given: bytes, seconds: float, most: int) -> Ended:
    """Run one program without a shell.

    Args:
        given: its whole standard input.
        seconds: wall time; then the whole tree is killed.
        most: bytes of standard output that are accepted; more ends it.

    Raises:
        OSError: it cannot be started.
        KeyboardInterrupt: the user interrupted; the whole tree is dead when this is raised.
    """
    token = secrets.token_hex(16)
    with tempfile.TemporaryFile() as standard_input:
        standard_input.write(given)
        standard_input.seek(0)
        kept = _Kept(most)
        child: subprocess.Popen[bytes] | None = None
        try:
            with held_back():
                child = _start(argv, standard_input, token)
            limit = _follow(child, kept, time.monotonic() + seconds)
        finally:
            if child is not None:
                with held_back():
                    _kill(child, token)
                    _close(child)
    if limit:
        return Ended(bytes(kept.out), bytes(kept.err), limit=limit)
    code: int = child.returncode
    if code < 0:
        return Ended(bytes(kept.out), bytes(kept.err), signal=-code)
    return Ended(bytes(kept.out), bytes(kept.err), exit_code=code)


def _start(argv: Sequence[str], standard_input: IO[bytes], token: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=standard_input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, TOKEN: token},
        start_new_session=True,
    )


def _follow(child: subprocess.Popen[bytes], kept: _Kept, until: float) -> str:
    """Read until the program itself ends; a child of it that holds the streams open is not waited for."""
    with selectors.DefaultSelector() as selector:
        for name, stream in (("out", child.stdout), ("err", child.stderr)):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, name)
        while child.poll() is None:
            left = until - time.monotonic()
            if left <= 0:
                return "time"
            _read(selector, kept, min(left, _TICK))
            if kept.full:
                return "output"
        while selector.get_map() and _read(selector, kept, 0):
            if kept.full:
                return "output"
    return ""


def _read(selector: selectors.BaseSelector, kept: _Kept, wait: float) -> bool:
    """Take what is there. False: nothing was."""
    if not selector.get_map():
        time.sleep(wait)
        return False
    ready = selector.select(wait)
    for key, _ in ready:
        data = os.read(key.fd, 65536)
        kept.take(key.data, data)
        if not data:
            selector.unregister(key.fileobj)
    return bool(ready)


def _kill(child: subprocess.Popen[bytes], token: str) -> None:
    """End the program and everything it started, and collect it."""
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        marked = _marked(token)
        for pid in marked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not marked:
            break
        killed.update(marked)
    child.wait()
    wait_gone(killed)  # the mark of a process is gone before it is


def _marked(token: str) -> list[int]:
    """Live processes that carry the mark of this call (where there is a ``/proc`` to see them in)."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*") if Path("/proc").is_dir() else ():
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def _close(child: subprocess.Popen[bytes]) -> None:
    streams: tuple[IO[bytes] | None, ...] = (child.stdout, child.stderr)
    for stream in streams:
        if stream is not None:
            stream.close()
