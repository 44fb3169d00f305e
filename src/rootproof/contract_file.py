"""Reading a contract from disk: all faults at once, nothing run."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rootproof import canonical, contract_faults, pattern
from rootproof.contract import (
    SCHEMA,
    Answer,
    Budget,
    Completion,
    Contract,
    EvidenceItem,
    Policy,
    Scope,
    file_of,
)
from rootproof.contract_parts import Parts, near
from rootproof.difference import differences
from rootproof.errors import ContractError, Fault
from rootproof.plan import PlanTerms, WorkflowStep
from rootproof.tools.interface import ToolSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES = 1_000_000
_SECTIONS: Mapping[str, type] = {
    "scope": Scope,
    "budget": Budget,
    "policy": Policy,
    "completion": Completion,
    "answer": Answer,
    "plan": PlanTerms,
}
_REQUIRED = ("schema", "goal", "scope", "tools", "completion")
_TOOLS: TypeAdapter[dict[str, dict[str, str | int | float | bool]]] = TypeAdapter(
    dict[str, dict[str, str | int | float | bool]]
)


@dataclass(frozen=True)
class Loaded:
    """A contract that loads, where its root lies, and what is weak in it."""

    contract: Contract
    root: Path
    origin: str
    warnings: tuple[Fault, ...] = ()
    file: Path | None = None
    """Where it was read; None where it was given as data."""


def load(path: Path, catalog: Mapping[str, ToolSpec], checks: frozenset[str] = frozenset()) -> Loaded:
    """Read and check a contract file.

    Raises:
        ContractError: with every fault found.
    """
    document = document_of(path)
    loaded = load_document(document, path.absolute().parent, str(path), catalog, checks)
    return replace(loaded, file=path.absolute())


def load_document(
    document: Mapping[str, Any],
    base: Path,
    origin: str,
    catalog: Mapping[str, ToolSpec],
    checks: frozenset[str] = frozenset(),
) -> Loaded:
    """Check a contract given as plain data.

    Raises:
        ContractError: with every fault found.
    """
    faults: list[Fault] = list(_top(document))
    parts = _parts(document, faults, checks)
    found = contract_faults.find(parts, catalog)
    faults += found.faults
    root = (base / (parts.scope.root if parts.scope else ".")).absolute()
    if parts.scope is not None:
        faults += _on_disk(parts.scope, root)
    if faults:
        raise ContractError([Fault(f"{origin}: {f.place}", f.found, f.mend) for f in faults])
    contract = Contract.model_validate_json(canonical.to_bytes(document))
    warnings = tuple(Fault(f"{origin}: {w.place}", w.found, w.mend) for w in found.warnings)
    return Loaded(contract, root, origin, warnings)


def changed_since(path: Path, contract: Contract) -> list[str]:
    """In what the file differs now from the contract it once held; nothing where there is no such file here."""
    if not path.is_file():
        return []
    try:
        now = Contract.model_validate_json(canonical.to_bytes(document_of(path)))
    except (ContractError, ValidationError):
        return ["it does not load any more"]
    return differences(contract.document, now.document)


def document_of(path: Path) -> dict[str, Any]:
    place = str(path)

    def fail(found: str, mend: str) -> ContractError:
        return ContractError([Fault(place, found, mend)])

    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise fail("there is no such file", "`rootproof init` writes a starter contract") from None
    except OSError as error:
        raise fail(f"it cannot be read: {error.strerror or error}", "name a readable TOML file") from None
    if len(data) > MAX_BYTES:
        raise fail(f"it is larger than {MAX_BYTES} bytes", "a contract is a page of TOML; name the right file")
    if not data.strip():
        raise fail("it is empty", "`rootproof init` writes a starter contract")
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise fail(f"it is not UTF-8 text (byte {error.start})", "name a TOML file") from None
    except (ValueError, RecursionError) as error:  # TOML's own error is a ValueError, and so is an endless number
        raise fail(f"it is not valid TOML: {error}", "mend the line named") from None
    plain: dict[str, Any] = _plain(document)
    return plain


def _plain(value: Any) -> Any:
    """TOML's dates and infinities as text: no key of a contract takes one, and so each is found as a fault."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    return value


