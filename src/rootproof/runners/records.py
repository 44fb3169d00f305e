"""The private channel, read from outside: lines of JSON into records, or why they cannot be trusted.

Every writer inside (pytest, unittest, vitest, node:test) uses one form: an object a line with the run's ``nonce``, a
sequence number ``seq`` from 0 without gaps, and a ``kind``. A record without the nonce, out of order, twice, or after
the ``end`` makes the whole transcript unknown. A last line cut short only says that the writer died.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from rootproof.sandbox.interface import Capture

MAX_LINE = 256 * 1024
MAX_RECORDS = 200_000
KINDS = frozenset(
    [
        "start",
        "running",
        "collected",
        "deselected",
        "collect_error",
        "collect_skip",
        "begin",
        "phase",
        "problem",
        "report",
        "finish",
        "end",
    ]
)

Record = Mapping[str, object]


@dataclass(frozen=True)
class Transcript:
    """What came over the channel."""

    records: tuple[Record, ...] = ()
    fault: str = ""
    """Why nothing here can be trusted; empty where it can."""


class Malformed(ValueError):
    """A record breaks the form. Becomes the transcript's fault, never leaves this package."""


def read(channel: Capture, nonce: str) -> Transcript:
    """Check the form of everything that came. Never raises."""
    if channel.dropped:
        return Transcript(fault=f"the result channel overflowed: {channel.dropped} bytes were lost")
    lines = (channel.head + channel.tail).split(b"\n")
    lines.pop()
    records: list[Record] = []
    try:
        if len(lines) > MAX_RECORDS:
            raise Malformed(f"more than {MAX_RECORDS} records")
        for place, line in enumerate(lines):
            records.append(_record(line, nonce, place))
            if place and records[-2]["kind"] == "end":
                raise Malformed("a record came after the end of the session")
    except Malformed as malformed:
        return Transcript(tuple(records), fault=str(malformed))
    return Transcript(tuple(records))


def _record(line: bytes, nonce: str, place: int) -> Record:
    if len(line) > MAX_LINE:
        raise Malformed(f"record {place} is longer than {MAX_LINE} bytes")
    try:
        record = json.loads(
            line.decode("ascii"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_small,
        )
    except (ValueError, RecursionError):
        raise Malformed(f"record {place} is not one JSON object") from None
    if not isinstance(record, dict):
        raise Malformed(f"record {place} is not one JSON object")
    if record.get("nonce") != nonce:
        raise Malformed(f"record {place} does not carry this run's mark: somebody else wrote to the channel")
    if type(record.get("seq")) is not int or record["seq"] != place:
        raise Malformed(f"record {place} is out of order or came twice")
    if record.get("kind") not in KINDS:
        raise Malformed(f"record {place} is of an unknown kind")
    return record


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def _small(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError("too many digits")
    return int(digits)


def _no_constant(name: str) -> object:
    raise ValueError(name)


def text(record: Record, key: str) -> str:
    """A text field; absent or null reads as empty.

    Raises:
        Malformed: it is something else.
    """
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{record.get('kind')}: {key} is not text")
    return value


def shown(record: Record, key: str) -> str:
    """A text field made safe to show: control characters other than newline and tab as visible escapes."""
    return visible(text(record, key))


def visible(value: str) -> str:
    """Escape control characters (C0, DEL, C1) and what UTF-8 cannot hold."""
    whole = value.encode("utf-8", "backslashreplace").decode("utf-8")
    if whole.isprintable():
        return whole
    return "".join(c if c in "\n\t" or not _is_control(c) else f"\\x{ord(c):02x}" for c in whole)


def _is_control(character: str) -> bool:
    return ord(character) < 32 or 127 <= ord(character) < 160


def number(record: Record, key: str) -> float:
    """A number field; absent reads as 0.

    Raises:
        Malformed: it is something else.
    """
    value = record.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"{record.get('kind')}: {key} is not a number")
    return float(value)


def texts(record: Record, key: str) -> tuple[str, ...]:
    """A list of texts; absent reads as empty.

    Raises:
        Malformed: it is something else.
    """
    value = record.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise Malformed(f"{record.get('kind')}: {key} is not a list of texts")
    return tuple(value)
