"""What is wrong in a contract of the right shape: every fault at once, each with place, finding and mend. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from rootproof import answer, criterion, evidence, pattern
from rootproof.contract import ALWAYS_DENIED, EvidenceItem, Scope, file_of
from rootproof.contract_parts import Findings, Parts, gives, near
from rootproof.criteria_faults import completion
from rootproof.criterion import Value
from rootproof.effect_faults import effect_faults
from rootproof.errors import Fault
from rootproof.laid_faults import laid_faults
from rootproof.tools.interface import Field, Result, ToolSpec


def find(parts: Parts, catalog: Mapping[str, ToolSpec]) -> Findings:
    """Every fault of meaning.

    Args:
        catalog: the tools this installation has.
    """
    found = Findings()
    if parts.scope is not None:
        _scope(parts.scope, found)
    if parts.tools is not None:
        _tools(parts, catalog, found)
    for number, item in parts.evidence:
        _item(parts, catalog, number, item, found)
    _unique(parts, found)
    laid_faults(parts, catalog, found)
    if parts.completion is not None:
        completion(parts, catalog, found)
    if parts.answer is not None:
        _answer(parts, found)
    return found


def _scope(scope: Scope, found: Findings) -> None:
    for key in ("read", "tests", "never", "tests_may_read"):
        for number, entry in enumerate(getattr(scope, key)):
            bad = "\\" in entry or entry.startswith(("/", "~", "@", "-")) or ".." in file_of(entry).split("/")
            if bad or any(ord(c) < 32 for c in entry):
                found.fault(
                    f"scope.{key}[{number}]",
                    f"{entry!r} is no root-relative path",
                    "write it relative to the root, with forward slashes, without ..",
                )
    for number, entry in enumerate(scope.read):
        if not pattern.is_glob(entry) and scope.denied(entry):
            found.fault(
                f"scope.read[{number}]",
                f"{entry!r} is a secret file",
                f"secrets are never readable: {', '.join(ALWAYS_DENIED[:4])} ...",
            )


def _tools(parts: Parts, catalog: Mapping[str, ToolSpec], found: Findings) -> None:
    assert parts.tools is not None
    if not parts.tools:
        found.fault("tools", "no tool is allowed", "name at least one, such as [tools.run_test]")
    excluded = parts.scope.excluded if parts.scope else ()
    for name, settings in parts.tools.items():
        spec = catalog.get(name)
        if spec is None:
            found.fault(f"tools.{name}", "there is no such tool", near(name, catalog))
            continue
        for key, value in settings.items():
            _setting(spec, key, value, found)
        for effect in sorted(set(spec.reaches) & set(excluded)):
            found.fault(
                f"tools.{name}",
                f"it reaches {effect}, which scope.excluded forbids",
                f"leave the tool out, or take {effect!r} out of scope.excluded",
            )
        found.faults.extend(effect_faults(spec))


def _setting(spec: ToolSpec, key: str, value: object, found: Findings) -> None:
    place = f"tools.{spec.name}.{key}"
    declared = next((s for s in spec.settings if s.name == key), None)
    if declared is None:
        found.fault(place, f"{spec.name} has no such setting", near(key, (s.name for s in spec.settings)))
        return
    problem = _wrong_setting(declared, value)
    if problem:
        found.fault(place, f"{value!r}: {problem}", declared.doc)


def _wrong_setting(declared: Field, value: object) -> str:
    if declared.kind == "choice":
        own = declared.alias and isinstance(value, str) and value.startswith(declared.alias)
        known = (*declared.choices, *([f"{declared.alias}ALIAS"] if declared.alias else []))
        return "" if own or value in declared.choices else f"expected one of {', '.join(known)}"
    if declared.kind == "integer":
        if type(value) is not int:
            return "expected a whole number"
        low = declared.least is not None and value < declared.least
        high = declared.most is not None and value > declared.most
        return f"expected {declared.least} to {declared.most}" if low or high else ""
    wanted = bool if declared.kind == "flag" else str
    return "" if isinstance(value, wanted) else f"expected {'true or false' if wanted is bool else 'a text'}"


def _item(parts: Parts, catalog: Mapping[str, ToolSpec], number: int, item: EvidenceItem, found: Findings) -> None:
    place = f"evidence[{number}] ({item.id})"
    spec = catalog.get(item.tool)
    if spec is None or (parts.tools is not None and item.tool not in parts.tools):
        known = parts.tools or catalog
        found.fault(f"{place}.tool", f"the tool {item.tool!r} is not allowed in [tools]", near(item.tool, known))
        return
    for key, value in item.where.items():
        _where(parts, spec, place, (key, value), found)
    names = {result.name: result for result in spec.results}
    for key, value in item.expect.items():
        _expect(names, f"{place}.expect.{key}", key, value, found)
    for fact, name in item.bind.items():
        if name not in names:
            found.fault(f"{place}.bind.{fact}", f"{spec.name} has no result field {name!r}", near(name, names))
        if not fact.isidentifier():
            found.fault(f"{place}.bind", f"{fact!r} is no name", "use letters, digits and _")
    if item.about and item.about not in names:
        found.fault(f"{place}.about", f"{spec.name} has no result field {item.about!r}", near(item.about, names))
    if item.check and item.check not in parts.checks:
        found.fault(f"{place}.check", f"there is no check {item.check!r}", near(item.check, parts.checks))
    if item.capture:
        _capture(spec, place, item.capture, found)
    if not (item.expect or item.capture or item.check):
        found.fault(place, "it expects nothing: every observation would be evidence", "add expect or capture")


def _where(parts: Parts, spec: ToolSpec, item: str, pair: tuple[str, Value], found: Findings) -> None:
    key, value = pair
    place = f"{item}.where.{key}"
    declared = spec.field(key)
    if declared is None:
        found.fault(place, f"{spec.name} has no input field {key!r}", near(key, (f.name for f in spec.fields)))
    elif declared.kind == "name" and parts.scope is not None and not parts.scope.allows(declared.of, str(value)):
        found.fault(
            place, f"{value!r} is not among scope.{declared.of}", near(str(value), parts.scope.lists(declared.of))
        )
    elif declared.kind == "path" and parts.scope is not None and not parts.scope.readable(str(value)):
        found.fault(place, f"{value!r} is not among scope.read", near(str(value), parts.scope.read))


def _expect(names: Mapping[str, Result], place: str, key: str, value: Value, found: Findings) -> None:
    name, operator = evidence.split_operator(key, tuple(names))
    result = names.get(name)
    if result is None:
        found.fault(place, "the tool has no such result field", near(name, names))
        return
    if operator == "_contains":
        message = "a text that merely contains something is weak evidence"
        found.warnings.append(Fault(place, message, "compare a structured field where there is one"))
        return
    if result.choices and value not in result.choices:
        found.fault(place, f"{value!r} can never be seen", near(str(value), result.choices))
    kinds = {"text": "text", "integer": "number", "flag": "boolean"}
    wanted = kinds.get(result.kind)
    if wanted and criterion.kind(value) != wanted:
        found.fault(place, f"{value!r} is compared with a {wanted}: never equal", f"write a {wanted}")


def _capture(spec: ToolSpec, place: str, text: str, found: Findings) -> None:
    if not spec.captures:
        found.fault(
            f"{place}.capture", f"{spec.name} gives no file to capture from", "captures need a tool such as read_file"
        )
    try:
        for name in pattern.groups(text):
            if not name.isidentifier():
                found.fault(f"{place}.capture", f"{name!r} is no name", "use letters, digits and _")
    except pattern.BadPattern as error:
        found.fault(
            f"{place}.capture",
            str(error),
            "use an RE2 expression with a group (?P<name>...); look-around and back-references do not exist",
        )


def _unique(parts: Parts, found: Findings) -> None:
    """One origin a fact; but facts that are bound about a subject are told apart by it."""
    owners: dict[str, int] = {}
    items = dict(parts.evidence)
    for number, item in parts.evidence:
        for name in gives(item):
            other = items[owners[name]] if name in owners else None
            apart = other is not None and item.about and other.about and name in item.bind and name in other.bind
            if name in owners and not apart:
                found.fault(
                    f"evidence[{number}] ({item.id})",
                    f"the fact {name!r} is already made by evidence[{owners[name]}]",
                    "give each fact one name and one origin",
                )
            owners.setdefault(name, number)


def _answer(parts: Parts, found: Findings) -> None:
    assert parts.answer is not None
    try:
        names = answer.names(parts.answer.template)
    except answer.BadTemplate as error:
        found.fault("answer.template", str(error), "write text with {{ fact }} in it")
        return
    known = {name for _, item in parts.evidence for name in gives(item)}
    for name in names if parts.whole else ():
        if name not in known:
            found.fault("answer.template", f"no evidence can make the fact {name!r}", near(name, known))
