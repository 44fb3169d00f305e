"""A proposed change of source text: one to four edits, applied to a copy and never to the project itself.

An edit replaces whole lines and carries the text it replaces, so that it refuses to apply to a file that is no
longer what it was made for. Text and bytes are exchanged as UTF-8 with ``surrogateescape``, which is loss-free for
any file; lines end at ``\\n`` alone, as they do for the Python compiler's line numbers with ``\\r\\n`` files.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

MAX_EDITS = 4


@dataclass(frozen=True, order=True)
class Edit:
    """Replacement of the lines ``first`` to ``last`` of one file (1-based, both included)."""

    file: str
    """Root-relative path."""
    first: int
    last: int
    """``first - 1`` means a pure insertion before line ``first``."""
    old: str
    """The exact text that is replaced, line ends included. Empty for an insertion."""
    new: str
    """The text put there, line ends included. Empty for a deletion."""
    operator: str = "free"
    """Name of the operator that made it; ``free`` for an edit somebody wrote."""
    note: str = ""
    """What the edit does, in a few words a person can read."""

    def __post_init__(self) -> None:
        if self.first < 1 or self.last < self.first - 1:
            raise ValueError("an edit's lines are 1-based and last is at least first - 1")
        if self.old.count("\n") + (self.old[-1:] not in ("\n", "")) != self.last - self.first + 1:
            raise ValueError("an edit's old text has as many lines as its span")

    @property
    def size(self) -> int:
        """Lines added or replaced, whichever is more."""
        return max(self.last - self.first + 1, len(self.new.splitlines()))


@dataclass(frozen=True)
class Refused:
    """A change that cannot be applied, with the reason."""

    reason: str


@dataclass(frozen=True)
class Change:
    """One to four edits that are tried as one."""

    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.edits) <= MAX_EDITS:
            raise ValueError(f"a change has 1 to {MAX_EDITS} edits")
        object.__setattr__(self, "edits", tuple(sorted(self.edits)))

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edit.file for edit in self.edits))

    @property
    def size(self) -> int:
        return sum(edit.size for edit in self.edits)

    @property
    def digest(self) -> str:
        """SHA-256 over what the change does; names of operators and notes do not count."""
        parts = [repr((e.file, e.first, e.last, e.old, e.new)) for e in self.edits]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def note(self) -> str:
        return "; ".join(e.note for e in self.edits if e.note)

    @property
    def operator(self) -> str:
        return "+".join(dict.fromkeys(e.operator for e in self.edits))

    def apply(self, sources: Mapping[str, bytes]) -> dict[str, bytes] | Refused:
        """The changed files alone, path → new content; or why the change does not fit these sources."""
        result: dict[str, bytes] = {}
        for file in self.files:
            if file not in sources:
                return Refused(f"{file} is not there")
            changed = _apply_to(decoded(sources[file]), [e for e in self.edits if e.file == file])
            if isinstance(changed, Refused):
                return changed
            result[file] = encoded(changed)
        return result

    def unified_diff(self, sources: Mapping[str, bytes], context: int = 3) -> str:
        """The change as a unified diff with ``a/`` and ``b/`` paths; empty when it does not apply."""
        changed = self.apply(sources)
        if isinstance(changed, Refused):
            return ""
        return "".join(diff_text(file, decoded(sources[file]), decoded(new), context) for file, new in changed.items())


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def split_lines(text: str) -> list[str]:
    """Lines with their ends, split at ``\\n`` alone (``str.splitlines`` also splits at form feeds and others)."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def leading(line: str) -> str:
    """The blanks and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _apply_to(text: str, edits: list[Edit]) -> str | Refused:
    lines = split_lines(text)
    floor = len(lines) + 1
    for edit in sorted(edits, key=lambda e: (e.first, e.last), reverse=True):
        if edit.last >= floor or (edit.last < edit.first and edit.first > floor):
            return Refused(f"edits overlap, or reach past the end of {edit.file}, near line {edit.first}")
        if "".join(lines[edit.first - 1 : edit.last]) != edit.old:
            return Refused(f"{edit.file} lines {edit.first}-{edit.last} are not what the edit was made for")
        lines[edit.first - 1 : edit.last] = split_lines(edit.new)
        floor = edit.first
    return "".join(lines)


def diff_text(file: str, old: str, new: str, context: int = 3) -> str:
    lines = difflib.unified_diff(split_lines(old), split_lines(new), f"a/{file}", f"b/{file}", n=context)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def diff_hunks(file: str, before: bytes, after: bytes, operator: str = "free", note: str = "") -> list[Edit]:
    """One edit for each run of differing lines of a file."""
    old, new = split_lines(decoded(before)), split_lines(decoded(after))
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        Edit(file, a0 + 1, a1, "".join(old[a0:a1]), "".join(new[b0:b1]), operator, note)
        for tag, a0, a1, b0, b1 in steps
        if tag != "equal"
    ]


def change_between(
    before: Mapping[str, bytes], after: Mapping[str, bytes], operator: str = "free", note: str = ""
) -> Change | Refused:
    """The change that turns ``before`` into ``after``, one edit for each run of differing lines.

    Only files of ``after`` are looked at; one that ``before`` lacks is refused, for a change edits what is there.
    """
    edits: list[Edit] = []
    for file, data in after.items():
        if file not in before:
            return Refused(f"{file} is a new file")
        edits.extend(diff_hunks(file, before[file], data, operator, note))
    if not edits:
        return Refused("nothing differs")
    if len(edits) > MAX_EDITS:
        return Refused(f"{len(edits)} separate edits; at most {MAX_EDITS} are admissible")
    return Change(tuple(edits))


def same_tree(one: bytes, other: bytes) -> bool:
    """Whether two Python sources have an equal syntax tree. False where either does not parse."""
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
