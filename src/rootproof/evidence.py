"""Is it true? Judges an observation: first whether it answers its request, then which facts it gives. Pure.

Evidence matches result fields, never echoed input and never traceback text. Captures run over whole files at their
digest. What is judged are the stored bytes, so anyone can judge them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rootproof import pattern
from rootproof.checking import Check as Check
from rootproof.checking import Contested as Contested
from rootproof.checking import Seen as Seen
from rootproof.checking import Shift as Shift
from rootproof.checking import Watchful as Watchful
from rootproof.comments import blank_comments
from rootproof.contract import Contract, EvidenceItem
from rootproof.criterion import kind
from rootproof.event import Checked, Observed
from rootproof.fact import Fact, Scalar, Source
from rootproof.state import State
from rootproof.text import line_of
from rootproof.tools.interface import Result, ToolSpec

OPERATORS = ("_min", "_max", "_not", "_contains")
POSSIBLY_CONTAINMENT = "possibly_containment"
"""Flag of a failure that containment may have caused: never evidence of a cause."""


def unsound(spec: ToolSpec, request: Mapping[str, object], observed: Observed) -> str:
    """Why the observation does not answer its request or has no sound structure; empty where it does."""
    fields = observed.fields
    if not isinstance(fields, dict):
        return f"the result is no object but {type(fields).__name__}"
    for name in spec.echoes:
        if name in request and fields.get(name) != request[name]:
            return f"it is about {name} {str(fields.get(name))[:80]!r}, asked was {str(request[name])[:80]!r}"
    for result in spec.results:
        problem = _misshapen(result, fields, crashed=observed.cut == "crashed")
        if problem:
            return problem
    for name in fields:
        if spec.result(name) is None:
            return f"it has a field {name[:40]!r} that {spec.name} does not declare"
    if observed.cut and fields.get("status") in ("passed", "failed"):
        return f"it was cut ({observed.cut}) and yet claims to have {fields['status']}"
    return ""


def _misshapen(result: Result, fields: Mapping[str, object], *, crashed: bool) -> str:
    if result.name not in fields:
        return f"it has no {result.name}" if result.required and not crashed else ""
    value = fields[result.name]
    if not _is(result.kind, value):
        return f"{result.name} must be of kind {result.kind}, found {_shown(value)}"
    if result.choices and value is not None and value not in result.choices:
        return f"{result.name} must be one of {', '.join(result.choices)}, found {_shown(value)}"
    return ""


def _is(wanted: str, value: object) -> bool:
    if value is None:
        return wanted != "text"
    if wanted == "scalar":
        return isinstance(value, str | int | float)
    types: dict[str, type | tuple[type, ...]] = {
        "text": str,
        "list": list,
        "object": dict,
        "flag": bool,
        "integer": int,
    }
    return isinstance(value, types[wanted]) and not (wanted == "integer" and isinstance(value, bool))


def _shown(value: object) -> str:
    return f"{type(value).__name__} {str(value)[:60]!r}"


def judge(contract: Contract, spec: ToolSpec, state: State, seen: Seen, checks: Mapping[str, Check]) -> Checked:
    """Facts, conflicts and failures that one sound observation gives.

    Args:
        state: as it was when the observation was made; its ``seq`` is the observation's event.
    """
    facts: list[Fact] = list(_records(spec, state, seen))
    conflicts: list[tuple[str, str]] = []
    opened: list[tuple[str, str, str]] = []
    failed, why = "", ""
    for item in contract.evidence:
        if not _concerns(contract, spec, item, seen.request):
            continue
        reason, contested = _reason(item, seen, state, checks)
        conflicts.extend(key for key in contested if key in state.facts)
        opened.extend((*key, reason) for key in contested if key in state.facts and reason)
        about = _about(item, seen)
        if reason:
            withdrawn = _contradicted(item, state, seen, about)
            conflicts.extend(withdrawn)
            if item.otherwise == "fail" and not failed and not seen.observed.stale:
                failed, why = item.id, f"{item.id}: {reason}"
            continue
        for fact in _facts_of(item, state, seen, about):
            facts.append(fact)
            if fact.standing == "conflict":
                conflicts.append(fact.key)
    kept = [] if seen.observed.stale else [fact for fact in facts if _is_new(fact, state)]
    shift = _shift(contract, state, seen, checks)
    there = {*state.facts, *(fact.key for fact in kept)}
    return Checked(
        tool=spec.name,
        facts=tuple(kept),
        conflicts=tuple(conflicts),
        opened=(*opened, *(each for each in shift.opened if each[:2] in there and _told(each, state))),
        settled=tuple(key for key in shift.settled if key in state.facts and state.facts[key].standing == "open"),
        failed=failed,
        reason=why,
    )


def _shift(contract: Contract, state: State, seen: Seen, checks: Mapping[str, Check]) -> Shift:
    """What the watchful checks of all evidence items say of this observation."""
    opened: list[tuple[str, str, str]] = []
    settled: list[tuple[str, str]] = []
    for item in contract.evidence:
        check = checks.get(item.check)
        if isinstance(check, Watchful):
            said = check.watch(item, seen, state)
            opened.extend(said.opened)
            settled.extend(said.settled)
    return Shift(tuple(opened), tuple(settled))


def _told(opened: tuple[str, str, str], state: State) -> bool:
    """Whether it is news that a fact is open, and for this reason."""
    name, about, why = opened
    fact = state.facts.get((name, about))
    return fact is None or fact.standing == "held" or (fact.standing == "open" and fact.why != why)


def _concerns(contract: Contract, spec: ToolSpec, item: EvidenceItem, request: Mapping[str, object]) -> bool:
    """Whether an item speaks of such requests: of the tool, of what ``where`` names, under no condition it ignores."""
    if item.tool != spec.name or any(request.get(k) != v for k, v in item.where.items()):
        return False
    names = tuple(result.name for result in spec.results)
    named = {*item.where, *(split_operator(key, names)[0] for key in item.expect)}
    ignored = (field for field in spec.fields if field.condition and field.name not in named)
    settings = contract.tools.get(spec.name, {})
    return all(request.get(f.name, f.default) == settings.get(f.name, f.default) for f in ignored)


def _reason(
    item: EvidenceItem, seen: Seen, state: State, checks: Mapping[str, Check]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Why the item is not satisfied, and which facts its check withdraws."""
    reason = unsatisfied(item, seen)
    if reason or not item.check:
        return reason, ()
    said = checks[item.check](item, seen, state)
    return (said.reason, said.facts) if isinstance(said, Contested) else (said, ())


