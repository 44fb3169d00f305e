"""The tokens of a JavaScript or TypeScript source, and which of its texts stand in the place of a key. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rootproof.experiments.change import Edit, decoded
from rootproof.experiments.record import Span

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?P<text>'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`)"
    r"|(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_$][\w$]*)|(?P<mark>[^\s\w])",
    re.DOTALL,
)
"""Comments match too, in no named group."""
READERS = frozenset({"get", "getItem", "getAll"})
WRITERS = frozenset({"set", "setItem", "append"})
_NO_OBJECT = frozenset({"return", "case", "in", "of", "typeof", "void", "await", "yield", "else", "do", "throw", "new"})
"""Words after which a bracket begins a list, not the access to a member."""


@dataclass(frozen=True)
class KeyUse:
    """One text used as a key: ``session['name']``, or the first argument of ``get``, ``set`` and the like."""

    word: str
    line: int
    writes: bool
    called: bool = False
    """It is the argument of a call, which may do anything with it."""


def text_of(token: str) -> str:
    """The value of a text token, as far as it can be told."""
    try:
        return str(ast.literal_eval(token)) if token[0] != "`" else token[1:-1]
    except (ValueError, SyntaxError):
        return token[1:-1]


def tokens(data: bytes) -> list[re.Match[str]]:
    """The tokens of a source; comments are none."""
    return [match for match in TOKEN.finditer(decoded(data)) if match.lastgroup]


def key_uses(data: bytes) -> Iterator[KeyUse]:
    """Every text in the place of a key that is read or written under; deletions and tests for presence are neither."""
    found = tokens(data)
    said = [match.group() for match in found]
    for at, match in enumerate(found):
        if match.lastgroup != "text" or at < 2 or at + 1 >= len(found):
            continue
        member, argument = _as_member(said, at), _as_argument(said, at)
        writes = argument if member is None else member
        if writes is not None:
            line = match.string.count("\n", 0, match.start()) + 1
            yield KeyUse(text_of(match.group()), line, writes, called=member is None)


def _as_member(said: list[str], at: int) -> bool | None:
    """Whether ``object[text]`` is written; None where it is no such thing."""
    before = said[at - 2]
    holds = before in (")", "]", ".") or (re.match(r"[A-Za-z_$]", before) is not None and before not in _NO_OBJECT)
    if said[at - 1] != "[" or said[at + 1] != "]" or not holds or "delete" in said[max(0, at - 6) : at - 1]:
        return None
    after = [*said[at + 2 : at + 4], "", ""]
    return after[0] == "=" and after[1] not in ("=", ">")


def _as_argument(said: list[str], at: int) -> bool | None:
    """Whether ``object.set(text, ...)`` writes or ``object.get(text)`` reads; None where it is no such call."""
    if said[at - 1] != "(" or at < 3 or said[at - 3] != "." or said[at + 1] not in (")", ","):
        return None
    name = said[at - 2]
    return name in WRITERS if name in READERS | WRITERS else None


def other_side(edits: Iterable[Edit], new: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Span | None:
    """The one line that writes under a key which the change begins to read, or reads what it begins to write.

    Nothing tells here which lines a test runs, so the other side must be the only one there is in all the sources.

    Args:
        new: the changed files; sources: every file that may hold the other side, as it is.
    """
    brought = {(use.word, use.writes) for path, data in new.items() for use in key_uses(data)} - {
        (use.word, use.writes) for path in new for use in key_uses(sources.get(path, b""))
    }
    own = {(edit.file, line) for edit in edits for line in range(edit.first, edit.last + 1)}
    found = {
        (path, use.line)
        for path, data in sources.items()
        for use in key_uses(data)
        if (use.word, not use.writes) in brought and (path, use.line) not in own
    }
    if len(found) != 1:
        return None
    ((path, line),) = found
    return Span(path, line, line, path)
