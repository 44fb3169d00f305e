"""What a model is shown: a detached JSON text of bounded size, rendered from the state. Pure.

The fixed part (goal, criteria, limits, tools) comes first and is the same text at every step of a run, so a provider
can cache it. All text that came from outside stands inside JSON strings, with invisible and control characters as
visible escapes: it is data, and nothing in it can end or begin anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rootproof import completion, mode
from rootproof.contract import Contract
from rootproof.frame import Frame, bounded, cut, encoded
from rootproof.models.interface import View
from rootproof.seen import Seen
from rootproof.state import State
from rootproof.text import one_line, visible

CEILING = 12_000
"""Most characters of a view, however long the run gets."""
LAST = 4_500
"""Most characters of the last observation."""
FACTS = 2_000
MISSING = 1_800
EARLIER = 2_500
"""Most characters of an earlier observation that is shown whole again."""
EARLIER_LINES = 24
EARLIER_LINE = 120
"""Characters kept free for the line of an earlier observation."""
FOR_EARLIER = 800
"""Characters that the last observation leaves to earlier ones, where there are any."""


def render(contract: Contract, frame: Frame, state: State) -> View:
    """The view of the message now asked for."""
    told: dict[str, object] = {
        "step": state.step + 1,
        "consecutive_parse_errors": state.consecutive_parse_errors,
        "consecutive_invalid_actions": state.consecutive_invalid_actions,
        "no_progress": state.no_progress,
        "left": _left(contract, state),
        "facts": _facts(frame, state),
        "missing": bounded((cut(text, 300) for text in completion.missing_words(contract, state)), MISSING),
        "refused": one_line(state.refusal, 600) if state.refusal else None,
        **mode.told(contract, state),
        "your_last_note": one_line(state.note, 300) if state.note else None,
    }
    words, last = encoded(told), "null"
    room = CEILING - len(frame.text) - len(words) - len(', "last": null, "earlier": []') - 40
    if state.last is not None:
        reserved = min(FOR_EARLIER, EARLIER_LINE * len(state.trail))
        last = _last(state, min(LAST, max(room - reserved, min(room, LAST // 2), 200)))
        room -= len(last) - len("null")
    text = _joined(frame, words, last, f"[{', '.join(_earlier(state, room))}]")
    return View(_sealed(frame, told, last) if len(text) > CEILING else text, len(frame.text))


def _joined(frame: Frame, told: str, last: str, earlier: str) -> str:
    """The whole view, from parts that are JSON already."""
    return f'{frame.text}, {told[1:-1]}, "last": {last}, "earlier": {earlier}}}'


def _sealed(frame: Frame, told: dict[str, object], last: str) -> str:
    """A view that would be over the ceiling: what is least useful goes first, and says so."""
    gone = "left out: no room"
    text = _joined(frame, encoded(told), last, encoded(gone))
    for key in ("your_last_note", "last", "missing", "facts"):
        if len(text) <= CEILING:
            break
        if key == "last":
            last = encoded(gone)
        else:
            told[key] = gone
        text = _joined(frame, encoded(told), last, encoded(gone))
    return text


def _left(contract: Contract, state: State) -> dict[str, float]:
    budget, spent = contract.budget, state.spent
    limits = {
        "seconds": (budget.seconds, spent.seconds),
        "cpu_seconds": (budget.cpu_seconds, spent.cpu_seconds),
        "test_runs": (budget.test_runs, spent.test_runs),
        "model_tokens": (budget.model_tokens, spent.model_tokens),
    }
    left: dict[str, float] = {"steps": budget.max_steps - state.step}
    left.update({name: round(limit - used, 1) for name, (limit, used) in limits.items() if limit is not None})
    return left


def _facts(frame: Frame, state: State) -> dict[str, object]:
    """A flat object: name → value; several subjects of one name, and what was seen, as lists."""
    flat: dict[str, list[object]] = {name: [] for name in sorted(frame.append)}
    size = 0
    for fact in state.facts.values():
        value = _inert(fact.value) if isinstance(fact.value, str) else fact.value
        if fact.standing != "held":
            value = f"({fact.standing})"
        size += len(fact.name) + len(str(value)) + 8
        if size > FACTS:
            break
        flat.setdefault(fact.name, []).append(value)
    told: dict[str, object] = {}
    for name, distinct in ((name, list(dict.fromkeys(values))) for name, values in flat.items()):
        told[name] = distinct[0] if len(distinct) == 1 and name not in frame.append else distinct
    return told if size <= FACTS else {**told, "...": "more facts than fit here"}


@lru_cache(maxsize=1024)
def _inert(text: str) -> str:
    """A fact's text as it is shown; kept, because the same facts are shown at every step."""
    return cut(visible(text), 200)


