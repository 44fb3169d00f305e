"""Level ``contained`` with nothing but Python: user, mount, process, network, IPC, host name and cgroup namespaces.

The work is done by ``inside/launch.py`` in a process of its own. The repository is read-only, or has a sized
throw-away layer over it (overlay); where another user's files make that impossible, it is a copy on disk.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox import policy, seccomp, selftest
from rootproof.sandbox.bare import completed
from rootproof.sandbox.copy import throw_away
from rootproof.sandbox.identity import Identity, identity, unmapped
from rootproof.sandbox.interface import CHANNEL_VARIABLE, Command, Completed, Level, Probe
from rootproof.sandbox.process import Streams, carry_out
from rootproof.sandbox.program import start
from rootproof.sandbox.rlimits import process_limit, rlimits
from rootproof.sandbox.survey import survey
from rootproof.sandbox.watch import NamespaceProcesses, Watch

_OURS = 2
"""Processes of ours that the kernel counts to the user inside: the launcher and process 1."""


class Namespaces:
    """Runs commands in namespaces that a Python program sets up."""

    name = "namespaces"
    level: Level = "contained"

    def probe(self) -> Probe:
        """Runs the self-test; see ``selftest.py``."""
        return selftest.probe(self)

    def run(self, command: Command) -> Completed:
        """Run one command; see :class:`rootproof.sandbox.interface.Sandbox`."""
        try:
            return self._run(command, identity(command))
        except _NoMapping:
            return self._run(command, unmapped(command))

    def _run(self, command: Command, who: Identity) -> Completed:
        with ExitStack() as stack:
            view = _view(command)
            copied = None
            if view.mode == "copy":
                copied = stack.enter_context(throw_away(command.root, command.changes, command.hidden))
            launch = _Launch(command, who, view, copied)
            try:
                ending = carry_out(launch, command.limits, command.channel)
            except OSError as fault:
                raise ContainmentUnavailable(f"cannot start the launcher: {fault}") from fault
            refuse(ending.status)
            return completed(ending, self.name, self.level, None)


class _NoMapping(ContainmentUnavailable):
    """This file system cannot show its files as another user's."""


def refuse(status: str) -> None:
    """Raise what the launcher reported about its set-up.

    Raises:
        ContainmentUnavailable: the launcher said that it refused.
    """
    for line in status.splitlines():
        word, _, reason = line.partition(" ")
        if word == "refused" and reason.endswith("idmapped mount: Invalid argument"):
            raise _NoMapping(reason)
        if word == "refused":
            raise ContainmentUnavailable(f"namespaces cannot be set up here: {reason}")


@dataclass(frozen=True)
class _View:
    """How the repository is shown."""

    mode: str
    """``read-only``, ``overlay`` or ``copy``."""
    absent: tuple[str, ...] = ()


def _view(command: Command) -> _View:
    if not (command.writable or command.changes):
        return _View("read-only")
    owner = None if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    found = survey(str(command.root), owner)
    return _View("copy") if found.foreign else _View("overlay", found.caches)


class _Launch:
    """One command under ``inside/launch.py``."""

    def __init__(self, command: Command, who: Identity, view: _View, copied: Path | None) -> None:
        filter_lines = seccomp.program()
        if filter_lines is None or sys.platform != "linux":
            raise ContainmentUnavailable("no system call filter for this machine; Linux on x86_64 or aarch64 is needed")
        self._command = command
        self._view = view
        self._copied = copied
        self._filter = filter_lines
        self._plan = policy.plan(command, who.uid, who.gid, copied=copied is not None)
        self._mapped = [*self._plan.readable, self._plan.root] if who.mapped else []
        self._control, self._held = os.pipe()
        self._open = {self._control, self._held}
        self._sight, self._far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sight.setblocking(False)

    def start(self, streams: Streams) -> subprocess.Popen[bytes]:
        spec = self._spec()
        passed = [streams.status.write, self._control, self._far.fileno()]
        spec["status"], spec["control"], spec["sight"] = passed
        if self._command.channel:
            passed.append(streams.channel.write)
            spec["env"] = {**self._plan.env, CHANNEL_VARIABLE: str(streams.channel.write)}
        popen = start("launch", spec, (streams.stdout.write, streams.stderr.write), passed)
        self._shut(self._control)
        self._far.close()
        return popen

    def _spec(self) -> dict[str, object]:
        command, plan, view = self._command, self._plan, self._view
        hidden = [os.path.relpath(path, plan.root) for path in plan.hidden]
        return {
            "argv": list(command.argv),
            "cwd": str(command.cwd),
            "env": plan.env,
            "uid": plan.uid,
            "gid": plan.gid,
            "switch": os.geteuid() == 0,
            "rlimits": [*rlimits(command.limits), *process_limit(command.limits, plan.uid, _OURS)],
            "filter": self._filter,
            "root": plan.root,
            "mode": view.mode,
            "copy": str(self._copied or ""),
            "mapped": self._mapped,
            "absent": sorted({*view.absent, *hidden}) if view.mode == "overlay" else [],
            "changes": _checked_changes(command) if view.mode == "overlay" else [],
            "binds": list(plan.binds),
            "links": list(plan.links),
            "files": list(plan.files),
            "masks": list(plan.hidden) if view.mode == "read-only" else [],
            "scratch_mb": command.limits.scratch_mb,
            "hostname": policy.HOSTNAME,
            "home": str(policy.HOME),
            "writable": [str(path) for path in policy.WRITABLE],
            "devices": list(policy.DEVICES),
            "proc_read_only": list(policy.READ_ONLY_PROC),
            "proc_empty": list(policy.EMPTY_PROC),
        }

    def watch(self, pid: int) -> Watch | None:
        """The launcher sends descriptors of the new world's ``/proc`` and scratch place when it is built."""
        try:
            _, views, _, _ = socket.recv_fds(self._sight, 1, 2)
        except BlockingIOError:
            return None
        except OSError:
            views = []
        if len(views) != 2:
            return None
        return Watch(NamespaceProcesses(views[0]), self._command.limits, views[1])

    def kill(self, pid: int) -> None:
        self._shut(self._held)

    def close(self) -> None:
        for fd in tuple(self._open):
            self._shut(fd)
        self._sight.close()
        self._far.close()

    def _shut(self, fd: int) -> None:
        if fd in self._open:
            self._open.discard(fd)
            os.close(fd)


def _checked_changes(command: Command) -> list[tuple[str, bytes]]:
    """The changes with normalised names.

    Raises:
        ContainmentUnavailable: a name leaves the tree.
    """
    changes = []
    for relative, content in command.changes.items():
        name = os.path.normpath(relative)
        if os.path.isabs(name) or name.split(os.sep)[0] in ("..", "."):
            raise ContainmentUnavailable(f"not a path beneath the root: {relative}")
        changes.append((name, bytes(content)))
    return changes
