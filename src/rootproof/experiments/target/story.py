"""One test told in full: lines with their order, calls, returns with simple values, exceptions and who swallowed them.

Used for the failing test alone, for it is far dearer than ``lines``. It stops looking inside a code object after
``EVENTS_A_CODE`` line events and altogether after the seconds it was given; the record then says ``cut``.
"""

from __future__ import annotations

import sys
import threading
import time
from types import CodeType, FrameType
from typing import Any

from .lines import Files

EVENTS_A_CODE = 20000
VALUES_A_FUNCTION = 60
SCALARS = (str, int, float, bool, bytes, type(None), complex)
CONTAINERS = (list, tuple, dict, set, frozenset)
TEXT = 300


def simple(value: Any, depth: int = 0) -> str | None:
    """``repr`` of a value made of exact builtin types only, so that no code of the project runs; else None."""
    kind = type(value)
    if kind in SCALARS:
        return repr(value)[:TEXT] if kind not in (str, bytes) or len(value) <= TEXT else None
    if kind not in CONTAINERS or len(value) > 20 or depth > 2:
        return None
    items = list(value.items()) if kind is dict else list(value)
    for item in items:
        for part in item if kind is dict else (item,):
            if simple(part, depth + 1) is None:
                return None
    text = repr(value)
    return text if len(text) <= TEXT else None


class Story:
    """The recorder. ``start`` and ``stop`` bracket one phase; what is recorded adds up over phases."""

    def __init__(self, files: Files, seconds: float) -> None:
        self.files = files
        self.until = time.monotonic() + seconds
        self.clock = 0
        self.phase = ""
        self.cut = False
        self.over = False
        self.lines: dict[tuple[str, str, int], list[int]] = {}
        self.calls: dict[tuple[str, int, str, int, str], int] = {}
        self.depths: dict[tuple[str, int, str], int] = {}
        self.returns: dict[tuple[str, int, str], list[tuple[int, str, int]]] = {}
        self.raised: dict[int, dict[str, Any]] = {}
        self.alive: list[BaseException | CodeType] = []
        """What is known by its identity: while it lives, no identity is given anew."""
        self.events: dict[int, int] = {}
        """Line events of a code object, by identity: alike functions of two files compare equal."""

    def start(self) -> None:
        threading.settrace(self.call)
        sys.settrace(self.call)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]

    def call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        path = self.files.path(code.co_filename)
        if path is None:
            return None
        self.clock += 1
        key = (path, code.co_firstlineno, code.co_name)
        depth = self._edge(frame, key)
        if depth < self.depths.get(key, 1 << 30):
            self.depths[key] = depth
        if self.over or self.events.get(id(code), 0) > EVENTS_A_CODE:
            self.cut = True
            return None
        return self.local

    def _edge(self, frame: FrameType, key: tuple[str, int, str]) -> int:
        """Count the call from the nearest frame of the project; its depth in frames of the project."""
        depth, back, caller = 0, frame.f_back, None
        steps = 0
        while back is not None and steps < 200:
            path = self.files.path(back.f_code.co_filename)
            if path is not None:
                depth += 1
                if caller is None:
                    caller = (path, back.f_lineno)
            back = back.f_back
            steps += 1
        if caller is not None:
            edge = (caller[0], caller[1], *key)
            self.calls[edge] = self.calls.get(edge, 0) + 1
        return depth

    def local(self, frame: FrameType, event: str, arg: Any) -> Any:
        path = self.files.path(frame.f_code.co_filename)
        if path is None:
            return None
        if event == "line":
            self._line(frame, path)
        elif event == "return":
            self._return(frame, path, arg)
        elif event == "exception":
            self._exception(frame, path, arg)
        return self.local

    def _line(self, frame: FrameType, path: str) -> None:
        self.clock += 1
        key = (self.phase, path, frame.f_lineno)
        seen = self.lines.get(key)
        if seen is None:
            self.lines[key] = [self.clock, self.clock, 1]
        else:
            seen[1] = self.clock
            seen[2] += 1
        code = frame.f_code
        count = self.events[id(code)] = self.events.get(id(code), 0) + 1
        if count == 1:
            self.alive.append(code)
        if count > EVENTS_A_CODE:
            frame.f_trace_lines = False
        if self.clock & 0x3FF == 0 and time.monotonic() > self.until:
            self.cut = self.over = True

    def _return(self, frame: FrameType, path: str, value: Any) -> None:
        code = frame.f_code
        kept = self.returns.setdefault((path, code.co_firstlineno, code.co_name), [])
        if len(kept) < VALUES_A_FUNCTION:
            text = simple(value)
            if text is not None and (not kept or kept[-1][:2] != (frame.f_lineno, text)):
                kept.append((frame.f_lineno, text, self.clock))

    def _exception(self, frame: FrameType, path: str, arg: Any) -> None:
        kind, value, _ = arg
        if kind in (StopIteration, GeneratorExit, StopAsyncIteration) or not isinstance(value, BaseException):
            return
        record = self.raised.get(id(value))
        if record is None:
            if len(self.raised) >= 200:
                return
            self.alive.append(value)
            record = self.raised[id(value)] = {"type": kind.__name__, "at": [path, frame.f_lineno], "through": []}
        record["through"].append([path, frame.f_lineno, frame.f_code.co_name])
        record["through"] = record["through"][-20:]

    def record(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {
            "lines": [[*key, *seen] for key, seen in self.lines.items()],
            "calls": [[*edge, count] for edge, count in self.calls.items()],
            "depths": [[*key, depth] for key, depth in self.depths.items()],
            "returns": [[*key, kept] for key, kept in self.returns.items()],
            "raised": list(self.raised.values()),
            "cut": self.cut,
        }
