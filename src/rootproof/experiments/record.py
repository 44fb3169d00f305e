"""What one confirmation saw, as data: every run in order, the traces, the plan of controls. Never what follows from it.

The record is stored with the observation; ``verdict`` derives everything from it by pure functions, here and on any
other machine. Shapes from outside are checked when a record is read back.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rootproof.canonical import to_bytes
from rootproof.experiments.change import Change, Edit

FORM = "rootproof/confirmation/1"
UNTOLD = ("crashed", "incomplete", "timeout", "unknown", "collection_error", "config_error")
"""Words for a test, or a run of several, that did not tell its end."""

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What one test did in one run."""

    test: str
    status: str
    phases: tuple[tuple[str, str], ...] = ()
    """(phase, outcome) as reported."""
    signature: str = ""
    """Of the failure; empty where there is none."""
    phase: str = ""
    path: str = ""
    line: int = 0
    blocked: tuple[str, ...] = ()
    """What containment may have refused."""

    @property
    def passed(self) -> bool:
        """Set-up, call and tear-down each reported passed; nothing was expected to fail, skipped or said twice."""
        wanted = {("setup", "passed"), ("call", "passed"), ("teardown", "passed")}
        return self.status == "passed" and len(self.phases) == 3 and set(self.phases) == wanted

    @property
    def failed(self) -> bool:
        return self.status in ("failed", "error")


@dataclass(frozen=True)
class Run:
    """One started test process."""

    number: int
    """Order of start within this confirmation, from 1."""
    stage: str
    variant: str
    """``unchanged``, ``changed``, ``inert``, ``place:2`` ...: what was in place."""
    seed: int
    tests: tuple[str, ...]
    order: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    """(path, SHA-256) of each replaced file."""
    guards: str
    """Digest over the test files, fixtures and configuration as they were in place."""
    session: str
    outcomes: tuple[Outcome, ...] = ()
    retried: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    problem: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    cut: str = ""
    """What ended it, if it did not end by itself: the limit that was reached, or ``killed``."""

    def outcome(self, test: str) -> Outcome | None:
        found = [each for each in self.outcomes if each.test == test]
        return found[0] if len(found) == 1 else None

    def passed(self, test: str) -> bool:
        """A pass by every condition there is: first attempt, same id, one report."""
        found = self.outcome(test)
        return found is not None and found.passed and not self.retried

    def silent(self, test: str) -> bool:
        """Whether the process ended before it told how this test came out."""
        found = self.outcome(test)
        return (self.session if found is None else found.status) in UNTOLD

    def failed(self, test: str, signature: str) -> bool:
        """A failure with just this signature."""
        found = self.outcome(test)
        return found is not None and found.failed and found.signature == signature and not self.retried


@dataclass(frozen=True)
class Span:
    """Lines of one file of the unchanged tree. An empty span (last before first) is a place between two lines."""

    path: str
    first: int
    last: int
    function: str = ""


