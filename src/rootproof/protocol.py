"""The messages a model may send, strictly parsed from raw text: action and final, and in plan mode a plan.

Parsing judges the envelope only. Which tools, tests and paths exist, and which fields an input may have, is
authorisation's business (``policy``). Nothing is ever repaired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootproof import strict_json
from rootproof.canonical import Json
from rootproof.plan import PlanStep
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


@dataclass(frozen=True)
class Plan:
    """A request to have steps laid down. Legal in plan mode only."""

    steps: tuple[PlanStep, ...]
    note: str = ""


Message = Action | Final | Plan | Malformed


def parse(text: str, finish: str = "stop", plans: bool = False) -> Message:
    """Judge the envelope of one raw message. Never raises.

    Args:
        finish: how the model's turn ended, a key of :data:`FINISHES`.
        plans: whether a plan is legal.
    """
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
    return _envelope(value, plans)


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


_KEYS = {"action": ("type", "tool", "input", "note"), "final": ("type", "note"), "plan": ("type", "steps", "note")}
_STEP_KEYS = (*_KEYS["action"], "expects")


def _envelope(value: strict_json.Value, plans: bool) -> Message:
    if not isinstance(value, dict):
        return _wrong("wrong_type", "$", "an object", _kind(value))
    types = "'action', 'plan' or 'final'" if plans else "'action' or 'final'"
    kind = value.get("type")
    if "type" not in value:
        keys = ", ".join(repr(key[:40]) for key in list(value)[:6])
        return _wrong("missing_field", "$.type", types, f"an object with {keys or 'no keys'}")
    if not isinstance(kind, str):
        return _wrong("wrong_type", "$.type", types, _kind(kind))
    if kind not in _KEYS or (kind == "plan" and not plans):
        return _wrong("invalid_value", "$.type", types, repr(kind[:40]))
    wrong = _closed(value, "$", _KEYS[kind])
    if wrong:
        return wrong
    note = str(value.get("note", ""))[:MAX_NOTE]
    if kind == "final":
        return Final(note)
    return _plan(value, note) if kind == "plan" else _action(value, "$", note)


def _closed(value: dict[str, strict_json.Value], place: str, allowed: tuple[str, ...]) -> Malformed | None:
    """Only known keys, and a note that is text."""
    for key in value:
        if key not in allowed:
            return _wrong("unknown_field", f"{place}.{key[:40]}", f"only {', '.join(allowed)}", repr(key[:40]))
    note = value.get("note", "")
    return None if isinstance(note, str) else _wrong("wrong_type", f"{place}.note", "a string", _kind(note))


_EXPECTS: dict[type, str] = {str: "a string", dict: "an object", list: "an array"}


def _field(value: dict[str, strict_json.Value], place: str, name: str, wanted: type) -> Malformed | None:
    expected = _EXPECTS[wanted]
    if name not in value:
        return _wrong("missing_field", f"{place}.{name}", expected, "nothing")
    found = value[name]
    return None if isinstance(found, wanted) else _wrong("wrong_type", f"{place}.{name}", expected, _kind(found))


def _action(value: dict[str, strict_json.Value], place: str, note: str) -> Action | Malformed:
    wrong = _field(value, place, "tool", str) or _field(value, place, "input", dict)
    if wrong:
        return wrong
    tool, arguments = value["tool"], value["input"]
    assert isinstance(tool, str) and isinstance(arguments, dict)
    return Action(tool, arguments, note)


def _plan(value: dict[str, strict_json.Value], note: str) -> Plan | Malformed:
    wrong = _field(value, "$", "steps", list)
    if wrong:
        return wrong
    steps = value["steps"]
    assert isinstance(steps, list)
    if not steps:
        return _wrong("invalid_value", "$.steps", "at least one step", "an empty array")
    read: list[PlanStep] = []
    for number, step in enumerate(steps):
        one = _plan_step(step, f"$.steps[{number}]")
        if isinstance(one, Malformed):
            return one
        read.append(one)
    return Plan(tuple(read), note)


def _plan_step(value: strict_json.Value, place: str) -> PlanStep | Malformed:
    """A step is an action, whose type may be left out, or a final."""
    if not isinstance(value, dict):
        return _wrong("wrong_type", place, "an object", _kind(value))
    kind = value.get("type", "action")
    if kind not in ("action", "final"):
        return _wrong("invalid_value", f"{place}.type", "'action' or 'final'", one_line(repr(kind), 60))
    wrong = _closed(value, place, _STEP_KEYS if kind == "action" else _KEYS["final"])
    if wrong:
        return wrong
    note = str(value.get("note", ""))[:MAX_NOTE]
    if kind == "final":
        return PlanStep(type="final", note=note)
    expects = value.get("expects", [])
    if not isinstance(expects, list) or not all(isinstance(name, str) for name in expects):
        return _wrong("wrong_type", f"{place}.expects", "an array of strings", _kind(expects))
    action = _action(value, place, note)
    if isinstance(action, Malformed):
        return action
    names = tuple(name for name in expects if isinstance(name, str))
    return PlanStep(tool=action.tool, input=dict(action.input), expects=names, note=note)


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
