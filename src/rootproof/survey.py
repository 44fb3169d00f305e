"""What lies beneath a root, as one contract's scope sees it: which files are in, and what was passed over and why.

Names and types only: nothing is opened, and no link is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Literal

from rootproof import contract, pattern, text

Standing = Literal["read", "test", "secret", "out"]


@dataclass(frozen=True)
class Survey:
    """Raw root-relative paths (``os.fsdecode``), each kind sorted."""

    read: tuple[str, ...] = ()
    """Regular files that the contract lists as readable."""
    tests: tuple[str, ...] = ()
    """Regular files of listed tests that are not readable besides."""
    secret: tuple[str, ...] = ()
    """Files that a listed path names but that are never readable."""
    links: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    """Pipes, sockets, devices."""
    closed: tuple[str, ...] = ()
    """Folders that may not be listed."""

    @property
    def files(self) -> tuple[str, ...]:
        """Every file in scope, sorted."""
        return tuple(sorted((*self.read, *self.tests)))

    def under(self, path: str) -> Survey:
        """The part in a folder, or the one file of that name; ``.`` is everything."""
        if path == ".":
            return self
        start = f"{path}/"

        def of(paths: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(one for one in paths if one == path or one.startswith(start))

        return Survey(of(self.read), of(self.tests), of(self.secret), of(self.links), of(self.special), of(self.closed))


class Surveyor:
    """Walks one root. What a name is to the contract is worked out once for each name."""

    def __init__(self, root: str, terms: contract.Scope) -> None:
        self.root = root
        self.terms = terms
        self.test_files = tuple({contract.file_of(entry): None for entry in terms.tests})
        entries = (*terms.read, *self.test_files)
        self.exact = tuple(entry for entry in entries if not pattern.is_glob(entry))
        globs = [entry.split("/") for entry in entries if pattern.is_glob(entry)]
        self.starts = tuple(dict.fromkeys(_start(parts) for parts in globs))
        self.skipped = frozenset(contract.UNASKED) - {part for parts in globs for part in parts}
        self._known: MutableMapping[str, Standing] = {}

    def survey(self) -> Survey:
        """Look now."""
        found: dict[str, set[str]] = {kind: set() for kind in ("read", "test", "secret", "link", "special", "closed")}
        for path, kind in (*self._named(), *(self._walk() if self.starts else ())):
            if kind == "file":
                kind = self._standing(path)
            if kind in found:
                found[kind].add(path)
        return Survey(*(tuple(sorted(paths)) for paths in found.values()))

    def _standing(self, path: str) -> Standing:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._judge(text.show_path(path))
        return known

    def _judge(self, shown: str) -> Standing:
        readable = self.terms.readable(shown)
        if not readable and not any(pattern.matches(entry, shown) for entry in self.test_files):
            return "out"
        if self.terms.denied(shown):
            return "secret"
        return "read" if readable else "test"

    def _named(self) -> Iterator[tuple[str, str]]:
        """The paths that are listed one by one."""
        for entry in self.exact:
            parts = entry.split("/")
            kinds = [_kind(f"{self.root}/{'/'.join(parts[: n + 1])}") for n in range(len(parts))]
            if "link" in kinds:
                yield entry, "link"
            elif kinds[-1] != "folder":
                yield entry, kinds[-1]

    def _walk(self) -> Iterator[tuple[str, str]]:
        """Everything in the folders that some glob can reach into."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(f"{self.root}/{folder}") as entries:
                    listed = [(folder + entry.name, _entry(entry)) for entry in entries]
            except OSError:
                yield folder.rstrip("/") or ".", "closed"
                continue
            waiting.extend(f"{path}/" for path, kind in listed if kind == "folder" and self._enters(path))
            yield from ((path, kind) for path, kind in listed if kind == "file" or _reaches(self.starts, path))

    def _enters(self, folder: str) -> bool:
        """Whether a glob can reach into a folder: it lies in a start folder or on the way to one."""
        inside = f"{folder}/"
        leads = any(inside.startswith(start) or start.startswith(inside) for start in self.starts)
        return leads and folder.rsplit("/", 1)[-1] not in self.skipped


def _entry(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() else "special"


def _start(parts: list[str]) -> str:
    """The folder a glob begins in: its parts before the first that is not literal, with a slash at the end."""
    literal = []
    for part in parts[:-1]:
        if pattern.is_glob(part):
            break
        literal.append(f"{part}/")
    return "".join(literal)


def _reaches(starts: Iterable[str], path: str) -> bool:
    """Whether a path lies in the start folder of a glob."""
    return any(path.startswith(start) for start in starts)


def _kind(path: str) -> str:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return "missing"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "special"
