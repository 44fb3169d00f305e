"""The stages of a diagnosis, in their order: trace, search, read, confirm, give up. Each says why in one line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from rootproof.models.detective import conditions, rivals
from rootproof.models.detective.leads import lead
from rootproof.models.detective.memory import Memory, key
from rootproof.models.interface import Reply, View

SEARCHES = (300, 600)
"""Changes tried in the first and in the second search."""

FUNCTIONS_READ = 4
"""Leading functions whose changes are read up before anything is confirmed."""

Message = dict[str, Any]
Stage = Callable[[Memory, Mapping[str, Any]], Message | None]


class Detective:
    """Proposes the next step of a diagnosis from the view alone."""

    name = "detective"
    notice = ""

    def __init__(self) -> None:
        self._memory = Memory()

    def propose(self, view: View) -> Reply:
        """The first stage that has something to do proposes it."""
        seen = json.loads(view.text)
        self._memory.notice(seen)
        for stage in STAGES:
            message = stage(self._memory, seen)
            if message is not None:
                return Reply(json.dumps(message))
        return Reply(json.dumps(_final(lead(self._memory))))


def _action(tool: str, why: str, **fields: Any) -> Message:
    return {"type": "action", "tool": tool, "input": fields, "note": why[:300]}


def _final(why: str) -> Message:
    return {"type": "final", "note": why[:300]}


def target(view: Mapping[str, Any]) -> str:
    """The test the diagnosis is about, as the contract's settings say: of all tools, or of one."""
    tools = view.get("tools", {})
    told = [view, *(tools.get(tool, {}) for tool in ("try_change", "trace_test"))]
    found = [each.get("settings", {}).get("target") for each in told]
    return next((each for each in found if isinstance(each, str)), "")


def conclude(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """Nothing is missing: ask to stop."""
    return None if view.get("missing") else _final("every criterion is met")


def trace(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """See what the failing test executes, and which functions are suspect."""
    if memory.traced:
        return None
    memory.traced = True
    return _action(
        "trace_test", "trace: which code does the failing test run, and the passing ones not?", test=target(view)
    )


def read(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """Read what the leading changes would alter before trying one: a span that was not read supports nothing.

    The other side of a relation is usually among them.
    """
    if memory.next_flip() is None:
        return None
    for flip in memory.leading(FUNCTIONS_READ):
        place = memory.unread((e["path"], e["start"], e["end"]) for e in flip["edits"])
        if place is not None:
            return _read(place, f"read: {flip_words(flip)} turned the test green once")
    return None


def read_spans(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """A change was supported, but one of its places was never read: read it, then ask for the same once more."""
    if not memory.supported or not any(str(m).startswith("read ") for m in view.get("missing", ())):
        return None
    found = memory.supported[-1]
    place = memory.unread((s["path"], s["first"], s["last"]) for s in found["spans"])
    if place is not None:
        return _read(place, "read: a place of the supported change that was not read yet")
    if memory.again:
        return None
    memory.again = True
    return _action("try_change", "confirm once more, now that all is read", target=target(view), edits=found["edits"])


def _read(place: tuple[str, int, int], why: str) -> Message:
    return _action("read_file", why, path=place[0], start=place[1], end=place[2])


def rival(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """A change is confirmed: put the clean changes of other places through the protocol too, for they rival it."""
    flip = rivals.left(memory)
    if flip is None:
        return None
    memory.tried[key(flip["edits"])] = "asked"
    return _action("try_change", f"rival: {flip_words(flip)}", target=target(view), edits=flip["edits"])


def confirm(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """Put the best change through the whole protocol."""
    flip = memory.next_flip()
    if flip is None:
        return None
    memory.tried[key(flip["edits"])] = "asked"
    return _action("try_change", f"confirm: {flip_words(flip)}", target=target(view), edits=flip["edits"])


def search(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """Look for changes that turn the test green; wider the second time."""
    if "search_changes" not in view.get("tools", {}) or memory.searches >= len(SEARCHES):
        return None
    most = SEARCHES[memory.searches]
    memory.searches += 1
    return _action(
        "search_changes", f"search: up to {most} small changes of the suspects", test=target(view), most=most
    )


def flip_words(flip: Mapping[str, Any] | None) -> str:
    """A change in a few words."""
    return f"{flip.get('function', '?')}: {flip.get('note') or flip.get('operator', '')}" if flip else ""


def unequal(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """The target does not fail alike each time: no change of code can be confirmed, so look at the conditions."""
    if not memory.conditions.unequal:
        return None
    return condition(memory, view) or _final("the target does not fail alike each time, and no condition explains it")


def condition(memory: Memory, view: Mapping[str, Any]) -> Message | None:
    """Examine the next condition."""
    attempt = memory.conditions.next() if "try_condition" in view.get("tools", {}) else None
    if attempt is None:
        return None
    return _action("try_condition", f"condition: {conditions.words(attempt)}", target=target(view), **attempt)


STAGES: tuple[Stage, ...] = (
    conclude,
    trace,
    unequal,
    read_spans,
    rival,
    read,
    confirm,
    search,
    condition,
)
