"""What is wrong in criteria: unreadable, never met, met by nothing, or met without an external check. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rootproof import criterion
from rootproof.contract_parts import Findings, Parts, gives, near
from rootproof.criterion import Unreadable, Value
from rootproof.tools.interface import ToolSpec


def completion(parts: Parts, catalog: Mapping[str, ToolSpec], found: Findings) -> None:
    assert parts.completion is not None
    readable = []
    known = known_facts(parts, catalog)
    for number, text in enumerate(parts.completion.all):
        place = f"completion.all[{number}]"
        try:
            parsed = criterion.parse(text)
        except Unreadable as error:
            found.fault(place, f"{text!r}: {error}", "write names of facts, comparisons, and/or/not")
            continue
        readable.append(parsed)
        for name in parsed.names if parts.whole else ():
            if name not in known:
                found.fault(place, f"no evidence can make the fact {name!r}", near(name, known))
        for name, _, value in parsed.comparisons():
            kind = known.get(name)
            if kind and criterion.kind(value) != kind:
                found.fault(
                    place,
                    f"{name} is a {kind} and is compared with {value!r}: this can never be met",
                    f"compare it with a {kind}",
                )
    if not parts.completion.all:
        found.fault("completion.all", "success needs nothing", "name the facts that success needs")
    elif readable and all(parsed.truth({}) is True for parsed in readable):
        found.fault(
            "completion.all",
            "it holds over no facts at all: success would need nothing",
            "name facts that evidence makes",
        )
    elif parts.whole and readable:
        _needs_check(parts, catalog, readable, found)
        _satisfiable(readable, found)


def known_facts(parts: Parts, catalog: Mapping[str, ToolSpec]) -> dict[str, str]:
    """Fact → type it is compared in; empty where it can be any."""
    kinds = {"text": "text", "integer": "number", "flag": "boolean"}
    known: dict[str, str] = {}
    for _, item in parts.evidence:
        spec = catalog.get(item.tool)
        known.update(dict.fromkeys(gives(item), "text"))
        known[item.id] = "boolean"
        for name, result in item.bind.items():
            declared = spec.result(result) if spec else None
            known[name] = kinds.get(declared.kind, "") if declared else ""
    for name in parts.tools or ():
        for record in catalog[name].records if name in catalog else ():
            declared = catalog[name].result(record.value)
            if record.how == "set":
                known.setdefault(record.fact, kinds.get(declared.kind, "") if declared else "")
    return known


def _needs_check(
    parts: Parts, catalog: Mapping[str, ToolSpec], criteria: list[criterion.Criterion], found: Findings
) -> None:
    """Success must not be possible without one external check."""
    checked = {
        name for _, item in parts.evidence if item.tool in catalog and catalog[item.tool].checks for name in gives(item)
    }
    unchecked: Callable[[str], bool] = lambda name: name not in checked  # noqa: E731
    if all(parsed.possible(unchecked) for parsed in criteria):
        found.fault(
            "completion.all",
            "success would need no external check",
            "require a fact of a test's outcome, a re-read source or an intervention",
        )


def _satisfiable(criteria: list[criterion.Criterion], found: Findings) -> None:
    for parsed in criteria:
        if not parsed.possible(lambda name: True):
            found.fault("completion.all", f"{parsed.text!r} can never be met", "name facts that evidence makes")
    wanted: dict[str, Value] = {}
    for name, value in _equalities(criteria):
        if wanted.setdefault(name, value) != value:
            found.fault(
                "completion.all",
                f"{name} would have to equal both {wanted[name]!r} and {value!r}",
                "leave one of them out",
            )


def _equalities(criteria: list[criterion.Criterion]) -> Iterator[tuple[str, Value]]:
    for parsed in criteria:
        yield from parsed.equalities()
