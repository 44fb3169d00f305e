"""A strict reader of one JSON document: says line, column, place and what was expected; repairs nothing.

Written here because the gate rests on it: the standard reader accepts NaN and repeated keys, turns ``1e999`` into
infinity, lets lone surrogates pass, and raises other errors for deep nesting and long numbers. This one reads each
character once and never recurses deeper than :data:`MAX_DEPTH`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DEPTH = 32
MAX_DIGITS = 18
"""Longest integer, so that every one fits in 64 bits."""

Value = str | int | float | bool | None | list["Value"] | dict[str, "Value"]

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Fault(Exception):
    """Why a text is not one JSON document, and where."""

    code: str
    expected: str
    offset: int
    place: str = ""
    """JSON path, such as ``$.input.path``."""


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def read(text: str) -> Value:
    """Read exactly one JSON document with nothing but white space around it.

    Raises:
        Fault: anything else.
    """
    reader = _Reader(text)
    value, end = reader.value(reader.skip(0), "$", 0)
    end = reader.skip(end)
    if end != len(text):
        raise Fault("trailing_data", "nothing after the first JSON object", end)
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def value(self, at: int, place: str, depth: int) -> tuple[Value, int]:
        first = self.text[at : at + 1]
        if depth > MAX_DEPTH:
            raise Fault("too_deep", f"at most {MAX_DEPTH} levels of nesting", at, place)
        if first == "{":
            return self.object(at, place, depth)
        if first == "[":
            return self.array(at, place, depth)
        if first == '"':
            return self.string(at, place)
        if first and first in "-0123456789":
            return self.number(at, place)
        return self.word(at, place)

    def word(self, at: int, place: str) -> tuple[Value, int]:
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                return value, at + len(word)
        for word in ("NaN", "Infinity"):
            if self.text.startswith(word, at):
                raise Fault("nonfinite_number", "a finite number", at, place)
        raise Fault("not_json", "one bare JSON object" if place == "$" else "a JSON value", at, place)

    def number(self, at: int, place: str) -> tuple[Value, int]:
        if self.text.startswith("-Infinity", at):
            raise Fault("nonfinite_number", "a finite number", at, place)
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise Fault("not_json", "a digit after the minus sign", at + 1, place)
        shown = match.group()
        if len(shown) > MAX_DIGITS + 8:
            raise Fault("number_too_large", f"a number of at most {MAX_DIGITS} digits", at, place)
        if shown.lstrip("-").isdigit():
            if len(shown.lstrip("-")) > MAX_DIGITS:
                raise Fault("number_too_large", f"a number of at most {MAX_DIGITS} digits", at, place)
            return int(shown), match.end()
        number = float(shown)
        if number in (float("inf"), float("-inf")):
            raise Fault("nonfinite_number", "a finite number", at, place)
        return number, match.end()

    def string(self, at: int, place: str) -> tuple[str, int]:
        start, at, parts = at, at + 1, []
        while True:
            match = _PLAIN.match(self.text, at)
            end = match.end() if match else at
            parts.append(self.text[at:end])
            stop = self.text[end : end + 1]
            if stop == '"':
                return "".join(parts), end + 1
            if stop == "":
                raise Fault("not_json", "a closing double quote for the string that begins here", start, place)
            if stop != "\\":
                code = "lone_surrogate" if "\ud800" <= stop <= "\udfff" else "not_json"
                raise Fault(code, "an escape such as \\n instead of a raw control character", end, place)
            character, at = self.escape(end, place)
            parts.append(character)

    def escape(self, at: int, place: str) -> tuple[str, int]:
        kind = self.text[at + 1 : at + 2]
        if kind in _ESCAPES and kind:
            return _ESCAPES[kind], at + 2
        if kind != "u":
            raise Fault("not_json", 'one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX', at, place)
        code = self.hex(at + 2, place)
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code), at + 6
        if code <= 0xDBFF and self.text[at + 6 : at + 8] == "\\u":
            low = self.hex(at + 8, place)
            if 0xDC00 <= low <= 0xDFFF:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 12
        raise Fault("lone_surrogate", "a whole character: this escape is half of a surrogate pair", at, place)

    def hex(self, at: int, place: str) -> int:
        digits = self.text[at : at + 4]
        if len(digits) != 4 or any(d not in "0123456789abcdefABCDEF" for d in digits):
            raise Fault("not_json", "four hexadecimal digits after \\u", at, place)
        return int(digits, 16)

    def array(self, at: int, place: str, depth: int) -> tuple[Value, int]:
        items: list[Value] = []
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "]":
            return items, at + 1
        while True:
            item, at = self.value(at, f"{place}[{len(items)}]", depth + 1)
            items.append(item)
            at = self.skip(at)
            mark = self.text[at : at + 1]
            if mark == "]":
                return items, at + 1
            if mark != ",":
                raise Fault("not_json", "a comma or a closing bracket", at, place)
            at = self.skip(at + 1)

    def object(self, at: int, place: str, depth: int) -> tuple[Value, int]:
        members: dict[str, Value] = {}
        at = self.skip(at + 1)
        if self.text[at : at + 1] == "}":
            return members, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise Fault("not_json", "a key in double quotes", at, place)
            key_at = at
            key, at = self.string(at, place)
            inner = f"{place}.{key[:40]}"
            if key in members:
                raise Fault("duplicate_key", f"the key {key[:40]!r} only once", key_at, inner)
            at = self.skip(at)
            if self.text[at : at + 1] != ":":
                raise Fault("not_json", "a colon after the key", at, inner)
            members[key], at = self.value(self.skip(at + 1), inner, depth + 1)
            at = self.skip(at)
            mark = self.text[at : at + 1]
            if mark == "}":
                return members, at + 1
            if mark != ",":
                raise Fault("not_json", "a comma or a closing brace", at, place)
            at = self.skip(at + 1)
