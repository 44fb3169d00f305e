"""A fact: something a check made true of an observation, with where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

Scalar = str | int | float | bool | None


class Noun(BaseModel):
    """Frozen, strict, closed data."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Source(Noun):
    """Where in a file a captured value stands."""

    path: str
    line: int
    digest: str
    """SHA-256 of the whole file it was captured from."""


class Fact(Noun):
    """One confirmed statement. Only the controller makes facts."""

    name: str
    value: Scalar | tuple[Scalar, ...]
    about: str = ""
    """The subject it is about; empty where the contract speaks of one subject only."""
    event: int
    """Number of the event that holds the observation."""
    observation: str
    """Digest of that observation."""
    check: str
    """Which check made it: ``evidence:ID``, ``capture:ID``, ``bind:ID`` or ``built-in:TOOL``."""
    request: str = ""
    """Digest of the request and its conditions: the same again must say the same."""
    source: Source | None = None
    reads: tuple[str, ...] = ()
    """Paths it rests on: if one of them changes, the fact is stale. Empty: the whole scope."""
    standing: Literal["held", "open", "conflict", "stale"] = "held"
    """``open``: it stands as soon as what stands against it is judged to its end; until then it counts for nothing."""
    why: str = ""
    """Why it does not stand."""

    @property
    def key(self) -> tuple[str, str]:
        return (self.name, self.about)


Key = tuple[str, str]


def changed_standing(
    facts: Mapping[Key, Fact], conflicts: Iterable[Key], opened: Iterable[tuple[str, str, str]], settled: Iterable[Key]
) -> dict[Key, Fact]:
    """The facts after some were withdrawn, opened or settled. What is not among them is passed over.

    A fact that is withdrawn stays so: being opened only tells the reason.
    """
    after = dict(facts)
    for key in conflicts:
        if key in after:
            after[key] = after[key].model_copy(update={"standing": "conflict"})
    for name, about, why in opened:
        fact = after.get((name, about))
        if fact is not None:
            standing = "open" if fact.standing == "held" else fact.standing
            after[fact.key] = fact.model_copy(update={"standing": standing, "why": why})
    for key in settled:
        if key in after and after[key].standing == "open":
            after[key] = after[key].model_copy(update={"standing": "held", "why": ""})
    return after
