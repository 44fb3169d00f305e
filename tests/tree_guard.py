"""The law that a repository is never written, watched over every test: whole trees, before and after.

Two nets. The examples, which all tests share, are compared around every test. And around every contained command the tree
it was given is compared, wherever it lies: contents, modes, owners, times and links, ``.git`` included. A file's content
is read where it is small; a large one is known by its size and its change time, which no program can set.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from rootproof.sandbox.bare import Bare
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Completed
from rootproof.sandbox.namespaces import Namespaces

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGETS = tuple(sorted((*EXAMPLES.glob("login-redirect/*/"), EXAMPLES / "tickets" / "project")))
"""The repositories that all tests share."""
SMALL = 64 * 1024
FEW = 400
"""Entries of a tree up to which contents are read."""

Manifest = dict[str, tuple[object, ...]]


def manifest(root: Path, without: str = "") -> Manifest:
    """Every entry of a tree: kind, mode, owner, size, time of modification, and its content or change time.

    Args:
        without: name of folders that are left out.
    """
    entries = {".": os.lstat(root), **dict(_entries(root, "", without))}
    read = len(entries) <= FEW
    return {name: (*_known(found), *_content(root / name, found, read)) for name, found in entries.items()}


def _entries(root: Path, inner: str, without: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(root / inner) as found:
        for entry in found:
            name = f"{inner}{entry.name}"
            if entry.name == without:
                continue
            yield name, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(root, f"{name}/", without)


def _known(found: os.stat_result) -> tuple[object, ...]:
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_ino


def _content(path: Path, found: os.stat_result, read: bool) -> tuple[object, ...]:
    if stat.S_ISLNK(found.st_mode):
        return (str(path.readlink()),)
    if not stat.S_ISREG(found.st_mode):
        return ()
    if not read or found.st_size > SMALL:
        return found.st_size, found.st_ctime_ns
    return found.st_size, hashlib.sha256(path.read_bytes()).digest()


def changed(before: Manifest, after: Manifest) -> list[str]:
    """What is new, gone or different, by name."""
    found = [f"{name} is new" for name in after.keys() - before.keys()]
    found += [f"{name} is gone" for name in before.keys() - after.keys()]
    found += [f"{name} was changed" for name in before.keys() & after.keys() if before[name] != after[name]]
    return sorted(found)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Compare the tree around every command of this process; yields the list of what was changed."""
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for member in (Bare, Bubblewrap, Namespaces):
            patch.setattr(member, "run", _comparing(member.run, found))
        yield found


def _comparing(run: Callable[[Any, Command], Completed], found: list[str]) -> Callable[[Any, Command], Completed]:
    @wraps(run)
    def compared(member: Any, command: Command) -> Completed:
        before = _manifest(command.root)
        try:
            return run(member, command)
        finally:
            if before is not None:
                argv = " ".join(command.argv)[:100]
                found.extend(f"{command.root}: {one} by {argv}" for one in changed(before, manifest(command.root)))

    return compared


def _manifest(root: Path) -> Manifest | None:
    """None where the tree changes by itself: a test may run in a system folder."""
    try:
        return manifest(root) if root.is_dir() and root.parent != root else None
    except OSError:
        return None
