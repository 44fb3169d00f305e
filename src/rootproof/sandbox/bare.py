"""Level ``none``: a plain process tree with limits, ended as a whole. It contains nothing.

Files, network and other processes are all there for the command. What is kept: the environment is the allow-list,
nothing is inherited but the result channel, everything that descends from the command dies with it, and with
``writable`` or ``changes`` it runs in a copy of the tree. Without them it runs in the tree itself, and nothing keeps
it from writing there: whoever runs a project's code at this level asks for ``writable``.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.copy import owned_folder, throw_away
from rootproof.sandbox.ending import completed, supervised
from rootproof.sandbox.environment import environment
from rootproof.sandbox.interface import CHANNEL_VARIABLE, Command, Completed, Level, Probe
from rootproof.sandbox.process import Streams, carry_out
from rootproof.sandbox.program import Program
from rootproof.sandbox.rlimits import rlimits
from rootproof.sandbox.watch import DescendantProcesses, Watch

_MARK = "ROOTPROOF_RUN"
"""Environment variable with a random value, by which what outlives its supervisor is found."""


class Bare:
    """Runs commands without containment, for people who trust the repository and say so."""

    name = "bare"
    level: Level = "none"

    def probe(self) -> Probe:
        """Starts a command that does nothing."""
        contains = ("environment", "process tree", "limits of time, CPU, memory and output")
        missing = ("writes outside the copy", "network", "files and keys of the user", "other processes")
        try:
            done = self.run(Command(("/bin/sh", "-c", "exit 7"), Path("/"), Path("/")))
        except ContainmentUnavailable as fault:
            return Probe(self.name, self.level, False, str(fault), contains, missing)
        works = done.exit_code == 7
        return Probe(self.name, self.level, works, "started a shell as a plain subprocess", contains, missing)

    def run(self, command: Command) -> Completed:
        """Run one command; see :class:`rootproof.sandbox.interface.Sandbox`."""
        with ExitStack() as stack:
            scratch = stack.enter_context(owned_folder())
            copied = None
            if command.writable or command.changes:
                copied = stack.enter_context(throw_away(command.root, command.changes, command.hidden))
            launch = _BareLaunch(command, scratch, copied)
            try:
                ending = carry_out(launch, command.limits, command.channel, command.heard)
            except OSError as fault:
                raise ContainmentUnavailable(f"cannot start a supervisor: {fault}") from fault
            return completed(ending, supervised(ending), self.name, self.level, copied)


class _BareLaunch:
    """One command under ``inside/supervise.py``."""

    def __init__(self, command: Command, scratch: Path, copied: Path | None) -> None:
        self._command = command
        self._mark = secrets.token_hex(16)
        self._copied = copied
        self._scratch = scratch
        self._control, self._held = os.pipe()
        self._open = {self._control, self._held}

    def start(self, streams: Streams) -> subprocess.Popen[bytes]:
        command = self._command
        home = self._scratch / "home"
        home.mkdir()
        env = environment(home, self._scratch, self._moved_environment())
        env[_MARK] = self._mark
        passed = [streams.status.write, self._control]
        if command.channel:
            env[CHANNEL_VARIABLE] = str(streams.channel.write)
            passed.append(streams.channel.write)
        spec = {
            "argv": [self._moved(item) for item in command.argv],
            "cwd": self._moved(str(command.cwd)),
            "env": env,
            "rlimits": rlimits(command.limits),
            "status": streams.status.write,
            "control": self._control,
        }
        program = Program("supervise", (streams.stdout.write, streams.stderr.write), passed)
        program.describe(spec)
        self._shut(self._control)
        return program.popen

    def _moved_environment(self) -> Mapping[str, str]:
        return {
            name: os.pathsep.join(self._moved(part) for part in value.split(os.pathsep))
            for name, value in self._command.env.items()
        }

    def _moved(self, text: str) -> str:
        """A path beneath the root, pointed to the copy where the copy has it; any other text unchanged."""
        root = str(self._command.root)
        if self._copied is None or not (text == root or text.startswith(root + os.sep)):
            return text
        moved = str(self._copied) + text[len(root) :]
        return moved if os.path.lexists(moved) or text == str(self._command.cwd) else text

    def watch(self, pid: int) -> Watch | None:
        try:
            proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        return Watch(DescendantProcesses(proc, pid), self._command.limits)

    def kill(self, pid: int) -> None:
        self._shut(self._held)

    def close(self) -> None:
        for fd in tuple(self._open):
            self._shut(fd)
        _sweep(self._mark)

    def _shut(self, fd: int) -> None:
        if fd in self._open:
            self._open.discard(fd)
            os.close(fd)


def _sweep(mark: str) -> None:
    """Kill what still carries the mark: the command may have killed its supervisor before it went astray."""
    wanted = f"{_MARK}={mark}".encode()
    for _ in range(50):
        found = [pid for pid in _pids() if wanted in _environ(pid)]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
