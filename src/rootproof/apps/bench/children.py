"""The programs a benchmark starts: each in a session of its own, and none outlives the benchmark's end.

Whatever ends the wait (its time, Ctrl-C, a request to terminate, the interrupt of a case beside it) ends the program:
first by asking, for a diagnosis has containers to take down, then by killing its whole group.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rootproof.sandbox.interrupt import held_back
from rootproof.sandbox.side_by_side import CalledOff, called_off

GRACE_SECONDS = 20.0
"""For taking down what a program has started."""
LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Done:
    """How a program ended, and its own CPU seconds with all that it waited for, whatever runs beside it."""

    status: int
    """As :class:`subprocess.Popen` has it."""
    late: bool
    """Its time was up, so it was asked to end."""
    stdout: bytes
    stderr: bytes
    cpu_seconds: float


def run(argv: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run a program to its end, or until its time is up."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        with held_back():
            started = subprocess.Popen(
                argv,
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=said,
                start_new_session=True,
            )
        cpu = 0.0
        late = False
        try:
            ended = _wait(started, seconds)
            late = ended is None
            cpu = ended or 0.0
        finally:
            with held_back():
                cpu += end(started)
        for stream in (out, said):
            stream.seek(0)
        return Done(started.returncode, late, out.read(), said.read(), cpu)


def end(started: subprocess.Popen[bytes]) -> float:
    """Ask a program that still runs to end, then kill what is left of its group; the CPU seconds it took till then."""
    cpu = 0.0
    if started.returncode is None:
        started.send_signal(signal.SIGTERM)
        cpu = _wait(started, GRACE_SECONDS, heeding=False) or 0.0
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    if started.returncode is None:
        started.wait()
    return cpu


def _wait(started: subprocess.Popen[bytes], seconds: float, *, heeding: bool = True) -> float | None:
    """CPU seconds of a program that ended within its time; None where it did not.

    Raises:
        CalledOff: whoever started this case beside others was interrupted.
    """
    until = time.monotonic() + seconds
    off = called_off() if heeding else None
    while time.monotonic() < until:
        pid, status, usage = os.wait4(started.pid, os.WNOHANG)
        if pid:
            started.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        if select.select([] if off is None else [off], [], [], LOOK_SECONDS)[0]:
            raise CalledOff
    return None