@dataclass(frozen=True)
class Traced:
    """What the target executed in one traced run."""

    variant: str
    lines: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Lines of set-up and call, in files that matter to the subject."""
    imported: tuple[tuple[str, tuple[int, ...]], ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    """(caller, callee) as ``file::function``, of functions that matter to the subject."""
    returns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """``file::function`` → values given back by new comparison methods."""
    status: str = ""
    """How the target ended; ``unsteady``: otherwise here than in another run."""
    cut: bool = False
    """Not every line was looked at to the end: what is missing here may have run."""

    @property
    def told(self) -> bool:
        """Whether the run ended as such runs do: what is missing in another one may yet run, but for chance."""
        wanted = ("passed",) if self.variant == "changed" else ("failed", "error")
        return not self.cut and self.status in wanted

    def ran(self, path: str) -> frozenset[int]:
        return frozenset(line for file, lines in self.lines if file == path for line in lines)


@dataclass(frozen=True)
class Place:
    """One change of the place control."""

    function: str
    edits: tuple[Edit, ...]
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True)
class Confirmation:
    """One confirmation, as far as it came."""

    target: str
    tree: str
    """Digest of the tree it was about."""
    proposed: tuple[Edit, ...]
    form: str = FORM
    kind: str = "code"
    level: str = "none"
    """Containment of the runs."""
    covered: bool = True
    """False: there is no trace for this language."""
    tries: int = 1
    """N: all changes tried for this target in this run, this one included."""
    signature: str = ""
    operands: tuple[tuple[str, Any], ...] = ()
    """(``value`` or ``repr``, operand) of the failed comparison."""
    raised: bool = False
    """The failure was no failed comparison."""
    failing: tuple[str, int] = ("", 0)
    """Root-relative file and line of the failure in the test's file."""
    files: tuple[tuple[str, str], ...] = ()
    """(path, SHA-256) of the files the verdict needs: changed ones, the test's, those of paired spans."""
    tests: tuple[str, ...] = ()
    """Files that hold tests."""
    runs: tuple[Run, ...] = ()
    traces: tuple[Traced, ...] = ()
    reduced: tuple[Edit, ...] = ()
    needed: tuple[tuple[int, str], ...] = ()
    """(edit, why): the run that fails without this edit of the reduced change."""
    paired: tuple[Span, ...] = ()
    neighbours: tuple[str, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    neighbours_cut: bool = False
    """The traced pass over the other tests did not come to its end: neighbours may be missing."""
    earlier_assertions: bool = False
    """Without neighbours: earlier assertions of the target ran the changed function."""
    witnesses: int = -1
    """Neighbours that run a changed statement itself, not just its function; -1: not counted here."""
    places: tuple[Place, ...] = ()
    unmade: tuple[tuple[str, str], ...] = ()
    """(check, why it could not be made here)."""
    stopped: tuple[str, str] = ("", "")
    """(stage, reason) where it ended early for want of budget or by a fault of the machinery."""

    def of(self, stage: str, variant: str = "") -> tuple[Run, ...]:
        return tuple(r for r in self.runs if r.stage == stage and variant in ("", r.variant))

    def trace(self, variant: str) -> Traced | None:
        return next((t for t in self.traces if t.variant == variant), None)

    @property
    def change(self) -> Change:
        """The reduced change; the proposed one before reduction."""
        return Change(self.reduced or self.proposed)


def to_data(record: object) -> bytes:
    """The canonical bytes of a record of whatever kind."""
    return to_bytes(plain(record))


def plain(value: Any) -> Any:
    """Nested records as plain data."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def from_data(data: bytes) -> Confirmation:
    """Read a record back.

    Raises:
        ValueError: it is none, or a part of it has another shape.
    """
    return read_back(Confirmation, FORM, data)


def read_back(kind: type[T], form: str, data: bytes) -> T:
    """A record of one kind and form.

    Raises:
        ValueError: it is none, or a part of it has another shape.
    """
    try:
        value = json.loads(data)
        if value.get("form") != form:
            raise ValueError(f"it is not of the form {form}")
        return built(kind, value)
    except (TypeError, AttributeError, KeyError, RecursionError) as fault:
        raise ValueError(f"this is no record of a {kind.__name__.lower()}: {fault}") from None


def built(kind: type[T], value: Mapping[str, Any]) -> T:
    """A record from plain data; ValueError where a part has another shape."""
    if not isinstance(value, dict):
        raise ValueError(f"{kind.__name__} must be an object")
    hints = get_type_hints(kind)
    names = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    unknown = set(value) - names
    if unknown:
        raise ValueError(f"{kind.__name__} has no {min(unknown)}")
    return kind(**{name: _shaped(hints[name], item) for name, item in value.items()})


def _shaped(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        return built(hint, value)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ValueError("a list is needed")
        inner = get_args(hint)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_shaped(inner[0], item) for item in value)
        if len(inner) != len(value):
            raise ValueError("a list has the wrong length")
        return tuple(_shaped(part, item) for part, item in zip(inner, value, strict=True))
    if hint is Any:
        return tuple(value) if isinstance(value, list) else value
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise ValueError(f"{hint} is needed, found {type(value).__name__}")
    return value


replace = dataclasses.replace