def _is_new(fact: Fact, state: State) -> bool:
    """A fact that stands is left alone, and so is a conflict; a built-in one gains what is newly seen."""
    earlier = state.facts.get(fact.key)
    if earlier is None:
        return True
    if earlier.standing == "conflict":
        return False
    return earlier.standing == "stale" or (fact.check.startswith("built-in:") and earlier.value != fact.value)


def unsatisfied(item: EvidenceItem, seen: Seen) -> str:
    """Why the observation does not satisfy the item's ``expect`` and ``capture``; empty where it does."""
    observed = seen.observed
    if observed.stale:
        return f"the tree changed during the run: {', '.join(observed.stale[:3])}"
    if POSSIBLY_CONTAINMENT in observed.flags and "status" in item.expect:
        return "containment may have caused this outcome"
    if observed.cut and item.expect.get("status", observed) != observed.fields.get("status"):
        return f"the observation was cut ({observed.cut})"
    for key, wanted in item.expect.items():
        reason = _unmet(key, wanted, observed.fields)
        if reason:
            return reason
    for name in item.bind.values():
        if not isinstance(observed.fields.get(name), str | int | float | bool | None) or name not in observed.fields:
            return f"there is no {name} to bind"
    if item.capture and not any(True for _ in _matches(item, seen)):
        return "the pattern is not found"
    return ""


def split_operator(key: str, names: Mapping[str, object] | tuple[str, ...]) -> tuple[str, str]:
    """A key of ``expect`` as (result field, operator); the operator is empty for equality."""
    if key in names:
        return key, ""
    for operator in OPERATORS:
        if key.endswith(operator):
            return key[: -len(operator)], operator
    return key, ""


