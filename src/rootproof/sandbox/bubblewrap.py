"""Level ``contained`` through the system's ``bwrap`` (bubblewrap 0.8 or later): the same policy, started faster.

Made for read-only trees. ``bwrap`` has no throw-away layer of a fixed size, so a writable tree is a copy on disk here;
``namespaces`` is better for those, and ``choose`` takes it where it works. Never runs a command as root: through
the device nodes and descriptors it is given, root could change the machine's own.

A death by signal n and the exit code 128 + n look the same through ``bwrap``; both are reported as the signal.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox import policy, seccomp, selftest
from rootproof.sandbox.bwrap_world import World
from rootproof.sandbox.copy import throw_away
from rootproof.sandbox.ending import Outcome, by_signal, completed
from rootproof.sandbox.identity import unmapped
from rootproof.sandbox.interface import CHANNEL_VARIABLE, Command, Completed, Level, Probe
from rootproof.sandbox.process import Ending, Streams, carry_out
from rootproof.sandbox.rlimits import process_limit, rlimits
from rootproof.sandbox.watch import FolderSize, NamespaceProcesses, Watch

_PATIENCE = 5.0
"""Seconds that ``bwrap`` may take until it says which process it has made."""
_NOT_FOUND = 127
_OURS = 1
"""Processes of bwrap's own that the kernel counts to the user inside."""


class Bubblewrap:
    """Runs commands through ``bwrap``."""

    name = "bubblewrap"
    level: Level = "contained"

    def probe(self) -> Probe:
        """Runs the self-test; see ``selftest.py``."""
        return selftest.probe(self)

    def run(self, command: Command) -> Completed:
        """Run one command; see :class:`rootproof.sandbox.interface.Sandbox`."""
        with ExitStack() as stack:
            copied = None
            if command.writable or command.changes:
                copied = stack.enter_context(throw_away(command.root, command.changes, command.hidden))
            launch = _Launch(command, copied)
            try:
                ending = carry_out(launch, command.limits, command.channel, command.heard)
            except OSError as fault:
                raise ContainmentUnavailable(f"cannot start bwrap: {fault}") from fault
            return completed(ending, _outcome(ending), self.name, self.level)


def _outcome(ending: Ending) -> Outcome:
    """How the command ended, by what bwrap reported of it.

    Raises:
        ContainmentUnavailable: bwrap failed before the command was started; its own words are the reason.
    """
    if ending.limit is not None:
        return None, None, ending.limit
    reported = _field(ending.status, "exit-code")
    if reported is None and ending.stderr.head.startswith(b"bwrap: execvp "):
        reported = _NOT_FOUND  # the world stood, only the program is not in it: a result, as with the other mechanisms
    if reported is None:
        raise ContainmentUnavailable(f"bwrap failed: {ending.stderr.text().strip()[:500] or ending.returncode}")
    return by_signal(reported - 128) if reported > 128 else (reported, None, None)


def _field(status: str, name: str) -> int | None:
    """One number of the documents that bwrap writes, one a line, on its status descriptor."""
    for line in status.splitlines():
        try:
            value = json.loads(line).get(name)
        except (ValueError, AttributeError):
            continue
        if isinstance(value, int):
            return value
    return None


