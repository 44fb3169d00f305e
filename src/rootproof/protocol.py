"""The two messages a model may send, strictly parsed from raw text.

Parsing judges the envelope only. Which tools, tests and paths exist, and which fields an input may have, is
authorisation's business (``policy``). Nothing is ever repaired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootproof import strict_json
from rootproof.canonical import Json
from rootproof.text import one_line

MAX_MESSAGE = 64 * 1024
"""Longest message in characters."""
MAX_NOTE = 500
"""A longer note is cut, not refused: it decides nothing."""
MAX_ECHO = 200
"""A correction never echoes more than this many characters."""

FINISHES = {
    "stop": "",
    "length": "truncated",
    "incomplete": "truncated",
    "refusal": "refusal",
    "blocked": "content_blocked",
    "empty": "empty",
    "reasoning_only": "reasoning_only",
    "multiple": "multiple_actions",
}
"""How a model's turn ended → the name of the parse error it is, whatever the text looks like."""

_EXPECTED = {
    "truncated": "a whole message; this one was cut off by the model's length limit",
    "refusal": "an action or a final; the model refused to answer",
    "content_blocked": "an action or a final; the provider blocked the prompt or the reply",
    "reasoning_only": "the JSON object as the reply's content, not as reasoning",
    "multiple_actions": "exactly one action in a message",
    "empty": 'one JSON object, {"type": "action", ...} or {"type": "final"}; the message is empty',
}


@dataclass(frozen=True)
class Action:
    """A request for one tool call. It has no power to execute."""

    tool: str
    input: Mapping[str, Json]
    note: str = ""


@dataclass(frozen=True)
class Final:
    """A request to stop."""

    note: str = ""


@dataclass(frozen=True)
class Malformed:
    """Why a message is neither, where, and what was expected."""

    code: str
    message: str
    line: int = 0
    column: int = 0
    place: str = ""


Message = Action | Final | Malformed


def parse(text: str, finish: str = "stop") -> Message:
    """Judge the envelope of one raw message. Never raises."""
    code = FINISHES.get(finish, "truncated")
    if code:
        return Malformed(code, f"{code}: expected {_EXPECTED[code]}")
    if not text.strip():
        return Malformed("empty", f"empty: expected {_EXPECTED['empty']}")
    if len(text) > MAX_MESSAGE:
        return Malformed("too_large", f"too_large: expected at most {MAX_MESSAGE} characters, found {len(text)}")
    if text.startswith("\ufeff"):
        return _malformed("bom", "no byte order mark before the JSON object", text, 0)
    try:
        value = strict_json.read(text)
    except strict_json.Fault as fault:
        return _malformed(fault.code, fault.expected, text, fault.offset, fault.place)
    return _envelope(value)


def _malformed(code: str, expected: str, text: str, offset: int, place: str = "") -> Malformed:
    line, column = strict_json.position(text, offset)
    found = _found(text, offset)
    place = place[:80]
    where = f" ({place})" if place not in ("", "$") else ""
    message = f"{code} at line {line} column {column}{where}: expected {expected}; found {found}"
    return Malformed(code, message, line, column, place)


def _found(text: str, offset: int) -> str:
    if offset >= len(text):
        return "the end of the message"
    character = text[offset]
    name = f"U+{ord(character):04X} " if ord(character) > 126 or ord(character) < 32 else ""
    return f"{name}{one_line(text[offset : offset + 60], 80)!r}"


def _wrong(code: str, place: str, expected: str, found: str) -> Malformed:
    return Malformed(code, f"{code} at {place}: expected {expected}, found {one_line(found, 80)}", place=place)


def _envelope(value: strict_json.Value) -> Message:
    if not isinstance(value, dict):
        return _wrong("wrong_type", "$", "an object", _kind(value))
    kind = value.get("type")
    if "type" not in value:
        keys = ", ".join(repr(key[:40]) for key in list(value)[:6])
        return _wrong("missing_field", "$.type", "'action' or 'final'", f"an object with {keys or 'no keys'}")
    if not isinstance(kind, str):
        return _wrong("wrong_type", "$.type", "'action' or 'final'", _kind(kind))
    if kind not in ("action", "final"):
        return _wrong("invalid_value", "$.type", "'action' or 'final'", repr(kind[:40]))
    allowed = ("type", "tool", "input", "note") if kind == "action" else ("type", "note")
    for key in value:
        if key not in allowed:
            return _wrong("unknown_field", f"$.{key[:40]}", f"only {', '.join(allowed)}", repr(key[:40]))
    note = value.get("note", "")
    if not isinstance(note, str):
        return _wrong("wrong_type", "$.note", "a string", _kind(note))
    if kind == "final":
        return Final(note[:MAX_NOTE])
    return _action(value, note[:MAX_NOTE])


def _action(value: dict[str, strict_json.Value], note: str) -> Message:
    tool, arguments = value.get("tool"), value.get("input")
    for name, found, wanted in (("tool", tool, str), ("input", arguments, dict)):
        expected = "a string" if wanted is str else "an object"
        if name not in value:
            return _wrong("missing_field", f"$.{name}", expected, "nothing")
        if not isinstance(found, wanted):
            return _wrong("wrong_type", f"$.{name}", expected, _kind(found))
    assert isinstance(tool, str) and isinstance(arguments, dict)
    return Action(tool, arguments, note)


def _kind(value: object) -> str:
    names = {
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")
