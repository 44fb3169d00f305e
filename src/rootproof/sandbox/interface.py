"""What a sandbox is: one command run under limits over one tree, and what is known afterwards.

A sandbox never raises for what the command does: a crash, a limit or a flood is a :class:`Completed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Level = Literal["none", "degraded", "contained"]
LEVELS: tuple[Level, ...] = ("none", "degraded", "contained")
"""From weakest to strongest; a contract names the least one it accepts."""

LimitHit = Literal["time", "cpu", "memory", "processes", "disk", "output"]

CHANNEL_VARIABLE = "ROOTPROOF_CHANNEL_FD"
"""Environment variable that names the descriptor of the private result channel."""

VISIBLE_VARIABLE = "ROOTPROOF_VISIBLE"
WRITABLE_VARIABLE = "ROOTPROOF_WRITABLE"
HIDDEN_VARIABLE = "ROOTPROOF_HIDDEN"
"""Set inside at level ``contained`` only; absolute paths, one a line. A test runner's plugin decides with them whether
an ``OSError`` may have been caused by containment and not by the code. With p the absolute path the error names:

- EROFS, EACCES, EPERM and p not beneath a line of WRITABLE, or EOVERFLOW: possibly containment;
- ENOENT, ENOTDIR and p beneath a line of HIDDEN, or beneath no line of VISIBLE or WRITABLE: possibly containment;
- a file beneath HIDDEN that opens is an empty stand-in: whatever was read from it is possibly containment;
- ENOSPC, EDQUOT, EFBIG, ENOMEM, or EAGAIN from starting a process or thread: possibly a limit, whatever the path;
- any connect or lookup beyond loopback: possibly containment (there is no other network inside).

"Beneath" includes the line itself and is by whole path components, after ``os.path.abspath``. Without the variables
nothing was hidden.
"""


@dataclass(frozen=True)
class Limits:
    """What one command may use. Whatever is reached first ends it, with its whole process tree."""

    seconds: float = 60.0
    cpu_seconds: float = 60.0
    memory_mb: int = 2048
    processes: int = 256
    file_mb: int = 256
    scratch_mb: int = 512
    """Size of every writable place together: the throw-away layer, /tmp and /dev/shm."""
    output_bytes: int = 256 * 1024
    """Kept of each stream (head and tail); the rest is counted, digested and dropped."""
    channel_bytes: int = 8 * 1024 * 1024
    """Kept of the result channel, from its beginning. A capture with ``dropped`` > 0 is not a whole record."""
    flood_bytes: int = 2 * 1024 * 1024 * 1024
    """Read of all streams together before the command is ended with limit ``output``."""


@dataclass(frozen=True)
class Command:
    """One program to run. Built by our code only, never from a command line somebody else wrote."""

    argv: tuple[str, ...]
    root: Path
    """The repository. Inside it stands at this same absolute path, read-only unless ``writable``."""
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the sandbox's own small allow-list; nothing else is inherited."""
    readable: tuple[Path, ...] = ()
    """Further places the command needs, such as an interpreter's prefix. Read-only inside."""
    hidden: tuple[str, ...] = ()
    """Root-relative paths that are not there inside (secret files)."""
    writable: bool = False
    """True: writes into the tree go to a sized throw-away layer. False: they fail."""
    changes: Mapping[str, bytes] = field(default_factory=dict)
    """Root-relative path → content that replaces or adds the file in the throw-away layer. Implies ``writable``."""
    channel: bool = False
    """True: a private result channel is open inside, named by :data:`CHANNEL_VARIABLE`."""
    limits: Limits = field(default_factory=Limits)
    heard: Callable[[bytes], None] | None = field(default=None, compare=False)
    """Given what comes over the channel as it comes, for showing progress; it must be quick and never raise."""


@dataclass(frozen=True)
class Capture:
    """What was kept of a stream: whole, or head and tail with the middle dropped."""

    head: bytes = b""
    tail: bytes = b""
    total: int = 0
    """Bytes that were written, kept or not."""
    sha256: str = ""
    """Digest of all bytes that were read, kept or not."""

    @property
    def dropped(self) -> int:
        return self.total - len(self.head) - len(self.tail)

    def text(self) -> str:
        """The kept bytes as text; a cut is stated with its exact size."""
        middle = f"\n[... {self.dropped} bytes dropped ...]\n" if self.dropped else ""
        return self.head.decode("utf-8", "backslashreplace") + middle + self.tail.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Completed:
    """How a command ended. Exactly one of ``exit_code``, ``signal`` and ``limit`` is set."""

    exit_code: int | None
    signal: int | None
    limit: LimitHit | None
    stdout: Capture
    stderr: Capture
    channel: Capture
    seconds: float
    cpu_seconds: float
    """User and system time of the whole process tree."""
    level: Level
    mechanism: str
    """Which member ran it: ``bubblewrap``, ``namespaces``, ``bare``."""
    root_inside: Path | None = None
    """Where the tree stood for the command, if not at its own path (a copied tree at level ``none``). Arguments and
    environment values that name a path beneath the root were pointed there, wherever the copy has that path; virtual
    environments are not copied and stay at their own path."""

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.exit_code, self.signal, self.limit)) != 1:
            raise ValueError("exactly one of exit_code, signal and limit must be set")


@dataclass(frozen=True)
class Probe:
    """What one mechanism can do on this machine, found by trying it."""

    mechanism: str
    level: Level
    works: bool
    detail: str
    """What was tried and what happened, in one line."""
    contains: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    mend: str = ""


class Sandbox(Protocol):
    """One way to run a command apart from everything else."""

    name: str
    level: Level

    def probe(self) -> Probe:
        """Try the mechanism for real (about a second); never raises."""
        ...

    def run(self, command: Command) -> Completed:
        """Run one command to its end.

        Raises:
            ContainmentUnavailable: the mechanism could not be set up; the command was not started.
            KeyboardInterrupt: the user interrupted; the whole process tree is dead when this is raised.
        """
        ...
