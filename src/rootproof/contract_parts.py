"""The sections of a contract as far as they could be read, and what is found wrong in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rootproof import pattern
from rootproof.contract import Answer, Budget, Completion, EvidenceItem, Scope
from rootproof.errors import Fault
from rootproof.plan import WorkflowStep


@dataclass(frozen=True)
class Parts:
    """The sections of a contract that could be read; a section with a fault of shape is None."""

    scope: Scope | None = None
    budget: Budget | None = None
    tools: Mapping[str, Mapping[str, object]] | None = None
    evidence: tuple[tuple[int, EvidenceItem], ...] = ()
    """With the number each has in the document, from 0."""
    mode: str = "react"
    laid: bool = False
    """Whether the document lays down any step, readable or not."""
    workflow: tuple[tuple[int, WorkflowStep], ...] = ()
    """With the number each has in the document, from 0."""
    completion: Completion | None = None
    answer: Answer | None = None
    whole: bool = True
    """False where some section is missing because of its shape: then what depends on it is not judged."""
    checks: frozenset[str] = frozenset()


@dataclass
class Findings:
    """Faults and warnings, as they are found."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)

    def fault(self, place: str, found: str, mend: str) -> None:
        self.faults.append(Fault(place, found, mend))


def near(name: str, known: Iterable[str]) -> str:
    """A mend for a name that is not known."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known) or 'none'}"


def gives(item: EvidenceItem) -> tuple[str, ...]:
    """The facts an item can make."""
    try:
        captured = pattern.groups(item.capture) if item.capture else ()
    except pattern.BadPattern:
        captured = ()
    return (item.id, *item.bind, *captured)
