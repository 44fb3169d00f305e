"""What a model is shown: a detached JSON text of bounded size, rendered from the state. Pure.

The fixed part (goal, criteria, limits, tools) comes first and is the same text at every step of a run, so a provider
can cache it. All text that came from outside stands inside JSON strings, with invisible and control characters as
visible escapes: it is data, and nothing in it can end or begin anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rootproof import completion, mode
from rootproof.contract import Contract
from rootproof.models.interface import View
from rootproof.seen import Seen
from rootproof.state import State
from rootproof.text import one_line, visible
from rootproof.tools.interface import Field, ToolSpec

_ENCODER = json.JSONEncoder(ensure_ascii=False)
CEILING = 12_000
"""Most characters of a view, however long the run gets."""
FIXED = 6_500
"""Beyond so many characters the fixed part's lists are cut, for the last observation must have room."""
LAST = 4_500
"""Most characters of the last observation."""
LEAST = 60
"""A list with less room says nothing of what it leaves out."""
TELLING = 100_000
"""A limit that no request meets by mistake is not told."""
FACTS = 2_000
EARLIER = 2_500
"""Most characters of an earlier observation that is shown whole again."""
EARLIER_LINES = 24
EARLIER_LINE = 120
"""Characters kept free for the line of an earlier observation."""
FOR_EARLIER = 800
"""Characters that the last observation leaves to earlier ones, where there are any."""


@dataclass(frozen=True)
class Frame:
    """The fixed part of every view of one run."""

    text: str
    """A JSON object without its closing brace."""
    append: frozenset[str]
    """Names of facts that are lists of what was seen."""


def frame(contract: Contract, specs: Iterable[ToolSpec]) -> Frame:
    """Render the fixed part once for a run."""
    specs = sorted(specs, key=lambda spec: spec.name)
    shared = _shared(contract, specs)
    fixed = {
        "how": mode.how(contract),
        "goal": visible(contract.goal),
        "mode": contract.mode,
        "criteria": [_cut(text, 200) for text in contract.completion.all],
        "evidence": [_cut(f"{item.id}: {completion.needs(item, contract)}", 240) for item in contract.evidence][:20],
        "readable": _bounded(contract.scope.read),
        "tests": _bounded(contract.scope.tests),
        "max_steps": contract.budget.max_steps,
        "settings": shared,
        "tools": {spec.name: _tool(contract, spec, shared) for spec in specs},
    }
    text = _json(fixed)
    for key, least in (("tests", 300), ("readable", 300), ("evidence", 600)):
        if len(text) > FIXED:
            fixed[key] = _bounded(fixed[key], least)  # type: ignore[arg-type]
            text = _json(fixed)
    records = {record.fact for spec in specs for record in spec.records if record.how == "append"}
    return Frame(text[:-1], frozenset(records))


def _bounded(values: Iterable[str], limit: int = 1500) -> list[str]:
    """As many entries as fit, then how many more there are."""
    shown: list[str] = []
    rest = list(values)
    while rest and sum(map(len, shown)) + len(rest[0]) <= limit:
        shown.append(rest.pop(0))
    return [*shown, f"... and {len(rest)} more"] if rest else shown


def _shared(contract: Contract, specs: Iterable[ToolSpec]) -> dict[str, object]:
    """Settings that several tools have alike, told once."""
    found: dict[str, list[object]] = {}
    for spec in specs:
        for name, value in contract.tools.get(spec.name, {}).items():
            found.setdefault(name, []).append(value)
    return {
        name: values[0] for name, values in found.items() if len(values) > 1 and values.count(values[0]) == len(values)
    }


def _tool(contract: Contract, spec: ToolSpec, shared: Mapping[str, object]) -> dict[str, object]:
    settings = contract.tools.get(spec.name, {})
    own = {name: value for name, value in settings.items() if name not in shared}
    shown: dict[str, object] = {
        "does": spec.doc + (" A person must approve each call." if spec.side.approval else ""),
        "input": {field.name: _field(field, settings) for field in spec.fields},
    }
    if own:
        shown["settings"] = own
    return shown


def _field(field: Field, settings: Mapping[str, object]) -> str:
    kinds = {
        "name": f"one of the {field.of}",
        "path": "root-relative path",
        "integer": "whole number",
        "flag": "true or false",
    }
    parts = ["one of " + ", ".join(field.choices) if field.choices else kinds.get(field.kind, field.kind)]
    most = settings.get(f"max_{field.name}_chars", field.most)
    if field.items:
        parts.append("of objects with " + ", ".join(field.items))
    if isinstance(most, int) and field.kind != "name" and most < TELLING:
        parts.append(f"at most {most}" + (" characters" if field.kind == "text" else ""))
    if not field.required:
        parts.append(f"optional, {'as set' if field.name in settings else json.dumps(field.default)}")
    return f"{'; '.join(parts)}: {field.doc}"


