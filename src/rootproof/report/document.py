"""What a report is: the form of ``report.json``, of which ``docs/schema/report.json`` is made.

``derived`` is what a reader is told; it follows from ``events`` and ``observations`` alone, so whoever has the file can
derive it again. The number at the end of the form's name changes when a reader of the old form would go wrong.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rootproof.event import Usage
from rootproof.fact import Fact
from rootproof.status import Status

FORM, VERSION = "rootproof/report", 1
SCHEMA = f"{FORM}/{VERSION}"


class Part(BaseModel):
    """Frozen, strict, closed data."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class Spent(Usage):
    """What the whole run cost."""

    steps: int


class Criterion(Part):
    """One condition of success, as the contract has it."""

    text: str
    met: bool | None
    """Null: unknown, for a fact that it asks for is missing or does not stand. Unknown is not met."""


class Needed(Part):
    """A fact that a condition of success speaks of."""

    name: str
    means: str
    """The contract's own words for it; empty where it has none."""
    held: bool
    event: int | None
    """The event that shows it; null where nothing does."""


class Span(Part):
    """Lines of a file as it was. An empty span (last before first) is a place between two lines."""

    path: str
    first: int
    last: int
    function: str


class Context(Span):
    """A span with the lines around it."""

    start: int
    """Number of the first of ``lines``."""
    lines: list[str]
    digest: str
    """SHA-256 of the whole file."""


class Edit(Part):
    """Lines ``start`` to ``end`` of a file give way to ``text``; ``end`` is ``start`` - 1 where it is inserted."""

    path: str
    start: int
    end: int
    text: str


class Tested(Part):
    """One test before the change and with it, as the runs of the confirmation ended."""

    test: str
    before: str
    after: str


class Pair(Part):
    """Two cold runs, one right after the other, under equal conditions."""

    unchanged: str
    changed: str


class CodeCause(Part):
    """A confirmed cause in the code: the subject of a supported change."""

    event: int
    kind: Literal["code"]
    target: str
    grade: Literal["A", "B"]
    reason: str
    """Why that grade: where it is B, the exceptions."""
    signature: str
    subject: str
    change: list[Edit]
    diff: str
    spans: list[Span]
    context: list[Context]
    place: str
    width: str
    executed: bool | None
    """Null: not checked, for there is no trace of this language."""
    pairs: dict[str, int]
    runs: list[Pair]
    """The outcome of the target in each pair."""
    neighbours: dict[str, Any]
    tests: list[Tested]
    """Each neighbour."""
    controls: dict[str, str]
    unmade: list[str]
    """Checks that could not be made."""
    containment: str


class ConditionCause(Part):
    """A confirmed cause that no change of code mends."""

    event: int
    kind: Literal["order", "environment", "flaky"]
    target: str
    grade: Literal["A", "B"]
    reason: str
    signature: str
    subject: str
    condition: str
    predecessors: list[str]
    variable: str
    against: str
    counts: dict[str, int]
    interval: list[float]
    containment: str


class Hypothesis(Part):
    """One change or condition that was tried under the protocol."""

    event: int
    kind: str
    verdict: str
    grade: str
    rule: str
    reason: str
    subject: str
    """What was tried, in words: places of a change, or the condition."""
    diff: str
    open_in: list[str]


class Search(Part):
    """Small changes that were tried at once, by a program. They say where to look and show nothing by themselves."""

    event: int
    tries: int
    by_status: dict[str, int]
    flips: list[Flip]


class Flip(Part):
    """A small change with which the failing test passed."""

    place: str
    change: str
    clean: bool
    """Every neighbour still passed."""
    kept: int
    broken: int


class Suspect(Part):
    """A function that may hold the cause, by the last ranking of the run."""

    event: int
    rank: float
    path: str
    function: str
    first: int
    last: int
    why: str


class Row(Part):
    """One event, in words."""

    event: int
    step: int
    type: str
    tool: str
    what: str
    at: str
    seconds: float
    test_runs: int
    model_says_unverified: str
    """The proposer's own words: nobody checked them."""


class Derived(Part):
    """Everything a reader is told."""

    status: Status
    reason: str
    goal: str
    answer: str | None
    contract_digest: str
    contract_by: Literal["user", "proposer"]
    origin: str
    model: str
    rules: str
    containment: str
    spent: Spent
    facts: list[Fact]
    criteria: list[Criterion]
    needed: list[Needed]
    missing: list[str]
    cause: CodeCause | ConditionCause | None
    suspects: list[Suspect]
    hypotheses: list[Hypothesis]
    searches: list[Search]
    timeline: list[Row]
    scope: dict[str, str]
    """Path → SHA-256 of every file the run could read."""
    claim: str
    """What a report can and cannot hold against."""


class StoredEvent(Part):
    """One event of the ledger, byte for byte; its hash covers the one before."""

    seq: int
    epoch: int
    time: str
    hash: str
    body: str


class Report(Part):
    """The whole file."""

    schema_: Literal["rootproof/report/1"] = Field(alias="schema", default="rootproof/report/1")
    derived: Derived
    run: str
    head: str
    """Hash of the last event: held elsewhere, it proves every event before it."""
    events: list[StoredEvent]
    observations: dict[str, str]
    """SHA-256 → the stored bytes, in base64."""
