"""As which user a contained command runs.

An ordinary user runs it as itself. Root steps down where it can: the kernel's limit on processes does not bind root,
and a hole in one of the walls is worth less to an ordinary id.
"""

from __future__ import annotations

import os
from pathlib import Path

from rootproof.sandbox.interface import Command

NOBODY = 65534


def identity(command: Command) -> tuple[int, int]:
    """(uid, gid) for the command.

    Root's choice: the owner of the repository, if that is somebody else (its files are readable and writable for it);
    otherwise nobody, if everything in the repository is readable for everybody and nothing has to be written there;
    otherwise root, without any capability.
    """
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    owner = command.root.stat()
    if owner.st_uid != 0:
        return owner.st_uid, owner.st_gid
    if not (command.writable or command.changes) and _readable_for_all(command.root):
        return NOBODY, NOBODY
    return 0, 0


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