class _Launch:
    """One command under ``bwrap``."""

    def __init__(self, command: Command, copied: Path | None) -> None:
        lines = seccomp.program()
        if lines is None:
            raise ContainmentUnavailable("no system call filter for this machine; Linux on x86_64 or aarch64 is needed")
        self._switch = os.geteuid() == 0
        who = unmapped(command)
        if who.uid == 0 or (self._switch and copied):
            raise ContainmentUnavailable("root's own files cannot be shown to another id, and bwrap is not run as root")
        self._program = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin") or "bwrap"
        self._command = command
        self._copied = copied
        self._stranger = self._switch and who.uid != command.root.stat().st_uid
        self._plan = policy.plan(command, who.uid, who.gid, copied=copied is not None)
        self._world = World(self._plan, command, copied, lines)
        self._gate, self._held = os.pipe()
        self._open = {self._gate, self._held}
        self._child: int | None = None
        self._first: int | None = None

    def start(self, streams: Streams) -> subprocess.Popen[bytes]:
        env = dict(self._plan.env)
        passed = [self._gate, streams.status.write]
        if self._command.channel:
            env[CHANNEL_VARIABLE] = str(streams.channel.write)
            passed.append(streams.channel.write)
        argv = [self._program, *self._world.words(env, streams.status.write, self._gate), "--", *self._command.argv]
        popen: subprocess.Popen[bytes] = subprocess.Popen(
            [*self._limiter(), *argv],
            stdin=subprocess.DEVNULL,
            stdout=streams.stdout.write,
            stderr=streams.stderr.write,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=[*passed, *self._world.given],
            user=self._plan.uid if self._switch else None,
            group=self._plan.gid if self._switch else None,
            extra_groups=[] if self._switch else None,
        )
        try:
            self._shut(self._gate)
            self._let_go(streams)
        except BaseException:
            popen.kill()
            popen.wait()
            raise
        return popen

    def _limiter(self) -> list[str]:
        """For an id that is not ours the limits are set on the way in; for our own on bwrap's process 1 (cheaper)."""
        if not self._switch:
            return []
        names = {resource.RLIMIT_CORE: "core", resource.RLIMIT_CPU: "cpu", resource.RLIMIT_FSIZE: "fsize"}
        names |= {resource.RLIMIT_NOFILE: "nofile", resource.RLIMIT_NPROC: "nproc"}
        wanted = rlimits(self._command.limits)
        if self._stranger:  # set out here, the limit counts all that the id runs: nothing else, for this one
            wanted += process_limit(self._command.limits, self._plan.uid, _OURS)
        return ["/usr/bin/prlimit", *(f"--{names[number]}={soft}:{hard}" for number, soft, hard in wanted), "--"]

    def _let_go(self, streams: Streams) -> None:
        """Wait until bwrap names its process 1, set the kernel's limits on it, and open the gate."""
        streams.status.close_write()
        pid: int | None = None
        while pid is None and select.select([streams.status.read], [], [], _PATIENCE)[0]:
            if not streams.status.pull(1):
                break
            pid = _field(streams.status.keeper.done().head.decode("utf-8", "replace"), "child-pid")
        self._child = pid
        if pid is not None:
            try:
                self._first = os.pidfd_open(pid)
                self._open.add(self._first)
                wanted = [*rlimits(self._command.limits), *process_limit(self._command.limits, self._plan.uid, _OURS)]
                for number, soft, hard in () if self._switch else wanted:
                    resource.prlimit(pid, number, (soft, hard))
            except ProcessLookupError:
                return
            os.write(self._held, b"g")

    def watch(self, pid: int) -> Watch | None:
        """The new world's ``/proc``, reached through process 1 once it stands there (before, the old one would)."""
        child = self._child
        if child is None:
            return None
        try:
            proc = os.open(f"/proc/{child}/root/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        if os.fstat(proc).st_dev == os.stat("/proc").st_dev or "1" not in os.listdir(proc):
            os.close(proc)
            return None
        try:
            scratch = os.open(f"/proc/{child}/root/tmp", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            os.close(proc)
            return None
        size = FolderSize(self._copied, self._command.limits.scratch_mb << 20) if self._copied else None
        return Watch(NamespaceProcesses(proc), self._command.limits, scratch, size)

    def kill(self, pid: int) -> None:
        """Process 1 first: its end takes the whole namespace along, and bwrap's own end then says so."""
        if self._first is None:
            os.kill(pid, signal.SIGKILL)
            return
        try:
            signal.pidfd_send_signal(self._first, signal.SIGKILL)
        except ProcessLookupError:
            return

    def close(self) -> None:
        """bwrap itself ends as soon as it knows the exit code; only the end of process 1 says that all are dead."""
        if self._first is not None and not select.select([self._first], [], [], _PATIENCE)[0]:
            self.kill(0)
            select.select([self._first], [], [], _PATIENCE)
        for fd in tuple(self._open):
            self._shut(fd)
        self._world.close()

    def _shut(self, fd: int) -> None:
        if fd in self._open:
            self._open.discard(fd)
            os.close(fd)
