"""A plan in the words of ``bwrap``'s command line."""

from __future__ import annotations

import os
from pathlib import Path

from rootproof.sandbox import policy
from rootproof.sandbox.interface import Command

_NAMESPACES = ("user", "pid", "net", "ipc", "uts", "cgroup-try")


class World:
    """One command's world; holds the descriptors from which bwrap reads generated files until ``close``."""

    def __init__(self, plan: policy.Plan, command: Command, copied: Path | None, lines: bytes) -> None:
        self._plan = plan
        self._command = command
        self._copied = copied
        self._filter = lines
        self.given: list[int] = []
        """Descriptors that bwrap must inherit."""

    def close(self) -> None:
        for fd in self.given:
            os.close(fd)
        self.given.clear()

    def words(self, env: dict[str, str], status: int, gate: int) -> list[str]:
        """bwrap's arguments up to the program.

        ``status``: where bwrap reports, ``gate``: what it waits for before it starts the program.
        """
        plan, limits = self._plan, self._command.limits
        shared, private = limits.scratch_mb // 4, limits.scratch_mb - limits.scratch_mb // 4
        words = [f"--unshare-{name}" for name in _NAMESPACES]
        words += [
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
            "--hostname",
            policy.HOSTNAME,
            "--clearenv",
        ]
        words += ["--uid", str(plan.uid), "--gid", str(plan.gid)]
        for name, value in env.items():
            words += ["--setenv", name, value]
        words += ["--seccomp", str(self._data(self._filter)), "--json-status-fd", str(status)]
        words += ["--block-fd", str(gate)]
        words += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--perms",
            "1777",
            "--size",
            str(shared << 20),
            "--tmpfs",
            "/dev/shm",
        ]
        words += ["--perms", "1777", "--size", str(private << 20), "--tmpfs", "/tmp", "--dir", "/var"]
        words += ["--symlink", "/tmp", "/var/tmp", "--dir", str(policy.HOME)]
        for path, target in plan.links:
            words += ["--symlink", target, path]
        words += self._places()
        words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(self._command.cwd)]
        return words

    def _places(self) -> list[str]:
        plan = self._plan
        words: list[str] = []
        for path in sorted([*plan.binds, plan.root], key=lambda name: name.count("/")):
            if path == plan.root and self._copied:
                words += ["--bind", str(self._copied), path]
            else:
                words += ["--ro-bind", path, path]
        for path, text in plan.files:
            words += ["--perms", "0644", "--file", str(self._data(text.encode())), path]
        for path in plan.hidden if not self._copied else ():
            words += self._cover(path)
        for name in policy.READ_ONLY_PROC:
            if os.path.exists("/proc/" + name):
                words += ["--ro-bind", "/proc/" + name, "/proc/" + name]
        for name in policy.EMPTY_PROC:
            if os.path.exists("/proc/" + name):
                words += self._cover("/proc/" + name)
        return words

    def _cover(self, path: str) -> list[str]:
        """Something empty and read-only in the place of a file or folder; links need none, their targets decide."""
        if os.path.islink(path):
            return []
        if os.path.isdir(path):
            return ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
        return ["--perms", "0444", "--ro-bind-data", str(self._data(b"")), path]

    def _data(self, content: bytes) -> int:
        """A descriptor from which bwrap reads ``content``."""
        fd = os.memfd_create("content")
        self.given.append(fd)
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd
