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
from rootproof.sandbox.copy import throw_away
from rootproof.sandbox.ending import completed, supervised
from rootproof.sandbox.identity import Identity, identity, unmapped
from rootproof.sandbox.interface import CHANNEL_VARIABLE, Command, Completed, Level, Probe
from rootproof.sandbox.process import Streams, carry_out
from rootproof.sandbox.program import Program
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
        try:
            ending = carry_out(_Launch(command, who), command.limits, command.channel, command.heard)
        except OSError as fault:
            raise ContainmentUnavailable(f"cannot start the launcher: {fault}") from fault
        refuse(ending.status)
        return completed(ending, supervised(ending), self.name, self.level)


class _NoMapping(ContainmentUnavailable):
    """This file system, or this user, cannot show files as another user's."""


def refuse(status: str) -> None:
    """Raise what the launcher reported about its set-up.

    Raises:
        ContainmentUnavailable: the launcher said that it refused.
    """
    for line in status.splitlines():
        word, _, reason = line.partition(" ")
        if word == "refused" and reason.startswith("idmapped mount"):
            raise _NoMapping(reason)
        if word == "refused":
            raise ContainmentUnavailable(f"namespaces cannot be set up here: {reason}")


@dataclass(frozen=True)
class _View:
    """How the repository is shown."""

    mode: str
    """``read-only``, ``overlay`` or ``copy``."""
    absent: tuple[str, ...] = ()


class _Launch:
    """One command under ``inside/launch.py``."""

    def __init__(self, command: Command, who: Identity) -> None:
        lines, strict = seccomp.program(segments=True), seccomp.program()
        if lines is None or strict is None or sys.platform != "linux":
            raise ContainmentUnavailable("no system call filter for this machine; Linux on x86_64 or aarch64 is needed")
        self._command = command
        self._who = who
        self._filters = (lines, strict)
        self._plan = policy.plan(command, who.uid, who.gid)
        self._changes = _checked_changes(command)
        self._stack = ExitStack()
        self._copied: Path | None = None
        self._control, self._held = os.pipe()
        self._open = {self._control, self._held}
        self._sight, self._far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sight.setblocking(False)

    def start(self, streams: Streams) -> subprocess.Popen[bytes]:
        passed = [streams.status.write, self._control, self._far.fileno()]
        if self._command.channel:
            passed.append(streams.channel.write)
        program = Program("launch", (streams.stdout.write, streams.stderr.write), passed)
        try:
            spec = self._spec(self._view())
        except BaseException:
            program.give_up()
            raise
        spec["status"], spec["control"], spec["sight"] = passed[:3]
        if self._command.channel:
            spec["env"] = {**self._plan.env, CHANNEL_VARIABLE: str(streams.channel.write)}
        program.describe(spec)
        self._shut(self._control)
        self._far.close()
        return program.popen

    def _view(self) -> _View:
        """Look through the repository (while the launcher starts), and copy it where a layer is impossible."""
        command = self._command
        if not (command.writable or command.changes):
            return _View("read-only")
        owner = None if os.geteuid() == 0 else (os.geteuid(), os.getegid())
        found = survey(self._plan.root, owner)
        if not found.foreign:
            return _View("overlay", found.caches)
        self._copied = self._stack.enter_context(throw_away(command.root, command.changes, command.hidden))
        self._plan = policy.plan(command, self._who.uid, self._who.gid, copied=True)
        return _View("copy")

    def _spec(self, view: _View) -> dict[str, object]:
        command, plan = self._command, self._plan
        hidden = [os.path.relpath(path, plan.root) for path in plan.hidden]
        return {
            "argv": list(command.argv),
            "cwd": str(command.cwd),
            "env": plan.env,
            "uid": plan.uid,
            "gid": plan.gid,
            "switch": plan.uid != os.geteuid(),
            "rlimits": [*rlimits(command.limits), *process_limit(command.limits, plan.uid, _OURS)],
            "filter": self._filters[0],
            "strict_filter": self._filters[1],
            "segment_bytes": command.limits.scratch_mb << 20,
            "root": plan.root,
            "mode": view.mode,
            "copy": str(self._copied or ""),
            "mapped": [*plan.readable, plan.root] if self._who.mapped else [],
            "absent": sorted({*view.absent, *hidden}) if view.mode == "overlay" else [],
            "changes": self._changes if view.mode == "overlay" else [],
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
        self._stack.close()

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
