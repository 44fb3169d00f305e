"""Forked children with limits: CPU, memory and wall time, whole process group killed at the end."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable

MEMORY_BEYOND = 1 << 30
"""Bytes of address space a child may take beyond what its parent has."""


def in_child(task: Callable[[], None], seconds: float) -> str:
    """Run ``task`` in a forked child to its end: ``done``, ``timeout`` or ``died``."""
    pid = fork(task)
    status = wait(pid, seconds)
    return "timeout" if status is None else "done" if status == 0 else "died"


def fork(task: Callable[[], None], cpu: float | None = None) -> int:
    """Start a child in a process group of its own. It never returns into the caller."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        try:
            os.setpgid(pid, pid)
        except OSError:
            pass
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        if cpu is not None:
            limit(cpu)
        task()
        code = 0
    except BaseException:  # the child must not run its parent's clean-up code whatever happened
        code = 1
    finally:
        os._exit(code)


def limit(cpu: float) -> None:
    """CPU seconds by a timer that kills, with the coarser hard limit behind it; memory beyond the parent's."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu)
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 2, int(cpu) + 3))
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + MEMORY_BEYOND
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def wait(pid: int, seconds: float) -> int | None:
    """Wait for a child; its status, or None after its time was up and its group was killed."""
    until = time.monotonic() + seconds
    pause = 0.0005
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            kill(pid)
            return status
        select.select([], [], [], pause)
        pause = min(pause * 1.5, 0.02)
    kill(pid)
    os.waitpid(pid, 0)
    return None


def kill(pid: int) -> None:
    """Kill a child's whole group; what it started may outlive the child itself."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def gather(pid: int, descriptor: int, seconds: float) -> tuple[bytes, int | None, float]:
    """Read all a child writes until it closes its end or its time is up: data, status, CPU seconds."""
    data, until = [], time.monotonic() + seconds
    status: int | None = None
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            break
        chunk = os.read(descriptor, 65536)
        if not chunk:
            status = 0
            break
        data.append(chunk)
    os.close(descriptor)
    if status is None:
        kill(pid)
    _, ended, usage = os.wait4(pid, 0)
    kill(pid)
    return b"".join(data), None if status is None else ended, usage.ru_utime + usage.ru_stime
