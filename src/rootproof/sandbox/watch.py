"""Watching what a running tree of processes uses, from outside, through a ``/proc`` that shows the tree.

A look reads one ``stat`` file a process; shared memory is asked for (PSS) only when the cheap sum is over the limit.
The kernel's own limits (file size, CPU of one process, size of the scratch place) hold between two looks; this adds
what the kernel does not count per tree: processes and threads, memory, CPU of all together.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rootproof.sandbox.interface import LimitHit, Limits

_INTERVAL = 0.02
"""Seconds between two looks; longer when a look is dear, so that watching stays below a tenth of one core."""
_RARE = 0.25
"""Seconds between two looks at memory that no process has mapped."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class Processes(Protocol):
    """Where the processes of one tree are seen."""

    proc: int
    """Descriptor of the ``/proc`` folder that ``members`` are names in."""
    reaper: str
    """The process that every orphan of the tree goes to; its own use is not counted, its dead children's is."""

    def members(self) -> list[str]:
        """Names of the tree's processes, without the reaper."""
        ...


class NamespaceProcesses:
    """A process namespace, seen through its own ``/proc``: complete however fast it forks."""

    reaper = "1"

    def __init__(self, proc: int) -> None:
        self.proc = proc

    def members(self) -> list[str]:
        return [name for name in os.listdir(self.proc) if name.isdigit() and name != self.reaper]


class DescendantProcesses:
    """What descends from one process. A process that forks and exits during the walk can be missed until the next."""

    def __init__(self, proc: int, reaper: int) -> None:
        self.proc = proc
        self.reaper = str(reaper)

    def members(self) -> list[str]:
        found: list[str] = []
        ahead = [self.reaper]
        while ahead:
            children = self._children(ahead.pop())
            found += children
            ahead += children
        return found

    def _children(self, pid: str) -> list[str]:
        children: list[str] = []
        try:
            tasks = _names(self.proc, f"{pid}/task")
        except OSError:
            return children
        for task in tasks:
            try:
                children += _read(self.proc, f"{pid}/task/{task}/children").decode().split()
            except OSError:
                continue
        return children


@dataclass(frozen=True)
class Usage:
    """What a tree uses at one moment."""

    threads: int = 0
    cpu_seconds: float = 0.0
    resident: int = 0
    """Bytes, with pages that several processes share counted once for each."""


