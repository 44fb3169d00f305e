"""Which lines run, cheaply: one set of lines for each code object of the project, taken and emptied on demand.

A code object is known by its identity: alike functions of two files compare equal, and must not be taken for one.

Two collectors of one shape. From Python 3.12 ``sys.monitoring``, where a line that was seen once costs nothing more;
below that ``sys.settrace``, where a code object is left alone once all its lines were seen, or once its last
``STALE_CALLS`` calls brought no new line (rare lines of much-called functions can then be missed).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

STALE_CALLS = 300
TOOL = 4
MONITORING = "monitoring"
OUTSIDE = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep, os.sep + ".venv" + os.sep)

if TYPE_CHECKING:
    Taken = list[tuple[CodeType, set[int]]]


class Files:
    """Decides which code belongs to the project: Python files beneath its root that are not an installed library."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root) + os.sep
        self.known: dict[str, str | None] = {}

    def path(self, filename: str) -> str | None:
        """Root-relative path with ``/``, or None for what is not the project's."""
        try:
            return self.known[filename]
        except KeyError:
            found = self.known[filename] = self._path(filename)
            return found

    def _path(self, filename: str) -> str | None:
        if not filename.endswith(".py"):
            return None
        real = os.path.realpath(filename)
        if not real.startswith(self.root):
            return None
        inside = real[len(self.root) - 1 :]
        if any(part in inside for part in OUTSIDE) or inside.startswith((os.sep + "venv" + os.sep,)):
            return None
        return inside[1:].replace(os.sep, "/")


def code_lines(code: CodeType) -> set[int]:
    """Line numbers that can run in a code object itself."""
    if hasattr(code, "co_lines"):
        return {line for _, _, line in code.co_lines() if line is not None and line > 0}
    lines = set()
    line = code.co_firstlineno
    for step in code.co_lnotab[1::2]:
        line += step - 256 if step > 127 else step
        lines.add(line)
    return lines | {code.co_firstlineno}


class TraceLines:
    """Collector on ``sys.settrace``."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.codes: dict[int, _Code] = {}
        """By identity; each holds its code object, so that no identity is given anew."""
        self.touched: list[_Code] = []

    def start(self) -> None:
        threading.settrace(self.call)
        sys.settrace(self.call)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]

    def call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        known = self.codes.get(id(code))
        if known is None:
            if self.files.path(code.co_filename) is None:
                return None
            known = self.codes[id(code)] = _Code(code)
        if not known.calls:
            self.touched.append(known)
        known.calls += 1
        seen = len(known.seen)
        if seen >= known.total:
            return None
        if seen > known.before:
            known.before, known.quiet = seen, 0
        else:
            known.quiet += 1
            if known.quiet > STALE_CALLS:
                return None
        return known.local

    def take(self) -> Taken:
        """What ran since the last call of this, and start anew."""
        taken: Taken = []
        for known in self.touched:
            taken.append((known.code, set(known.seen)))
            known.seen.clear()
            known.calls = known.before = known.quiet = 0
        self.touched = []
        return taken


class _Code:
    """One code object's lines in the present context."""

    __slots__ = ("before", "calls", "code", "local", "quiet", "seen", "total")

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.total = len(code_lines(code) - {code.co_firstlineno}) or 1
        self.calls = self.before = self.quiet = 0
        self.seen: set[int] = set()
        self.local = _local(self.seen.add)


def _local(add: Callable[[int], None]) -> Callable[[FrameType, str, Any], Any]:
    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            add(frame.f_lineno)
        return local

    return local


class MonitorLines:
    """Collector on ``sys.monitoring`` (Python 3.12 and later)."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.monitoring: Any = getattr(sys, MONITORING)
        self.seen: dict[int, tuple[CodeType, set[int]]] = {}

    def start(self) -> None:
        events = self.monitoring.events
        self.monitoring.use_tool_id(TOOL, "rootproof")
        self.monitoring.register_callback(TOOL, events.LINE, self.line)
        self.monitoring.set_events(TOOL, events.LINE)

    def stop(self) -> None:
        self.monitoring.set_events(TOOL, 0)
        self.monitoring.free_tool_id(TOOL)

    def line(self, code: CodeType, number: int) -> Any:
        if self.files.path(code.co_filename) is not None:
            self.seen.setdefault(id(code), (code, set()))[1].add(number)
        return self.monitoring.DISABLE

    def take(self) -> Taken:
        taken, self.seen = list(self.seen.values()), {}
        self.monitoring.restart_events()
        return taken


def collector(files: Files) -> Any:
    """The cheaper collector that this interpreter has and nobody else uses."""
    if hasattr(sys, MONITORING) and getattr(sys, MONITORING).get_tool(TOOL) is None:
        return MonitorLines(files)
    return TraceLines(files)


class Blocks:
    """Sends each distinct (code object, set of lines) once; contexts then name them by number."""

    def __init__(self, files: Files, send: Callable[[dict[str, Any]], None]) -> None:
        self.files = files
        self.send = send
        self.known: dict[tuple[int, frozenset[int]], tuple[int, CodeType]] = {}

    def numbers(self, taken: Taken) -> list[int]:
        return [self._number(code, frozenset(lines)) for code, lines in taken]

    def _number(self, code: CodeType, lines: frozenset[int]) -> int:
        key = (id(code), lines)
        if key not in self.known:
            number = len(self.known)
            self.known[key] = number, code
            self.send(
                {
                    "block": number,
                    "file": self.files.path(code.co_filename),
                    "name": code.co_name,
                    "first": code.co_firstlineno,
                    "lines": sorted(lines),
                }
            )
        return self.known[key][0]