def _last(state: State, room: int) -> str:
    assert state.last is not None
    return _shown(state.last, room, {"known_since_step": state.last.step} if state.last_known else {})


def _whole(seen: Seen) -> str:
    """An earlier observation as JSON, made once."""
    if "whole" not in seen.shown:
        seen.shown["whole"] = _shown(seen, EARLIER, {})
    return seen.shown["whole"]


def _line(seen: Seen) -> str:
    """An earlier observation as one line of JSON, made once."""
    if "line" not in seen.shown:
        seen.shown["line"] = encoded(f"step {seen.step}: {seen.observed.tool} {_brief(seen)}"[:110])
    return seen.shown["line"]


def _shown(seen: Seen, room: int, more: Mapping[str, object]) -> str:
    observed = seen.observed
    fields, gone = _told(observed.fields, room * 4 // 5) if isinstance(observed.fields, dict) else ({}, {})
    shown: dict[str, object] = {"step": seen.step, "tool": observed.tool, "result": fields, "unverified": True, **more}
    if gone:
        shown["not_shown"] = gone
    if observed.flags:
        shown["flags"] = list(observed.flags)
    if observed.cut:
        shown["cut"] = observed.cut
    if observed.stale:
        shown["changed_since_the_run_began"] = list(observed.stale[:5])
    head = encoded(shown)
    return f'{head[:-1]}, "text": {_fit(observed.excerpt, room - len(head) - 12)}}}'


def _told(fields: Mapping[str, object], room: int) -> tuple[dict[str, object], dict[str, int]]:
    """Values of an observation: texts cut, lists as far as they go; and how many entries of which list are left out.

    Large lists get the room that small ones leave.
    """
    sizes = {name: len(encoded(value)) for name, value in fields.items() if isinstance(value, list | dict)}
    told = {name: cut(visible(value), 300) if isinstance(value, str) else value for name, value in fields.items()}
    gone: dict[str, int] = {}
    for count, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        share = max(room, 0) // (len(sizes) - count)
        value = fields[name]
        if sizes[name] > share:
            told[name] = shown = _first(value, share) if isinstance(value, list) else {}
            gone[name] = len(value) - len(shown)  # type: ignore[arg-type]
        room -= min(sizes[name], share)
    return told, gone


def _first(value: list[object], room: int) -> list[object]:
    """The first entries of a list as they fit, whole."""
    shown: list[object] = []
    for item in value:
        if len(encoded([*shown, item])) > room:
            break
        shown.append(item)
    return shown


def _earlier(state: State, room: int) -> list[str]:
    """Earlier observations, newest first: whole while they fit, then one line each, then a count. Each is JSON."""
    rest = [seen for seen in reversed(state.trail) if seen is not state.last]
    shown: list[str] = []
    count = 0
    for count, seen in enumerate(rest):
        reserved = EARLIER_LINE * min(len(rest) - count, EARLIER_LINES)
        if reserved > room or len(seen.observed.excerpt) > EARLIER or len(_whole(seen)) + 2 + reserved > room:
            break
        shown.append(_whole(seen))
        room -= len(_whole(seen)) + 2
    else:
        count = len(rest)
    for seen in rest[count : count + EARLIER_LINES]:
        line = _line(seen)
        if len(line) + 2 > room - 60:
            break
        shown.append(line)
        room -= len(line) + 2
        count += 1
    if count < len(rest) and room > 60:
        shown.append(encoded(f"... and {len(rest) - count} more; ask again to see one"))
    return shown


def _brief(seen: Seen) -> str:
    fields = seen.observed.fields
    if not isinstance(fields, dict):
        return ""
    known = [f"{k}={v}" for k, v in fields.items() if isinstance(v, str | int | float) and len(str(v)) < 60]
    return one_line(", ".join(known), 90)


def _fit(text: str, room: int) -> str:
    """As much of a text as fits, encoded, into ``room`` characters, as JSON; what is left out is counted."""
    shown = visible(text)
    whole = encoded(shown)
    if len(whole) <= room:
        return whole
    keep = max(room - 60, 0)
    while keep > 0 and len(encoded(shown[:keep])) > room - 40:
        keep = keep * 9 // 10
    return encoded(f"{shown[:keep]} [{len(shown) - keep} more characters not shown]")
