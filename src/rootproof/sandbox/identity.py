"""As which user a contained command runs.

An ordinary user runs it as itself. Root steps down where it can: the kernel's limit on processes does not bind root,
and a hole in one of the walls is worth less to an ordinary id.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from rootproof.sandbox.interface import Command

NOBODY = 65534


@dataclass(frozen=True)
class Identity:
    """Ids for the command, and whether root's files are to be shown as that user's."""

    uid: int
    gid: int
    mapped: bool = False


def identity(command: Command) -> Identity:
    """As whom to run the command where owners can be mapped (see ``inside/launch.py``).

    Root's choice: the owner of the repository, if that is somebody else; otherwise nobody, to whom root's files are
    shown as its own. Where the file system cannot do that, :func:`unmapped` is left: root, without any capability.
    """
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid())
    owner = command.root.stat()
    if owner.st_uid != 0 and _exists("uid", owner.st_uid) and _exists("gid", owner.st_gid):
        return Identity(owner.st_uid, owner.st_gid)
    if not _exists("uid", NOBODY):
        return Identity(0, 0)  # root of a small namespace already, an ordinary id outside
    return Identity(NOBODY, NOBODY, mapped=True)


def _exists(kind: str, number: int) -> bool:
    """Whether an id exists in our own user namespace (``/proc/self/uid_map``, see user_namespaces(7))."""
    try:
        rows = [line.split() for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
    except OSError:
        return False
    return any(int(row[0]) <= number < int(row[0]) + int(row[2]) for row in rows)


def unmapped(command: Command) -> Identity:
    """As whom to run the command where every file keeps its owner: a stranger for what everybody can read."""
    found = identity(command)
    if not found.mapped:
        return found
    if not (command.writable or command.changes) and _readable_for_all(command.root):
        stranger = _stranger()
        return Identity(stranger, stranger)
    return Identity(0, 0)


def _stranger() -> int:
    """An id that nobody has and no other run: so the kernel's limit on its processes counts those of one run."""
    number = 1_000_000_000 + secrets.randbelow(1_000_000_000)
    return number if _exists("uid", number) and _exists("gid", number) else NOBODY


def _readable_for_all(root: Path) -> bool:
    """Whether an id that owns nothing here can read the whole tree."""
    ahead = [str(root)]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        continue
                    folder = entry.is_dir()
                    wanted = 0o5 if folder else 0o4
                    if entry.stat(follow_symlinks=False).st_mode & wanted != wanted:
                        return False
                    if folder:
                        ahead.append(entry.path)
        except OSError:
            return False
    return os.stat(root).st_mode & 0o5 == 0o5
