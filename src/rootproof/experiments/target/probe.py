"""Values at a line while tests run. Nothing of the project is called for it: no property, no method, no comparison.

An expression comes as a plan made of names, attributes, constant items and comparisons. An attribute is read where it
is stored; what would have to be computed is refused. Values are shown only if they are made of exact builtin types.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from .channel import Channel
from .lines import Files
from .session import Plugin
from .story import SCALARS, simple

MOST_KEYS = 10_000
MISSING = object()
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
}


class Refused(Exception):
    """The value cannot be had without running code of the project; the message says why."""


def value_of(plan: list[Any], frame: FrameType) -> Any:
    """The value of a plan in a frame.

    Raises:
        Refused: it would have to be computed, or is not there.
    """
    kind = plan[0]
    if kind == "const":
        return plan[1]
    if kind == "name":
        return _name(plan[1], frame)
    if kind == "attr":
        return _attribute(value_of(plan[1], frame), plan[2])
    if kind == "item":
        return _item(value_of(plan[1], frame), plan[2])
    return _compared(plan[1], value_of(plan[2], frame), value_of(plan[3], frame))


def _name(name: str, frame: FrameType) -> Any:
    for space in (frame.f_locals, frame.f_globals):
        if name in space:
            return space[name]
    raise Refused(f"there is no name {name} here")


def _attribute(owner: Any, name: str) -> Any:
    if type(owner) is ModuleType:
        found = ModuleType.__getattribute__(owner, "__dict__").get(name, MISSING)
    else:
        found = inspect.getattr_static(owner, name, MISSING)
    if found is MISSING:
        raise Refused(f"{name} is not stored there")
    if type(found) is MemberDescriptorType:
        return _slot(found, owner, name)
    if type(found) is GetSetDescriptorType or inspect.getattr_static(type(found), "__get__", MISSING) is not MISSING:
        raise Refused(f"{name} is computed: reading it would run code")
    return found


def _slot(slot: Any, owner: Any, name: str) -> Any:
    try:
        return slot.__get__(owner, type(owner))
    except AttributeError:
        raise Refused(f"{name} has no value") from None


def _item(owner: Any, key: Any) -> Any:
    if type(owner) is dict:
        for number, (known, value) in enumerate(owner.items()):
            if number >= MOST_KEYS:
                raise Refused("it has too many keys to look through")
            if type(known) is type(key) and known == key:
                return value
        raise Refused(f"there is no key {key!r}")
    if type(owner) in (list, tuple, str, bytes) and type(key) is int:
        if -len(owner) <= key < len(owner):
            return owner[key]
        raise Refused(f"it has {len(owner)} items")
    raise Refused("only a plain dict, list, tuple or text can be indexed without running code")


def _compared(operator: str, left: Any, right: Any) -> bool:
    if operator not in ("is", "is not") and not (type(left) in SCALARS and type(right) in SCALARS):
        raise Refused("only plain numbers, texts, booleans and None can be compared without running code")
    try:
        return bool(COMPARE[operator](left, right))
    except TypeError as error:
        raise Refused(str(error)) from None


def shown(value: Any) -> str:
    """A bounded text; of what is not made of builtin types only the type's name."""
    text = simple(value)
    if text is not None:
        return text
    name = type.__dict__["__name__"].__get__(type(value))
    if type(value) in (str, bytes, list, tuple, dict, set, frozenset):
        return f"<{name} of {len(value)}>"
    return f"<{name}>"


class Point:
    """One line with its expressions, and what was seen there in one test."""

    def __init__(self, expressions: list[list[Any]], most: int) -> None:
        self.plans = expressions
        self.most = most
        self.clear()

    def clear(self) -> None:
        self.hits = 0
        self.values: list[list[str]] = [[] for _ in self.plans]
        self.last: list[str] = ["" for _ in self.plans]
        self.refused: list[str] = ["" for _ in self.plans]

    def hit(self, frame: FrameType) -> None:
        self.hits += 1
        for number, plan in enumerate(self.plans):
            try:
                text = shown(value_of(plan, frame))
            except Refused as refused:
                self.refused[number] = self.refused[number] or str(refused)[:200]
                continue
            self.last[number] = text
            if len(self.values[number]) < self.most:
                self.values[number].append(text)

    def record(self, test: str, status: str) -> dict[str, Any]:
        return {
            "probed": test,
            "status": status,
            "hits": self.hits,
            "values": self.values,
            "last": self.last,
            "refused": self.refused,
        }


class Probe:
    """Runs the requested tests one after the other, watching one line."""

    def __init__(self, request: dict[str, Any], files: Files, out: Channel) -> None:
        self.request = request
        self.files = files
        self.out = out
        self.point = Point(request["plans"], int(request["most"]))
        self.known: dict[int, tuple[CodeType, bool]] = {}
        """Whether a code object of the file holds the line, by identity; it is kept, so that none is given anew."""

    def before(self, plugin: Plugin) -> None:
        """Nothing is watched while the tests are collected."""

    def run(self, plugin: Plugin) -> None:
        for test in self.request["tests"]:
            if test not in plugin.items:
                self.out.send({"missing": test})
                continue
            self.point.clear()
            plugin.around = self._around
            outcome = plugin.run(plugin.items[test])
            plugin.around = None
            self.out.send(self.point.record(test, outcome.status))

    def _around(self, phase: str, begins: bool) -> None:
        watch = self._call if begins and phase != "teardown" else None
        threading.settrace(watch)  # type: ignore[arg-type,unused-ignore]
        sys.settrace(watch)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if self.files.path(code.co_filename) != self.request["file"]:
            return None
        if id(code) not in self.known:
            last = (
                max((line or 0 for _, _, line in code.co_lines()), default=0) if hasattr(code, "co_lines") else 1 << 30
            )
            self.known[id(code)] = code, code.co_firstlineno <= self.request["line"] <= last
        return self._line if self.known[id(code)][1] else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line" and frame.f_lineno == self.request["line"]:
            self.point.hit(frame)
        return self._line


def work(request: dict[str, Any], place: str, files: Files, out: Channel) -> Probe:
    return Probe(request, files, out)
