"""May it? Judges an action against the contract before anything is entered. Pure.

Scope comes before shape: a request for something forbidden is blocked even if it is also malformed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rootproof import canonical
from rootproof.canonical import Json
from rootproof.contract import Contract
from rootproof.place import Located, Outside, Place
from rootproof.protocol import Action
from rootproof.text import quoted
from rootproof.tools.interface import Field, ToolSpec


@dataclass(frozen=True)
class Allowed:
    """The canonical request: defaults filled in, paths as they are on disk."""

    input: Mapping[str, Json]
    digest: str


@dataclass(frozen=True)
class Denied:
    """Outside the contract: ends the run."""

    code: str
    reason: str


@dataclass(frozen=True)
class Invalid:
    """Inside the contract, but cannot be meant."""

    reason: str
    hint: str = ""


Verdict = Allowed | Denied | Invalid


def request_digest(tool: str, arguments: Mapping[str, Json]) -> str:
    """The identity of a request."""
    return canonical.digest({"tool": tool, "input": arguments})


def authorise(contract: Contract, spec: ToolSpec | None, action: Action, places: Mapping[str, Place]) -> Verdict:
    """Judge one action.

    Args:
        spec: the declaration of the tool asked for; None where the contract does not list it.
        places: for every input field of kind ``path`` that holds a text: where it really lies.
    """
    if spec is None:
        allowed = ", ".join(sorted(contract.tools))
        return Denied("unknown_tool", f"the tool {quoted(action.tool, 80)} is not in the contract; it allows {allowed}")
    for field, name, value in named_values(spec, action.input):
        denied = _out_of_scope(contract, field, value, places.get(name))
        if denied:
            return denied
    invalid = _shape(contract, spec, action.input, places)
    if invalid is None:
        arguments = _canonical(contract, spec, action.input, places)
        return Allowed(arguments, request_digest(spec.name, arguments))
    if contract.policy.on_invalid_input == "block":
        return Denied("invalid_input", invalid.reason)
    return invalid


def named_values(spec: ToolSpec, given: Mapping[str, Json]) -> Iterator[tuple[Field, str, Json]]:
    """Every value of a request that names a path or a listed thing: its field, its name, and the value.

    The paths inside a list are named ``edits[0].path``, listed things ``after[0]``.
    """
    for field in spec.fields:
        value = given.get(field.name)
        if field.kind in ("path", "name"):
            yield field, field.name, value
        elif field.kind == "list" and isinstance(value, list):
            yield from _named_inside(field, value)


def relative_names(spec: ToolSpec, given: Mapping[str, Json], root: str) -> dict[str, Json]:
    """The same input with listed things named from the root, where somebody copied them with the root's own path.

    It is a change of spelling alone: what comes out is judged like anything else.

    Args:
        root: absolute, with a slash at the end.
    """
    made = dict(given)
    for field in spec.fields:
        value = given.get(field.name)
        if field.kind == "name" and isinstance(value, str):
            made[field.name] = value.removeprefix(root)
        elif field.kind == "list" and field.of and isinstance(value, list):
            made[field.name] = [item.removeprefix(root) if isinstance(item, str) else item for item in value]
    return made


def _named_inside(field: Field, values: Sequence[Json]) -> Iterator[tuple[Field, str, Json]]:
    if field.of:
        entry = Field(field.name, "name", field.doc, of=field.of)
        yield from ((entry, f"{field.name}[{number}]", item) for number, item in enumerate(values))
    for key in (key for key, kind in field.items.items() if kind == "path"):
        inner = Field(key, "path", field.doc)
        for number, item in enumerate(values):
            if isinstance(item, dict):
                yield inner, f"{field.name}[{number}].{key}", item.get(key)


def _out_of_scope(contract: Contract, field: Field, value: Json, place: Place | None) -> Denied | None:
    if not isinstance(value, str):
        return None
    if field.kind == "name":
        return _name_out_of_scope(contract, field, value)
    if field.kind != "path":
        return None
    if isinstance(place, Outside):
        return Denied(place.code, f"{field.name} {quoted(value, 120)}: {place.reason}")
    if place is None:
        return None
    if contract.scope.denied(place.path):
        return Denied("sensitive_path", f"{quoted(place.path, 120)} is a secret file: never readable")
    if field.of == "folder" and place.kind in ("folder", "missing"):
        return None
    if not contract.scope.readable(place.path):
        return Denied("out_of_scope", f"{quoted(place.path, 120)} is not among the readable paths of the contract")
    return None


def _name_out_of_scope(contract: Contract, field: Field, value: str) -> Denied | None:
    if value.startswith(("@", "-")) or "\x00" in value or ".." in value.split("::", 1)[0].split("/"):
        return Denied(f"bad_{field.name}_id", f"{quoted(value, 120)} is no id: one begins with a root-relative file")
    if not contract.scope.allows(field.of, value):
        return Denied("out_of_scope", f"{quoted(value, 120)} is not among the {field.of} of the contract")
    return None


def _shape(
    contract: Contract, spec: ToolSpec, given: Mapping[str, Json], places: Mapping[str, Place]
) -> Invalid | None:
    names = [field.name for field in spec.fields]
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"{spec.name} takes {', '.join(names)}"
            return Invalid(f"$.input.{name[:40]}: {spec.name} has no such field", hint)
    wrong: list[tuple[Field, str]] = []
    for field in spec.fields:
        if field.name not in given:
            if field.required:
                return Invalid(f"$.input.{field.name} is missing", field.doc)
            continue
        problem = mistyped(contract.tools.get(spec.name, {}), field, given[field.name])
        if problem:
            wrong.append((field, f"$.input.{field.name}: {problem}"))
    if wrong:
        return Invalid("; ".join(problem for _, problem in wrong), wrong[0][0].doc)
    for field, name, _ in named_values(spec, given):
        problem = _misplaced(field, places.get(name))
        if problem:
            return Invalid(f"$.input.{name}: {problem}", field.doc)
    return None


def _misplaced(field: Field, place: Place | None) -> str:
    if not isinstance(place, Located):
        return ""
    if place.kind == "missing":
        return f"there is no {quoted(place.path, 120)}"
    if place.kind == "other" or (place.kind == "folder" and field.of != "folder"):
        return f"{quoted(place.path, 120)} is not a regular file"
    return ""


def mistyped(settings: Mapping[str, object], field: Field, value: Json) -> str:
    """What is wrong with the shape of one input value; empty where nothing is.

    Args:
        settings: the contract's settings of the tool.
    """
    if field.kind in ("path", "name", "text"):
        return _bad_text(settings, field, value)
    if field.kind == "integer":
        if type(value) is not int:
            return "expected a whole number"
        return _bounds(value, field.least, field.most, "")
    if field.kind == "flag":
        return "" if isinstance(value, bool) else "expected true or false"
    if field.kind == "choice":
        return (
            "" if value in field.choices and isinstance(value, str) else f"expected one of {', '.join(field.choices)}"
        )
    return _bad_list(field, value)


def _bad_text(settings: Mapping[str, object], field: Field, value: Json) -> str:
    if not isinstance(value, str):
        return "expected a text"
    if field.kind == "text" and field.least != 0 and not value.strip():
        return "expected a text that is not empty or blank"
    limit = settings.get(f"max_{field.name}_chars")
    most = limit if type(limit) is int else field.most
    return _bounds(len(value), field.least, most, " characters")


def _bad_list(field: Field, value: Json) -> str:
    if not isinstance(value, list):
        return "expected a list"
    problem = _bounds(len(value), field.least, field.most, " entries")
    if problem:
        return problem
    types = {"text": str, "integer": int, "path": str}
    for number, item in enumerate(value):
        if not field.items:
            if not isinstance(item, str):
                return f"entry {number}: expected a text"
            continue
        if not isinstance(item, dict) or set(item) != set(field.items):
            return f"entry {number}: expected an object with exactly {', '.join(field.items)}"
        for key, kind in field.items.items():
            if type(item[key]) is not types[kind]:
                return f"entry {number}: {key} must be {'a whole number' if kind == 'integer' else 'a text'}"
    return ""


def _bounds(value: int, least: int | None, most: int | None, unit: str) -> str:
    if least is not None and value < least:
        return f"expected at least {least}{unit}, found {value}"
    if most is not None and value > most:
        return f"expected at most {most}{unit}, found {value}"
    return ""


def _canonical(
    contract: Contract, spec: ToolSpec, given: Mapping[str, Json], places: Mapping[str, Place]
) -> dict[str, Json]:
    settings = contract.tools.get(spec.name, {})
    arguments: dict[str, Json] = {}
    for field in spec.fields:
        place = places.get(field.name)
        if isinstance(place, Located):
            arguments[field.name] = place.path
        elif field.kind == "list" and isinstance(given.get(field.name), list):
            arguments[field.name] = _canonical_list(field, given[field.name], places)
        elif field.name in given:
            arguments[field.name] = given[field.name]
        else:
            arguments[field.name] = settings.get(field.name, field.default)
    return arguments


def _canonical_list(field: Field, value: Json, places: Mapping[str, Place]) -> Json:
    items: list[Json] = []
    assert isinstance(value, list)
    for number, item in enumerate(value):
        if isinstance(item, dict):
            item = dict(item)
            for key in item:
                place = places.get(f"{field.name}[{number}].{key}")
                item[key] = place.path if isinstance(place, Located) else item[key]
        items.append(item)
    return items