def render(contract: Contract, frame: Frame, state: State) -> View:
    """The view of the message now asked for."""
    told: dict[str, object] = {
        "step": state.step + 1,
        "consecutive_parse_errors": state.consecutive_parse_errors,
        "consecutive_invalid_actions": state.consecutive_invalid_actions,
        "no_progress": state.no_progress,
        "left": _left(contract, state),
        "facts": _facts(frame, state),
        "missing": [_cut(text, 300) for text in completion.missing_words(contract, state)][:12],
        "refused": one_line(state.refusal, 600) if state.refusal else None,
        **mode.told(contract, state),
        "your_last_note": one_line(state.note, 300) if state.note else None,
    }
    words, last = _json(told), "null"
    room = CEILING - len(frame.text) - len(words) - len(', "last": null, "earlier": []') - 40
    if state.last is not None:
        reserved = min(FOR_EARLIER, EARLIER_LINE * len(state.trail))
        last = _last(state, min(LAST, max(room - reserved, 200)))
        room -= len(last) - len("null")
    text = _joined(frame, words, last, f"[{', '.join(_earlier(state, room))}]")
    return View(_sealed(frame, told, last) if len(text) > CEILING else text, len(frame.text))


def _joined(frame: Frame, told: str, last: str, earlier: str) -> str:
    """The whole view, from parts that are JSON already."""
    return f'{frame.text}, {told[1:-1]}, "last": {last}, "earlier": {earlier}}}'


def _sealed(frame: Frame, told: dict[str, object], last: str) -> str:
    """A view that would be over the ceiling: what is least useful goes first, and says so."""
    gone = "left out: no room"
    text = _joined(frame, _json(told), last, _json(gone))
    for key in ("your_last_note", "last", "missing", "facts"):
        if len(text) <= CEILING:
            break
        if key == "last":
            last = _json(gone)
        else:
            told[key] = gone
        text = _joined(frame, _json(told), last, _json(gone))
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
    return _cut(visible(text), 200)


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
        seen.shown["line"] = _json(f"step {seen.step}: {seen.observed.tool} {_brief(seen)}"[:110])
    return seen.shown["line"]


def _shown(seen: Seen, room: int, more: Mapping[str, object]) -> str:
    observed = seen.observed
    fields = _told(observed.fields, room * 4 // 5) if isinstance(observed.fields, dict) else {}
    shown: dict[str, object] = {"step": seen.step, "tool": observed.tool, "result": fields, "unverified": True, **more}
    if observed.flags:
        shown["flags"] = list(observed.flags)
    if observed.cut:
        shown["cut"] = observed.cut
    if observed.stale:
        shown["changed_since_the_run_began"] = list(observed.stale[:5])
    head = _json(shown)
    return f'{head[:-1]}, "text": {_fit(observed.excerpt, room - len(head) - 12)}}}'


def _told(fields: Mapping[str, object], room: int) -> dict[str, object]:
    """Values of an observation: texts cut, lists as far as they go; large ones get the room that small ones leave."""
    sizes = {name: len(_json(value)) for name, value in fields.items() if isinstance(value, list | dict)}
    told = {name: _cut(visible(value), 300) if isinstance(value, str) else value for name, value in fields.items()}
    for count, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        share = max(room, 0) // (len(sizes) - count)
        value = fields[name]
        if sizes[name] > share:
            told[name] = _some(value, share)  # type: ignore[arg-type]
        room -= min(sizes[name], share)
    return told


def _some(value: list[object] | dict[str, object], room: int) -> object:
    """The first entries of a list as they fit, whole, and how many more there are; other structures are left out."""
    if isinstance(value, dict):
        return f"left out: {len(value)} entries"
    shown: list[object] = []
    for item in value:
        if len(_json([*shown, item])) > room - len(', "... and 1000 more"'):
            break
        shown.append(item)
    return [*shown, f"... and {len(value) - len(shown)} more"] if room > LEAST else shown


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
        shown.append(_json(f"... and {len(rest) - count} more; ask again to see one"))
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
    encoded = _json(shown)
    if len(encoded) <= room:
        return encoded
    keep = max(room - 60, 0)
    while keep > 0 and len(_json(shown[:keep])) > room - 40:
        keep = keep * 9 // 10
    return _json(f"{shown[:keep]} [{len(shown) - keep} more characters not shown]")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _json(value: object) -> str:
    return _ENCODER.encode(value)
