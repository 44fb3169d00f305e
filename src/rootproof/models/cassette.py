"""The model traffic of a run in a file: recorded once, replayed exactly and offline, or stopped where a run departs.

What is compared is the whole view but for what no two runs have alike: the time and CPU left, and in output durations,
addresses of objects and names of throw-away folders. A cassette holds what the view holds (excerpts of the repository),
and is as private.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rootproof import canonical
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.models.interface import Model, Reply, View
from rootproof.text import one_line, quoted, whole

SCHEMA = "rootproof/cassette/1"
MAX_FILE = 64 * 1024 * 1024
_CLOCK = ("seconds", "cpu_seconds")
_CHANGING = re.compile(
    r"\b[0-9]+\.[0-9]+ ?s(?:ec|econds?)?\b|\b0x[0-9a-f]{6,16}\b"
    r"|\brootproof-(?:[a-z]+-)?[a-z0-9_]{8}\b|\bcopies-[0-9]+/[0-9a-f-]{20,}"
)
_REMEDY = "record it again with --record FILE"


class Recorder:
    """Another model, whose traffic is appended to a file. What was recorded before a crash stays usable."""

    def __init__(self, inner: Model, path: Path) -> None:
        """Create the file.

        Raises:
            ModelError: it cannot be written, or holds something else.
        """
        self._inner = inner
        self._path = path
        self.name = inner.name
        self.notice = getattr(inner, "notice", "")
        self.prompt = getattr(inner, "prompt", "")
        self.needs_token_limit = getattr(inner, "needs_token_limit", False)
        try:
            if path.exists() and path.stat().st_size:
                _read(path)
            else:
                self._append({"schema": SCHEMA, "model": self.name})
        except OSError as error:
            raise ModelError(f"{quoted(str(path))} cannot be written: {error.strerror or error}") from None

    def propose(self, view: View) -> Reply:
        """Ask the other model, and write down what it was shown and what it said.

        Raises:
            ModelUnavailable: as the other model does; nothing is recorded then.
        """
        reply = self._inner.propose(view)
        shown = _compared(view)
        said = {**asdict(reply), "text": whole(reply.text), "label": ""}
        self._append({"step": shown["step"], "view": shown, "reply": said})
        return reply

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry, ensure_ascii=True, sort_keys=True) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(line)


class Cassette:
    """A recording as the model."""

    notice = ""
    needs_token_limit = False

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            ModelError: it is missing, damaged or something else.
        """
        self._model, self._entries = _read(path)
        self.name = f"cassette:{self._model}"

    def propose(self, view: View) -> Reply:
        """What the recorded model said to the same view.

        Raises:
            ModelUnavailable: the run departs from the recording here; says where.
        """
        shown = _compared(view)
        recorded = [entry for entry in self._entries if entry["step"] == shown["step"]]
        if not recorded:
            last = max((entry["step"] for entry in self._entries), default=0)
            raise ModelUnavailable(f"the recording ends after step {last}; step {shown['step']} was asked for", _REMEDY)
        for entry in recorded:
            if canonical.digest(entry["view"]) == canonical.digest(shown):
                return Reply(**entry["reply"])
        where = _difference(recorded[-1]["view"], shown, "$")
        raise ModelUnavailable(f"step {shown['step']} departs from the recording: {where}", _REMEDY)


def _compared(view: View) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(_CHANGING.sub("_", view.text))
    left = shown.get("left")
    if isinstance(left, dict):
        shown["left"] = {key: value for key, value in left.items() if key not in _CLOCK}
    return shown


def _difference(then: Any, now: Any, place: str) -> str:
    """The first place where two values differ, with both."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now}):
            if then.get(key) != now.get(key) or (key in then) != (key in now):
                return _difference(then.get(key), now.get(key), f"{place}.{one_line(str(key), 60)}")
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (one, other) in enumerate(zip(then, now, strict=True)):
            if one != other:
                return _difference(one, other, f"{place}[{number}]")
    one, other = _shown(then), _shown(now)
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(at - 30, 0)
    where = f" from character {at + 1}" if start else ""
    return f"{place}{where} was {quoted(one[start:], 90)}, is {quoted(other[start:], 90)}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _read(path: Path) -> tuple[str, list[dict[str, Any]]]:
    try:
        if path.stat().st_size > MAX_FILE:
            raise ModelError(f"{quoted(str(path))} has more than {MAX_FILE >> 20} MiB", _REMEDY)
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ModelError(f"{quoted(str(path))} cannot be read: {error.strerror or error}", _REMEDY) from None
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(json.loads(line))
        except (ValueError, RecursionError):
            raise ModelError(f"{quoted(str(path))} line {number} is damaged", _REMEDY) from None
    head = entries[0] if entries else None
    if not isinstance(head, dict) or head.get("schema") != SCHEMA or not isinstance(head.get("model"), str):
        raise ModelError(f"{quoted(str(path))} is no recording of this version", _REMEDY)
    for number, entry in enumerate(entries[1:], 2):
        if not _is_entry(entry):
            raise ModelError(f"{quoted(str(path))} line {number} is no recorded call", _REMEDY)
    return head["model"], entries[1:]


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or type(entry.get("step")) is not int or not isinstance(entry.get("view"), dict):
        return False
    reply = entry.get("reply")
    if not isinstance(reply, dict) or set(reply) != {"text", "finish", "tokens", "cost", "label"}:
        return False
    texts = all(isinstance(reply[key], str) for key in ("text", "finish", "label"))
    return texts and type(reply["tokens"]) is int and isinstance(reply["cost"], int | float)
