"""Bytes become text: by a declared encoding where there is one, else by a guess that says it is one. Pure.

Order: byte order mark, coding line (PEP 263), strict UTF-8, the contract's own list, then a statistical guess. Nothing
is ever dropped: a byte that the encoding does not know is shown as ``\\xNN``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = 8_000
"""A file with a NUL among its first bytes, and no byte order mark, is binary: the rule that git uses."""
MAX_BAD = 20
"""Most positions of undecodable bytes that are listed."""
GUESS_NEEDS = 8
"""A guess from fewer non-ASCII bytes says nothing."""
GUESS_SAMPLE = 32 * 1024

_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?\r?$")
_PLAIN = bytes(range(32, 127)) + b"\n"
_OWN_ESCAPES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "hz")


@dataclass(frozen=True)
class Decoded:
    """A file's text and how it was read."""

    text: str
    encoding: str
    """Name of the Python codec. Decoding the bytes with it and ``backslashreplace`` gives ``text`` again."""
    certain: bool
    """True: declared by the file itself, or valid UTF-8. False: from the contract's list, guessed, or damaged."""
    bad: tuple[int, ...] = ()
    """Offsets (from 0) of the first bytes that the encoding does not know."""
    contradicted: bool = False
    """The file declares an encoding that its bytes are not in."""


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text that can be shown by lines. UTF-32 counts as binary."""
    if data.startswith(_UTF32):
        return True
    return not any(data.startswith(mark) for mark, _ in _MARKS) and b"\x00" in data[:HEAD]


def decode(data: bytes, listed: Sequence[str] = ()) -> Decoded:
    """The text of a file. ``listed``: encodings to try, in this order, where nothing is declared. Never raises."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            whole = _strictly(data, name)
            return Decoded(whole, name, True) if whole is not None else _damaged(data, name, False)
    declared = _coding_line(data)
    if declared:
        whole = _strictly(data, declared)
        if whole is not None:
            return Decoded(whole, declared, True)
    contradicted = bool(declared)
    whole = _strictly(data, "utf-8")
    if whole is not None:
        return Decoded(whole, "utf-8", not contradicted, contradicted=contradicted)
    for name in (*(known(name) for name in listed), _guess(data)):
        whole = _strictly(data, name) if name else None
        if whole is not None:
            return Decoded(whole, name, False, contradicted=contradicted)
    return _damaged(data, "utf-8", contradicted)


def known(name: str) -> str:
    """The codec's own name, where it is one for text that leaves ASCII as it is; else empty.

    Codecs that run escapes of their own (``unicode_escape``, ``utf_7``, ``hz`` ...) would let a file choose what its
    lines are; they are not known here.
    """
    try:
        codec = codecs.lookup(name).name
        if codec.replace("_", "-").startswith(_OWN_ESCAPES):
            return ""
        plain = _PLAIN.decode(codec)
    except (LookupError, ValueError):
        return ""
    return codec if plain == _PLAIN.decode("ascii") else ""


def _coding_line(data: bytes) -> str:
    for line in data[:2_000].split(b"\n")[:2]:
        found = _CODING.match(line)
        if found:
            return known(found.group(1).decode("ascii", "replace"))
        if not _BLANK.match(line):
            return ""
    return ""


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except ValueError:
        return None


def _guess(data: bytes) -> str:
    """A statistical guess; empty where there is too little to guess from, or where most of it is UTF-8 after all."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    lost = data.decode("utf-8", "replace").count("\ufffd")
    if high < GUESS_NEEDS or lost * 10 < high:
        return ""
    from charset_normalizer import from_bytes

    best = from_bytes(data[:GUESS_SAMPLE]).best()
    return known(best.encoding) if best is not None else ""


def _damaged(data: bytes, name: str, contradicted: bool) -> Decoded:
    bad: list[int] = []
    at = 2 if name == "utf-16" else 0
    codec = {"utf-16": "utf-16-be" if data.startswith(codecs.BOM_UTF16_BE) else "utf-16-le", "utf-8-sig": "utf-8"}
    while len(bad) < MAX_BAD:
        try:
            data[at:].decode(codec.get(name, name))
            break
        except UnicodeDecodeError as error:
            bad.append(at + error.start)
            at += error.end
    return Decoded(data.decode(name, "backslashreplace"), name, False, tuple(bad), contradicted)