def _unmet(key: str, wanted: Scalar, fields: Mapping[str, object]) -> str:
    name, operator = split_operator(key, fields)
    if name not in fields:
        return f"there is no {name}"
    found = fields[name]
    if operator == "_contains":
        holds = isinstance(found, str | list) and isinstance(wanted, str) and wanted in found
    elif kind(found) != kind(wanted):
        holds = operator == "_not" and found is not None
    elif operator in ("_min", "_max"):
        holds = isinstance(found, int | float) and isinstance(wanted, int | float) and kind(found) == "number"
        holds = holds and (found >= wanted if operator == "_min" else found <= wanted)  # type: ignore[operator]
    else:
        holds = (found == wanted) == (operator == "")
    return "" if holds else f"{key} is {_shown(found)}, needed {wanted!r}"


def _about(item: EvidenceItem, seen: Seen) -> str:
    return str(seen.observed.fields.get(item.about, ""))[:200] if item.about else ""


def _contradicted(item: EvidenceItem, state: State, seen: Seen, about: str) -> list[tuple[str, str]]:
    """Facts this item gave for the same request under the same conditions, which now does not give them."""
    same = seen.conditions
    checks = tuple(f"{kind}:{item.id}" for kind in ("evidence", "bind", "capture"))
    return [
        fact.key
        for fact in state.facts.values()
        if fact.check in checks and fact.request == same and fact.standing != "conflict"
    ]


def _fact(state: State, seen: Seen, check: str, name: str, value: Scalar) -> Fact:
    return Fact(
        name=name,
        value=value,
        event=state.seq,
        observation=seen.observed.digest,
        check=check,
        request=seen.conditions,
        reads=seen.reads,
    )


def _facts_of(item: EvidenceItem, state: State, seen: Seen, about: str) -> Iterator[Fact]:
    def made(check: str, name: str, value: Scalar) -> Fact:
        return _fact(state, seen, f"{check}:{item.id}", name, value).model_copy(update={"about": about})

    yield made("evidence", item.id, True)
    for name, field in item.bind.items():
        yield made("bind", name, seen.observed.fields[field])
    values: dict[str, tuple[str, Source]] = {}
    torn: set[str] = set()
    for source, groups in _matches(item, seen):
        for name, value in groups.items():
            if value is not None and values.setdefault(name, (value, source))[0] != value:
                torn.add(name)
    for name, (value, source) in values.items():
        standing = "conflict" if name in torn else "held"
        yield made("capture", name, value).model_copy(update={"source": source, "standing": standing})


def _matches(item: EvidenceItem, seen: Seen) -> Iterator[tuple[Source, dict[str, str | None]]]:
    """Matches over the whole stored files, outside comments where a grammar exists."""
    if not item.capture:
        return
    for path, digest in seen.observed.reads.items():
        data = seen.attachments.get(path)
        if data is None:
            continue
        whole = data.decode(str(seen.observed.fields.get("encoding") or "utf-8"), "backslashreplace")
        code = blank_comments(path, whole)
        for start, _, groups in pattern.captures(item.capture, code):
            yield Source(path=path, line=line_of(whole, start), digest=digest), groups


def _records(spec: ToolSpec, state: State, seen: Seen) -> Iterator[Fact]:
    if any(result.required and result.name not in seen.observed.fields for result in spec.results):
        return  # it crashed before there was a result
    for record in spec.records:
        value = seen.observed.fields.get(record.value)
        if value is None or value == record.unless or not isinstance(value, str | int | float | bool):
            continue
        about = ":".join(str(seen.observed.fields.get(name, "")) for name in record.about)
        source = None
        path = seen.observed.fields.get("path")
        if isinstance(path, str) and path in seen.observed.reads:
            line = seen.observed.fields.get("first_line")
            source = Source(path=path, line=line if type(line) is int else 1, digest=seen.observed.reads[path])
        fact = _fact(state, seen, f"built-in:{spec.name}", record.fact, value)
        yield fact.model_copy(update={"about": about, "source": source})
