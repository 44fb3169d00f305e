"""The fixed part of what a model is shown: goal, criteria, limits, tools. Rendered once for a run.

Pure. A provider can keep it; all text that came from outside stands inside JSON strings, as data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rootproof import completion, mode
from rootproof.contract import Contract
from rootproof.text import visible
from rootproof.tools.interface import Field, ToolSpec

ROOM = 6_500
"""Beyond so many characters the lists in it are cut, for what the last step gave must have room beside it."""
TELLING = 100_000
"""A limit that no request meets by mistake is not told."""
_ENCODER = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class Frame:
    """The fixed part of every view of one run."""

    text: str
    """A JSON object without its closing brace."""
    append: frozenset[str]
    """Names of facts that are lists of what was seen."""


def fixed(contract: Contract, specs: Iterable[ToolSpec]) -> Frame:
    """Render the fixed part once for a run."""
    specs = sorted(specs, key=lambda spec: spec.name)
    shared = _shared(contract, specs)
    lists: dict[str, Iterable[str]] = {
        "evidence": [cut(f"{item.id}: {completion.needs(item, contract)}", 240) for item in contract.evidence],
        "readable": contract.scope.read,
        "tests": contract.scope.tests,
    }
    told: dict[str, object] = {
        "how": mode.how(contract),
        "goal": visible(contract.goal),
        "mode": contract.mode,
        "criteria": [cut(text, 200) for text in contract.completion.all],
        **{name: bounded(entries) for name, entries in lists.items()},
        "max_steps": contract.budget.max_steps,
        "settings": shared,
        "tools": {spec.name: _tool(contract, spec, shared) for spec in specs},
    }
    text = encoded(told)
    for name, least in (("tests", 300), ("readable", 300), ("evidence", 600)):
        if len(text) > ROOM:
            told[name] = bounded(lists[name], least)
            text = encoded(told)
    records = {record.fact for spec in specs for record in spec.records if record.how == "append"}
    return Frame(text[:-1], frozenset(records))


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


def bounded(values: Iterable[str], limit: int = 1500) -> list[str]:
    """As many entries as fit, then how many more there are."""
    shown: list[str] = []
    rest = list(values)
    while rest and sum(map(len, shown)) + len(rest[0]) <= limit:
        shown.append(rest.pop(0))
    return [*shown, f"... and {len(rest)} more"] if rest else shown


def cut(text: str, limit: int) -> str:
    """At most ``limit`` characters; three dots where some are missing."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def encoded(value: object) -> str:
    """The value as JSON, with letters of every script as they are."""
    return _ENCODER.encode(value)
