"""What a tool is: a declared shape of input and result, a declared effect, and one call.

The declaration is data, so that the rules can judge a request without entering the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from rootproof.canonical import Json
from rootproof.place import Located

Effect = Literal["none", "idempotent", "side_effect"]
FieldKind = Literal["path", "name", "text", "integer", "flag", "choice", "list"]
ResultKind = Literal["text", "integer", "flag", "scalar", "list", "object"]

REACHES = ("files", "processes", "write", "network", "credentials", "deploy")
"""What a tool can reach; a contract's ``scope.excluded`` names those that none may."""


@dataclass(frozen=True)
class Field:
    """One field of a tool's input, or one of its settings in a contract."""

    name: str
    kind: FieldKind
    doc: str
    required: bool = True
    default: Json = None
    of: str = ""
    """For kind ``name``, and for each entry of a list of texts: the list of the contract's scope that must hold it. For
    kind ``path``: ``folder`` where a folder may be named too."""
    least: int | None = None
    most: int | None = None
    """Bounds: of the value for an integer, of the length for a text or a list."""
    choices: tuple[str, ...] = ()
    alias: str = ""
    """For kind ``choice``: a value may also begin with this and go on with an alias of the user's own configuration."""
    items: Mapping[str, str] = field(default_factory=dict)
    """For kind ``list``: the keys of each item and the type of each (``text``, ``integer``, ``path``)."""
    condition: bool = False
    """True: it changes what the answer means. An evidence item that names it neither in ``where`` nor in ``expect`` is
    about requests that leave it at its default."""


@dataclass(frozen=True)
class Result:
    """One field of a tool's result. Evidence may match and bind these, and nothing else."""

    name: str
    kind: ResultKind
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """A fact that every sound observation of a tool gives, asked for or not."""

    fact: str
    value: str
    """Result field whose value the fact has (``set``) or gains (``append``)."""
    how: Literal["set", "append"] = "set"
    about: tuple[str, ...] = ()
    """Result fields that tell apart what is recorded; joined by ``:``."""
    unless: Json = None
    """No fact where the field has this value."""


@dataclass(frozen=True)
class Side:
    """What a side-effect tool must declare, all of it."""

    idempotency_key: str = ""
    """Which input fields make the key, comma-separated: the same values in one run are the same effect."""
    approval: str = ""
    """Who must approve: ``person`` is the only rule there is."""
    compensation: str = ""
    """What undoes it, in words a person can judge."""

    @property
    def key_fields(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.idempotency_key.split(",") if name.strip())


@dataclass(frozen=True)
class ToolSpec:
    """The declaration of a tool."""

    name: str
    version: str
    doc: str
    fields: tuple[Field, ...]
    results: tuple[Result, ...]
    settings: tuple[Field, ...] = ()
    effect: Effect = "none"
    reaches: tuple[str, ...] = ()
    """Some of ``REACHES``."""
    echoes: tuple[str, ...] = ()
    """Input fields that the result must repeat exactly, or it is an answer to something else."""
    repeatable: bool = False
    """True: asked again it runs again (a test run). False: a repeat is answered from the ledger."""
    checks: bool = False
    """True: its observation is an external check (a test's outcome, a re-read of the source, an intervention)."""
    records: tuple[Record, ...] = ()
    captures: bool = False
    """True: its observations carry whole files, over which captures run."""
    test_runs: int = 0
    """Started test processes one call costs at least."""
    times: str = ""
    """Input field that only says how often the same is done: no part of the conditions of an observation."""
    side: Side = field(default_factory=Side)

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    def result(self, name: str) -> Result | None:
        return next((r for r in self.results if r.name == name), None)


@dataclass(frozen=True)
class Request:
    """An authorised action: what a tool is given."""

    tool: str
    input: Mapping[str, Json]
    """Canonical: defaults filled in, paths root-relative."""
    paths: Mapping[str, Located] = field(default_factory=dict)
    seconds: float = 60.0
    """The smaller of the tool's limit and what is left of the budget."""
    cpu_seconds: float = 600.0
    test_runs: int = 1_000_000
    prior_tries: int = 0
    """Interventions already tried in this run."""
    secrets: tuple[str, ...] = ()
    """Values to mask before a text is cut, lest a part of one is left at the edge; the controller masks all again."""
    key: str = ""
    """The idempotency key, for a tool with a side effect: under one key the effect happens once, however often it is
    asked for, and the answer is the same."""


@dataclass(frozen=True)
class Spend:
    """What something cost. All values are additions, never negative."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    test_runs: int = 0
    model_tokens: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.test_runs + other.test_runs,
            self.model_tokens + other.model_tokens,
        )


Cut = Literal["", "timeout", "output", "crashed", "cpu", "memory", "processes", "disk"]


@dataclass(frozen=True)
class Observation:
    """What a tool reports. Unverified: it may be partial, stale, malformed or hostile."""

    fields: Mapping[str, object]
    """Structured result. May be of any shape: whether it is sound is judged by ``evidence``."""
    excerpt: str = ""
    """What a model is shown; cut and escaped."""
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    """Whole files and captures, stored by digest beside the event."""
    conditions: Mapping[str, Json] = field(default_factory=dict)
    """Order, seed, change ... : two observations of one request are comparable only where these are equal."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Root-relative path → digest of the bytes it rests on."""
    cut: Cut = ""
    """Why it is not whole. A cut observation never counts as a pass nor as an expected failure."""
    stale: tuple[str, ...] = ()
    """Paths that no longer are as the run's first event fixed them: an observation, but no fact."""
    flags: tuple[str, ...] = ()
    spent: Spend = field(default_factory=Spend)


@dataclass(frozen=True)
class Declined:
    """The tool found, before or while executing, that the request cannot be meant."""

    reason: str
    hint: str = ""
    spent: Spend = field(default_factory=Spend)


class Tool(Protocol):
    """One thing that can be asked. ``run`` is entered only with an authorised request."""

    @property
    def spec(self) -> ToolSpec: ...

    def run(self, request: Request) -> Observation | Declined:
        """Do it and report. Whatever the code under test does is part of the report.

        Raises:
            KeyboardInterrupt: the user interrupted; nothing the tool started is alive.
        """
        ...


@dataclass(frozen=True)
class Standing:
    """What is known of a side effect that was begun under a key."""

    state: Literal["done", "absent", "undone", "unknown"]
    """``absent`` promises that it did not happen and no longer will of itself; ``unknown`` promises nothing."""
    observation: Observation | None = None
    """For ``done``: what the tool would have reported."""
    reason: str = ""


@dataclass(frozen=True)
class Compensated:
    """What came of undoing a side effect."""

    done: bool
    reason: str = ""
    """What was done, or why it could not be."""


@runtime_checkable
class SideEffectTool(Tool, Protocol):
    """A tool that changes something outside. ``run`` does it at most once for one ``Request.key``.

    A ``Declined`` promises that nothing was changed.
    """

    def lookup(self, key: str) -> Standing:
        """Whether the effect of a key happened. Changes nothing."""
        ...

    def compensate(self, key: str) -> Compensated:
        """Undo the effect of a key. Asked again for the same key it changes nothing more.

        Where the effect did not happen it makes sure that it no longer can under this key: a process that was frozen
        before it entered ``run`` may wake up late.
        """
        ...