def _top(document: Mapping[str, Any]) -> Iterator[Fault]:
    known = ("schema", "goal", "mode", *_SECTIONS, "tools", "evidence", "workflow")
    for key in document:
        if key not in known:
            yield Fault(key, "unknown key", near(key, known))
    for key in _REQUIRED:
        if key not in document:
            yield Fault(key, "it is missing", f'schema = "{SCHEMA}"' if key == "schema" else f"add {key}")
    schema = document.get("schema")
    if schema is not None and schema != SCHEMA:
        yield Fault("schema", f"{schema!r} is not a schema this version reads", f"write {SCHEMA!r}")
    goal = document.get("goal")
    if goal is not None and not (isinstance(goal, str) and 0 < len(goal.strip()) <= 2000):
        yield Fault("goal", f"{str(goal)[:60]!r} is no goal", "say in 1 to 2,000 characters what is asked")
    mode = document.get("mode", "react")
    if mode not in ("react", "workflow", "plan"):
        yield Fault("mode", f"{mode!r} is no mode", "write react, workflow or plan")


def _parts(document: Mapping[str, Any], faults: list[Fault], checks: frozenset[str]) -> Parts:
    read: dict[str, Any] = {}
    for name, model in _SECTIONS.items():
        if name in document:
            read[name] = _section(model, document[name], name, faults)
    tools = _section(_TOOLS, document.get("tools", {}), "tools", faults)
    evidence, workflow = (
        _list(model, document, name, faults) for name, model in (("evidence", EvidenceItem), ("workflow", WorkflowStep))
    )
    whole = all(item is not None for _, item in evidence) and tools is not None
    return Parts(
        scope=read.get("scope"),
        budget=read.get("budget"),
        tools=tools,
        evidence=tuple((n, item) for n, item in evidence if item is not None),
        mode=str(document.get("mode", "react")),
        laid=bool(workflow),
        workflow=tuple((n, step) for n, step in workflow if step is not None),
        completion=read.get("completion"),
        answer=read.get("answer"),
        whole=whole,
        checks=checks,
    )


def _list(model: Any, document: Mapping[str, Any], name: str, faults: list[Fault]) -> list[tuple[int, Any]]:
    items = document.get(name, [])
    if not isinstance(items, list):
        faults.append(Fault(name, "it is no list", f"write each item as [[{name}]]"))
        items = []
    return [(n, _section(model, item, f"{name}[{n}]", faults)) for n, item in enumerate(items)]


def _section(model: Any, value: Any, place: str, faults: list[Fault]) -> Any:
    try:
        data = canonical.to_bytes(value)
        return model.validate_json(data) if isinstance(model, TypeAdapter) else model.model_validate_json(data)
    except ValidationError as error:
        faults += [_fault(model, place, detail) for detail in error.errors(include_url=False)]
        return None


def _fault(model: Any, place: str, detail: Any) -> Fault:
    loc = detail["loc"]
    keys = [
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc if not str(part).startswith("function")
    ]
    where = place + "".join(keys)
    if detail["type"] == "extra_forbidden":
        return Fault(where, "unknown key", near(str(loc[-1]), model.model_fields))
    if detail["type"] == "missing":
        return Fault(where, "it is missing", f"add {loc[-1]}")
    return Fault(where, f"{str(detail.get('input'))[:80]!r}: {detail['msg']}", _mend(detail.get("ctx", {})))


def _mend(bounds: Mapping[str, Any]) -> str:
    for name, words in (("ge", "{} or more"), ("gt", "more than {}"), ("le", "{} or less"), ("lt", "less than {}")):
        if name in bounds:
            return f"write {words.format(bounds[name])}"
    return "write a value of the kind named"


def _on_disk(scope: Scope, root: Path) -> Iterator[Fault]:
    real = root.resolve()
    if real == Path("/"):
        yield Fault("scope.root", f"{scope.root!r} is the whole file system", "name the folder of one repository")
        return
    if not root.exists():
        yield Fault("scope.root", f"there is no folder {scope.root!r}", "name the folder of the repository")
        return
    if not root.is_dir():
        yield Fault("scope.root", f"{scope.root!r} is a file", "name the folder of the repository")
        return
    if not os.access(root, os.R_OK | os.X_OK):
        yield Fault("scope.root", f"{scope.root!r} cannot be read", "make it readable")
        return
    for key in ("read", "tests"):
        for number, entry in enumerate(getattr(scope, key)):
            file = file_of(entry) if key == "tests" else entry
            if not pattern.is_glob(file) and ".." not in file and not (real / file).is_file():
                yield Fault(
                    f"scope.{key}[{number}]", f"there is no file {file!r} under the root", "name a file that exists"
                )
