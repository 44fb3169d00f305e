"""Runs one command and kills whatever descends from it when it ends or when the caller goes away.

Started as ``python -I -S -c 'import supervise; ...'`` with a description on a descriptor (see ``Spec``). Orphans come
to this process (PR_SET_CHILD_SUBREAPER), so a daemon that forked twice is still found.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import sys

TYPE_CHECKING = False
"""Our own, because importing ``typing`` takes longer than all the rest."""
if TYPE_CHECKING:
    import signal
    from typing import TypedDict

    class Spec(TypedDict):
        argv: list[str]
        cwd: str
        env: dict[str, str]
        rlimits: list[tuple[int, int, int]]
        status: int
        control: int
else:
    import _signal as signal  # the public module imports enum, which takes as long as Python itself


_TICK_MS = 20


def main(spec_fd: int) -> None:
    with os.fdopen(spec_fd, "rb") as source:
        spec: Spec = marshal.loads(source.read())
    for fd in (spec["status"], spec["control"]):
        os.set_inheritable(fd, False)
    if sys.platform == "linux":
        _adopt_orphans()
    pid = os.fork()
    if pid == 0:
        _become(spec)
    code = _wait(pid, spec["control"])
    _kill_all(pid)
    word = "gone" if code is None else f"exit {code}" if code >= 0 else f"signal {-code}"
    os.write(spec["status"], (word + "\n").encode())
    os._exit(0)


def _adopt_orphans() -> None:
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(36, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def _become(spec: Spec) -> None:
    """Turn this process into the command; never returns."""
    try:
        os.setsid()
        for number, soft, hard in spec["rlimits"]:
            resource.setrlimit(number, (soft, hard))
        os.chdir(spec["cwd"])
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        argv = spec["argv"]
        os.execvpe(argv[0], argv, spec["env"])
    except OSError as fault:
        os.write(2, f"rootproof: cannot start {spec['argv'][0]}: {fault.strerror}\n".encode())
    finally:
        os._exit(127)


def _wait(pid: int, control: int) -> int | None:
    """Wait for the command. None: the caller closed the control pipe, or is dead."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    pidfd = os.pidfd_open(pid) if sys.platform == "linux" else None
    if pidfd is not None:
        poll.register(pidfd, select.POLLIN)
    while True:
        while True:
            try:
                done, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if done == pid:
                return os.waitstatus_to_exitcode(status)
            if done == 0:
                break
        if any(fd == control for fd, _ in poll.poll(500 if pidfd is not None else _TICK_MS)):
            return None


def _kill_all(first: int) -> None:
    """Stop, then kill all descendants, until there is none: then no child is left to wait for.

    ``first``: the command, whose process group goes first; without ``/proc`` that is all that can be found.
    """
    try:
        os.killpg(first, signal.SIGKILL)
    except OSError:
        pass
    for _ in range(2000):
        found = _descendants(os.getpid())
        for number in (signal.SIGSTOP, signal.SIGKILL):
            _send(found, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        if not found:
            select.select([], [], [], 0.001)


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _descendants(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(name))
    found: list[int] = []
    ahead = [root]
    while ahead:
        children = parents.get(ahead.pop(), [])
        found += children
        ahead += children
    return found
