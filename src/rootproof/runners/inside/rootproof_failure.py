"""PYTEST_DONT_REWRITE

A failure as structured fields: the type and own message of the exception, the two sides of a failed comparison, the
failing line, and a traceback with paths relative to the repository. Every text is bounded; no code of a failing
object may end the description (its ``repr`` and ``str`` are called under guard).
"""

from __future__ import annotations

import ast
import linecache
import math
import os
import sys
import traceback

from rootproof_channel import bounded

MESSAGE_LIMIT = 4000
TRACEBACK_LIMIT = 12000
VALUE_LIMIT = 2000
FRAME_LIMIT = 60
SAFE_INTEGER = 2**53
EQUALITY_METHODS = (
    "assertEqual",
    "assertEquals",
    "assertIs",
    "assertListEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertDictEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
    "assertCountEqual",
    "_baseAssertEqual",
)


class Comparison:
    """One failed ``==`` as the assertion hook saw it, tied to the frame and line it stands in."""

    def __init__(self, left: object, right: object, frame: object) -> None:
        self.actual = operand(left)
        self.expected = operand(right)
        self.frame = frame
        self.line = getattr(frame, "f_lineno", 0)


class Describer:
    """Knows the repository's root and what lies outside its own code."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._foreign = tuple({os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)} - {self._root})

    def describe(self, error: BaseException, phase: str, comparison: Comparison | None) -> dict[str, object]:
        """The record of one failure."""
        stack: list[tuple[object, int]] = list(traceback.walk_tb(error.__traceback__))
        described = {
            "exception": type(error).__name__,
            "message": bounded(own_message(error), MESSAGE_LIMIT).replace(self._root + os.sep, ""),
            "phase": phase,
            "traceback": bounded(self._text(error), TRACEBACK_LIMIT),
        }
        frames = [entry for entry in (self._entry(frame, line) for frame, line in stack) if entry]
        described["frames"] = [entry[:3] for entry in frames[-FRAME_LIMIT:]]
        shown = [entry for entry in frames if not entry[3]] or frames
        if shown:
            described["path"], described["line"] = shown[-1][0], shown[-1][1]
        described.update(sides(error, stack, comparison))
        return described

    def relative(self, filename: str) -> str:
        """Root-relative path of a file of the repository's own code, or an empty string."""
        if not filename or filename.startswith("<"):
            return ""
        path = os.path.realpath(filename)
        if not path.startswith(self._root + os.sep) or any(path.startswith(p + os.sep) for p in self._foreign):
            return ""
        inner = path[len(self._root) + 1 :]
        return "" if "site-packages" in inner.split(os.sep) else inner.replace(os.sep, "/")

    def _entry(self, frame: object, line: int) -> list[object] | None:
        code = frame.f_code  # type: ignore[attr-defined]
        path = self.relative(code.co_filename)
        hidden = bool(frame.f_locals.get("__tracebackhide__", False))  # type: ignore[attr-defined]
        return [path, line, code.co_name, hidden] if path else None

    def _text(self, error: BaseException) -> str:
        try:
            told = traceback.TracebackException(type(error), error, error.__traceback__, limit=None)
            trim(told, 0)
            return "".join(told.format()).replace(self._root + os.sep, "")
        except Exception as fault:
            return f"the traceback could not be formatted: {type(fault).__name__}"


def trim(told: traceback.TracebackException, depth: int) -> None:
    """Leave out the runner's own frames, in the whole chain."""
    told.stack[:] = [entry for entry in told.stack if not is_runner(entry.filename)]
    for link in (told.__cause__, told.__context__):
        if link is not None and depth < 20:
            trim(link, depth + 1)


def is_runner(filename: str) -> bool:
    parts = filename.replace(os.sep, "/").split("/")
    return any(name in parts for name in ("_pytest", "pluggy", "unittest")) or parts[-1].startswith("rootproof_")


def own_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as fault:
        return f"<str() of the exception raised {type(fault).__name__}>"


def sides(error: BaseException, stack: list[tuple[object, int]], comparison: Comparison | None) -> dict[str, object]:
    """Expected and actual value, where a comparison of exactly this failure is known."""
    if not isinstance(error, AssertionError) or not stack:
        return {}
    for frame, _line in stack:
        code, values = frame.f_code, frame.f_locals  # type: ignore[attr-defined]
        if code.co_name in EQUALITY_METHODS and "unittest" in code.co_filename and "second" in values:
            first = "first" if "first" in values else "seq1"
            return {"actual": operand(values.get(first)), "expected": operand(values["second"])}
    frame, line = stack[-1]
    if comparison is None or comparison.frame is not frame:
        return {}
    if not is_equality(frame.f_code.co_filename, line, comparison.line):  # type: ignore[attr-defined]
        return {}
    return {"actual": comparison.actual, "expected": comparison.expected}


def is_equality(filename: str, line: int, compared_line: int) -> bool:
    """Whether both lines lie in one ``assert`` that is a plain ``a == b`` and nothing more."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    inner = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            inner = node if inner is None or node.lineno >= inner.lineno else inner
    if inner is None or not inner.lineno <= compared_line <= (inner.end_lineno or inner.lineno):
        return False
    test = inner.test
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)


def operand(value: object) -> dict[str, object]:
    """Strings, numbers, booleans and None by value where JSON can hold them exactly, all else by bounded repr."""
    if value is None or type(value) is bool:
        return {"value": value, "by": "value"}
    if type(value) is int and abs(value) <= SAFE_INTEGER:
        return {"value": value, "by": "value"}
    if type(value) is float and math.isfinite(value):
        return {"value": value, "by": "value"}
    if type(value) is str and len(value) <= VALUE_LIMIT and is_text(value):
        return {"value": value, "by": "value"}
    return {"value": bounded(guarded_repr(value), VALUE_LIMIT), "by": "repr"}


def guarded_repr(value: object) -> str:
    try:
        return repr(value).encode("utf-8", "backslashreplace").decode("utf-8")
    except Exception as fault:
        return f"<repr() of {type(value).__name__} raised {type(fault).__name__}>"


def is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
