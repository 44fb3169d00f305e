"""Throw-away copies of a repository on disk: what is done to one is never seen by the original.

No hard links (writing in place would change the original) and no ``git worktree`` (it writes into ``.git``). Caches
and virtual environments are left out, so a copy is cold. Every copy lies in a folder whose name says which process
owns it; copies whose owner is dead are removed when the next one is made.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.caches import CACHE_NAMES, is_cache, is_virtual_environment

__all__ = ["CACHE_NAMES", "copies_folder", "owned_folder", "sweep", "throw_away"]


@contextmanager
def throw_away(root: Path, changes: Mapping[str, bytes], hidden: Collection[str] = ()) -> Iterator[Path]:
    """A copy of ``root`` with ``changes`` written into it and ``hidden`` left out; removed at the end.

    Unchanged files keep mode and mtime; changed ones get a fresh mtime that differs from the original's.

    Raises:
        ContainmentUnavailable: the copy cannot be made (no space, a path that leaves the tree).
    """
    with owned_folder() as place:
        inside = place / (root.name or "root")
        try:
            copy_tree(root, inside, hidden)
            apply_changes(inside, root, changes)
        except OSError as fault:
            raise ContainmentUnavailable(f"cannot copy {root}: {fault}") from fault
        yield inside


@contextmanager
def owned_folder() -> Iterator[Path]:
    """An empty private folder, removed at the end; if we are killed, the next who asks for one removes it.

    Raises:
        ContainmentUnavailable: there is no place for it.
    """
    folder = copies_folder()
    sweep(folder)
    place = folder / f"{_owner()}-{secrets.token_hex(8)}"
    try:
        place.mkdir(mode=0o700)
    except OSError as fault:
        raise ContainmentUnavailable(f"cannot make a folder in {folder}: {fault}") from fault
    try:
        yield place
    finally:
        remove(place)


def copies_folder() -> Path:
    """The one folder of this user that holds all copies; nobody else can enter it.

    Raises:
        ContainmentUnavailable: something else has that name.
    """
    folder = Path(tempfile.gettempdir()).resolve() / f"rootproof-copies-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as fault:
        raise ContainmentUnavailable(f"no place for throw-away copies: {fault}", "set TMPDIR to a folder") from fault
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ContainmentUnavailable(f"{folder} is not a private folder of this user", f"remove {folder}")
    return folder


def sweep(folder: Path) -> int:
    """Remove the copies whose owner is no longer alive; gives their number."""
    removed = 0
    boot, space, _, _ = _owner().split("-")
    for place in folder.iterdir():
        parts = place.name.split("-")
        if len(parts) != 5 or not (parts[2].isdigit() and parts[3].isdigit()):
            continue
        same_world = parts[0] == boot and parts[1] == space
        if parts[0] != boot or (same_world and _started(int(parts[2])) != parts[3]):
            remove(place)
            removed += 1
    return removed


def _owner() -> str:
    """Boot, process namespace, pid and start time of this process: together they name it for ever."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        space = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        boot, space = "none", "0"
    return f"{boot}-{space}-{os.getpid()}-{_started(os.getpid())}"


def _started(pid: int) -> str:
    """Start time of a process in ticks since boot; empty: there is no such process. Without ``/proc``: 0 or empty."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        pass
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "0"


def copy_tree(source: Path, target: Path, hidden: Collection[str]) -> None:
    """Copy files, folders and links (as links); leave out caches, environments, sockets, pipes and devices."""
    absent = {os.path.normpath(path) for path in hidden}
    ahead = [(source, target, "")]
    folders = []
    while ahead:
        old, new, relative = ahead.pop()
        new.mkdir()
        folders.append((old, new))
        with os.scandir(old) as entries:
            for entry in entries:
                path = f"{relative}{entry.name}"
                if path in absent or is_cache(entry.name, relative):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not is_virtual_environment(entry.path):
                        ahead.append((Path(entry.path), new / entry.name, path + "/"))
                else:
                    _copy_entry(entry, f"{new}/{entry.name}")
    for old, new in reversed(folders):
        shutil.copystat(old, new)
        os.chmod(new, stat.S_IMODE(old.stat().st_mode) | stat.S_IRWXU)


def _copy_entry(entry: os.DirEntry[str], target: str) -> None:
    if entry.is_symlink():
        os.symlink(os.readlink(entry.path), target)
    elif entry.is_file(follow_symlinks=False):
        source = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _copy_file(source, target)
        finally:
            os.close(source)


def _copy_file(source: int, target: str) -> None:
    """Content, mode and times, within the kernel."""
    found = os.fstat(source)
    new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        left = found.st_size
        while left > 0:
            sent = os.sendfile(new, source, None, left) if sys.platform == "linux" else _by_hand(source, new)
            if not sent:
                break
            left -= sent
        os.fchmod(new, stat.S_IMODE(found.st_mode))
        os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))
    finally:
        os.close(new)


def _by_hand(source: int, new: int) -> int:
    return os.write(new, os.read(source, 1 << 20))


def apply_changes(inside: Path, original: Path, changes: Mapping[str, bytes]) -> None:
    """Replace or add files. A name is never written through a link: links on the way are refused.

    Raises:
        OSError: a path leaves the tree or goes through a link.
    """
    for relative, content in changes.items():
        parts = Path(relative).parts
        if not parts or Path(relative).is_absolute() or ".." in parts:
            raise OSError(f"not a path beneath the root: {relative}")
        target = inside
        for part in parts[:-1]:
            target = target / part
            if target.is_symlink():
                raise OSError(f"a link is on the way to {relative}")
            target.mkdir(exist_ok=True)
        target = target / parts[-1]
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() and not target.is_symlink() else 0o644
        target.unlink(missing_ok=True)
        target.write_bytes(content)
        target.chmod(mode)
        _freshen(target, original / relative)


def _freshen(changed: Path, original: Path) -> None:
    """Make sure that the mtime differs in whole seconds: bytecode caches compare no finer than that."""
    if original.is_file() and int(original.stat().st_mtime) == int(changed.stat().st_mtime):
        moment = changed.stat().st_mtime + 2
        os.utime(changed, (moment, moment))


def remove(place: Path) -> None:
    """Remove a copy, also where its folders were made unreadable. What cannot be removed stays for the next sweep."""
    for folder, names, _ in os.walk(place):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.islink(path) and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(place, ignore_errors=True)
