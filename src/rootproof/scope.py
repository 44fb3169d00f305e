"""The live tree under the root: where a path lies, what its bytes are, what changed since the run began.

Only this module opens files of the repository for the tools, and only beneath the root, never through a link.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from rootproof import contract, pattern, text
from rootproof.place import Located, Outside, Place
from rootproof.survey import Survey, Surveyor

MAX_FILE = 8 * 1024 * 1024
"""Largest file that is read or hashed as content; a larger one is hashed in pieces and not readable."""
_SYSTEM = (("proc",), ("sys",), ("dev",))
_NOFOLLOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Scope:
    """One root, seen through one contract's scope."""

    def __init__(self, root: Path, terms: contract.Scope) -> None:
        self.root = root.resolve()
        self._base = str(self.root)
        self.terms = terms
        self._surveyor = Surveyor(str(self.root), terms)
        self._stamps: dict[str, tuple[tuple[int, ...], str]] = {}

    def locate(self, raw: str) -> Place:
        """Resolve a path as somebody wrote it. Reads nothing of the file. Never raises."""
        if not raw or "\x00" in raw or "\\" in raw or (len(raw) > 1 and raw[1] == ":") or len(raw) > 4096:
            return Outside("bad_path", "a path is root-relative with forward slashes, without NUL, backslash or drive")
        try:
            real = Path(os.path.realpath(self.root / raw))
            relative = real.relative_to(self.root)
        except (ValueError, OSError, RuntimeError):
            return Outside("out_of_scope", f"{text.quoted(raw)} leads outside the root")
        if real.parts[1:2] in _SYSTEM:
            return Outside("out_of_scope", "system files are never readable")
        return Located(text.show_path(str(relative)), real, _kind(real))

    def survey(self) -> Survey:
        """What lies beneath the root now, and what of it is in scope."""
        return self._surveyor.survey()

    def files(self) -> Iterator[str]:
        """Raw root-relative paths of every readable file and every test file, sorted; links are not followed."""
        return iter(self.survey().files)

    def secrets(self) -> tuple[str, ...]:
        """Raw root-relative paths of secret files and folders that the code under test may not see."""
        found: list[str] = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in contract.UNASKED)
            for path in (os.path.relpath(os.path.join(folder, name), self.root) for name in (*folders, *names)):
                if self.terms.denied(text.show_path(path)) and not self._lent(text.show_path(path)):
                    found.append(path)
        return (*found, *(path for path in (".git/config", ".git/credentials") if (self.root / path).is_file()))

    def _lent(self, path: str) -> bool:
        return any(pattern.matches(entry, path) for entry in self.terms.tests_may_read)

    def manifest(self) -> dict[str, str]:
        """Stored path → SHA-256 of every file in scope, read now."""
        self._stamps.clear()
        return {text.show_path(path): self._digest(path) for path in self.files()}

    def changed(self, manifest: Mapping[str, str], *, thorough: bool = False) -> tuple[str, ...]:
        """Paths that differ from a manifest, also new and lost ones.

        ``thorough`` hashes every file again; otherwise a file whose inode, size, times of content and of status
        are as when it was last hashed is taken as equal (its status time cannot be set by a program).
        """
        if thorough:
            self._stamps.clear()
        now = {text.show_path(path): self._digest(path) for path in self.files()}
        return differing(manifest, now)

    def _digest(self, path: str) -> str:
        try:
            status = os.lstat(f"{self._base}/{path}")
        except OSError:
            return ""
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._stamps.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, self._hash(path))
            self._stamps[path] = known
        return known[1]

    def _hash(self, path: str) -> str:
        try:
            descriptor = self._open(path)
        except OSError:
            return ""
        digest = hashlib.sha256()
        with os.fdopen(descriptor, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()

    def read(self, place: Located) -> bytes:
        """The bytes of a regular file beneath the root.

        Raises:
            OSError: it is gone, became a link or is no regular file.
        """
        relative = str(place.absolute.relative_to(self.root))
        with os.fdopen(self._open(relative), "rb") as file:
            return file.read(MAX_FILE + 1)

    def _open(self, relative: str) -> int:
        """Open component by component, each without following links, so that a link swapped in later is refused."""
        folder = os.open(self.root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            *folders, name = relative.split("/")
            for part in folders:
                inner = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                os.close(folder)
                folder = inner
            descriptor = os.open(name, _NOFOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{relative} is not a regular file")
        return descriptor


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Paths whose digest is another in one manifest than in the other, or that only one of them has."""
    return tuple(sorted(path for path in {*now, *before} if now.get(path) != before.get(path)))


def _kind(path: Path) -> Literal["file", "folder", "other", "missing"]:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return "missing"
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