class Watch:
    """Looks at one tree and says which limit it has reached.

    ``scratch``: descriptor of a folder in the tree's sized writable place. ``folder``: a place without a size of its
    own. All descriptors are the watch's own; ``close`` gives them back.
    """

    def __init__(
        self, processes: Processes, limits: Limits, scratch: int | None = None, folder: FolderSize | None = None
    ) -> None:
        self._processes = processes
        self._limits = limits
        self._scratch = scratch
        self._folder = folder
        self._memory = limits.memory_mb << 20
        self._next_share = 0.0
        self._next_rare = time.monotonic() + _RARE
        self.due = 0.0
        """When the next look is worth its cost (monotonic clock)."""
        self.cpu_seconds = 0.0
        """The most that was seen. The kernel's own account misses what was killed together with its namespace."""

    def close(self) -> None:
        os.close(self._processes.proc)
        if self._scratch is not None:
            os.close(self._scratch)

    def look(self) -> LimitHit | None:
        """One look; never raises for what the tree does."""
        began = time.monotonic()
        members = self._processes.members()
        usage = self._usage(members)
        self.cpu_seconds = max(self.cpu_seconds, usage.cpu_seconds)
        hit = self._judge(usage, members, began)
        self.due = time.monotonic() + max(_INTERVAL, 10 * (time.monotonic() - began))
        return hit

    def _judge(self, usage: Usage, members: list[str], now: float) -> LimitHit | None:
        if usage.threads > self._limits.processes:
            return "processes"
        if usage.cpu_seconds > self._limits.cpu_seconds:
            return "cpu"
        if usage.resident > self._memory and now >= self._next_share and self._shared_out(members) > self._memory:
            return "memory"
        if now >= self._next_rare and self._unmapped(members) > self._memory:
            return "memory"
        if self._scratch is not None and os.fstatvfs(self._scratch).f_bfree == 0:
            return "disk"
        if self._folder is not None and self._folder.over(now):
            return "disk"
        return None

    def _usage(self, members: list[str]) -> Usage:
        threads = resident = 0
        ticks = 0
        for pid in [self._processes.reaper, *members]:
            fields = self._stat(pid)
            if not fields:
                continue
            ticks += int(fields[13]) + int(fields[14])
            if pid != self._processes.reaper:
                ticks += int(fields[11]) + int(fields[12])
                threads += int(fields[17])
                resident += int(fields[21]) * _PAGE
        return Usage(threads, ticks / _TICK, resident)

    def _stat(self, pid: str) -> list[str]:
        """Fields of ``/proc/PID/stat`` from the state on (proc(5) numbers them from 3); empty when it is gone."""
        try:
            text = _read(self._processes.proc, f"{pid}/stat").decode("utf-8", "replace")
        except OSError:
            return []
        return text.rpartition(")")[2].split()

    def _shared_out(self, members: list[str]) -> int:
        """Bytes in use with each shared page counted once in all (sum of PSS). Dear; hence asked for rarely."""
        began = time.monotonic()
        total = 0
        for pid in members:
            total += self._share(pid)
            if total > self._memory:
                break
        self._next_share = time.monotonic() + 4 * (time.monotonic() - began)
        return total

    def _share(self, pid: str) -> int:
        try:
            text = _read(self._processes.proc, f"{pid}/smaps_rollup")
            return int(text.partition(b"\nPss:")[2].split()[0]) << 10
        except (OSError, IndexError, ValueError):
            return self._private(pid)

    def _private(self, pid: str) -> int:
        """Resident bytes that are not file or shared pages, where the kernel does not let us see PSS."""
        try:
            fields = _read(self._processes.proc, f"{pid}/statm").split()
            return (int(fields[1]) - int(fields[2])) * _PAGE
        except (OSError, IndexError, ValueError):
            return 0

    def _unmapped(self, members: list[str]) -> int:
        """Bytes in anonymous memory files (``memfd_create``): memory that need not be mapped by anybody."""
        began = time.monotonic()
        device = _memory_device()
        sizes: dict[int, int] = {}
        for pid in members:
            try:
                descriptors = _names(self._processes.proc, f"{pid}/fd")
            except OSError:
                continue
            for name in descriptors:
                self._count_memory_file(f"{pid}/fd/{name}", device, sizes)
        self._next_rare = time.monotonic() + max(_RARE, 20 * (time.monotonic() - began))
        return sum(sizes.values())

    def _count_memory_file(self, path: str, device: int, sizes: dict[int, int]) -> None:
        try:
            found = os.stat(path, dir_fd=self._processes.proc)
        except OSError:
            return
        if found.st_dev == device:
            sizes[found.st_ino] = found.st_blocks * 512


class FolderSize:
    """What the files of one folder on disk may grow by, found by walking it: for a copy that no mount limits."""

    def __init__(self, folder: Path, growth: int) -> None:
        self._folder = str(folder)
        self._most = self._size() + growth
        self._next = 0.0

    def over(self, now: float) -> bool:
        """Whether it has grown too much; looked at rarely where the walk is long."""
        if now < self._next:
            return False
        size = self._size()
        after = time.monotonic()
        self._next = after + max(_INTERVAL, 5 * (after - now))
        return size > self._most

    def _size(self) -> int:
        total = 0
        ahead = [self._folder]
        while ahead:
            try:
                with os.scandir(ahead.pop()) as entries:
                    for entry in entries:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            ahead.append(entry.path)
            except OSError:
                continue
        return total


def _read(proc: int, path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.read(fd, 1 << 16)
    finally:
        os.close(fd)


def _names(proc: int, path: str) -> list[str]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return os.listdir(fd)
    finally:
        os.close(fd)


def _memory_device() -> int:
    """The device number that all anonymous memory files of this kernel share."""
    if not _DEVICE:
        fd = os.memfd_create("rootproof")
        _DEVICE.append(os.fstat(fd).st_dev)
        os.close(fd)
    return _DEVICE[0]


_DEVICE: list[int] = []
