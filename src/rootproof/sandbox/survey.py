"""One walk over a repository before a throw-away layer is laid over it: which caches must not show through, and
whether every file could be changed through the layer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rootproof.sandbox.caches import is_cache, is_virtual_environment

_NOT_ENTERED = frozenset({".git", "node_modules"})
"""Large folders that one program wrote, all with one owner; their own entry is looked at, and their known caches."""


@dataclass(frozen=True)
class Survey:
    """What the walk found."""

    caches: tuple[str, ...]
    """Root-relative paths of caches."""
    foreign: str = ""
    """A folder, or a file of the top folder, whose owner or group is another's: the kernel cannot copy it up into a
    one-user namespace. Files further down are not looked at, because that takes four times as long as all the rest; one
    that differs from its folder fails with EOVERFLOW when it is written, which counts as *possibly containment*."""


def survey(root: str, owner: tuple[int, int] | None) -> Survey:
    """Walk ``root``. ``owner``: the (uid, gid) that everything must have, or None where that does not matter."""
    caches: list[str] = []
    foreign = ""
    ahead = [""]
    while ahead:
        relative = ahead.pop()
        try:
            entries = os.scandir(f"{root}/{relative}")
        except OSError:
            continue  # unreadable outside, unreadable inside
        with entries:
            for entry in entries:
                path = relative + entry.name
                folder = entry.is_dir(follow_symlinks=False)
                if folder:
                    if is_cache(entry.name, relative):
                        caches.append(path)
                    elif entry.name in _NOT_ENTERED:
                        caches += _known_caches(root, path)
                    elif not is_virtual_environment(entry.path):
                        ahead.append(path + "/")
                if owner and (folder or not relative) and not foreign and _owner(entry) != owner:
                    foreign = path
    return Survey(tuple(caches), foreign)


def _owner(entry: os.DirEntry[str]) -> tuple[int, int]:
    found = entry.stat(follow_symlinks=False)
    return found.st_uid, found.st_gid


def _known_caches(root: str, folder: str) -> list[str]:
    try:
        names = os.listdir(f"{root}/{folder}")
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if is_cache(name, folder + "/")]
