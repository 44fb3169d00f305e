"""What is said where nothing could be confirmed: where a person should look next, and why. A lead is no conclusion.

Each lead is a rule over what the run has seen; the first that fits is given. None names a project, a test or a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rootproof.models.detective.memory import Memory

Lead = Callable[[Memory, Mapping[str, Any]], str]

ABSENT = re.compile(
    r"has no attribute|cannot import name|No module named|unexpected keyword argument|"
    r"takes \d+ positional arguments?|missing \d+ required|is not defined|fixture '"
)
"""What Python says where something asked for is not there."""


def lead(memory: Memory) -> str:
    """The first lead that fits; never empty."""
    traced = memory.trace
    return next(text for rule in LEADS if (text := rule(memory, traced)))


def does_not_fail(memory: Memory, traced: Mapping[str, Any]) -> str:
    if traced.get("status") in ("failed", "error"):
        return ""
    problems = traced.get("problems")
    why = f": {problems[0]}" if isinstance(problems, list) and problems else ""
    ended = traced.get("status", "unknown")
    if ended == "passed":
        return "lead: it passed when it was traced; look at the order of tests, time, or what else varies"
    return f"lead: its traced run ended as {ended}, so nothing was searched{why}"


def set_up(memory: Memory, traced: Mapping[str, Any]) -> str:
    if traced.get("phase") in ("setup", "teardown") and _raised_in_tests(traced):
        return f"lead: a fixture fails, in {traced['phase']}: {_said(traced)}"
    return ""


def not_there(memory: Memory, traced: Mapping[str, Any]) -> str:
    if _raised_in_tests(traced) and ABSENT.search(str(traced.get("message"))):
        return f"lead: the test asks for something that is not there (missing feature? test too new?): {_said(traced)}"
    return ""


def nothing_runs(memory: Memory, traced: Mapping[str, Any]) -> str:
    if traced.get("functions"):
        return ""
    return (
        "lead: the failing test runs none of the project's own functions; look at the test, its data and its fixtures"
    )


def contradicted(memory: Memory, traced: Mapping[str, Any]) -> str:
    if not memory.flips or any(flip.get("clean") for flip in memory.flips):
        return ""
    return (
        f"lead: {len(memory.flips)} changes turn it green, each breaks a passing test: several edits are needed, or "
        f"the tests contradict each other; first in {memory.flips[0].get('function')}"
    )


def did_not_hold(memory: Memory, traced: Mapping[str, Any]) -> str:
    if not memory.verdicts:
        return ""
    function, rule = memory.verdicts[-1]
    return f"lead: changes in {function} turn it green, but none held in cold runs (the last: {rule})"


def not_reached(memory: Memory, traced: Mapping[str, Any]) -> str:
    if memory.tries:
        return (
            f"lead: none of {memory.tries} small changes of the suspects turns it green: the fix is larger, or lies in "
            "data or code that does not run; the suspects are ranked"
        )
    return "lead: nothing could be tried; the suspects are ranked by what runs in the failing test alone"


LEADS: tuple[Lead, ...] = (does_not_fail, set_up, not_there, nothing_runs, contradicted, did_not_hold, not_reached)


def _raised_in_tests(traced: Mapping[str, Any]) -> bool:
    """Whether the deepest frame of the project's is a test file's or a conftest's."""
    frames = traced.get("frames")
    if not isinstance(frames, list) or not frames:
        return True
    name = str(frames[-1][0]).rsplit("/", 1)[-1]
    return name.startswith("test") or name.endswith("_test.py") or name == "conftest.py"


def _said(traced: Mapping[str, Any]) -> str:
    return f"{traced.get('exception')}: {str(traced.get('message')).splitlines()[0] if traced.get('message') else ''}"
