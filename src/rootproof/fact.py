"""A fact: something a check made true of an observation, with where it came from."""

from __future__ import annotations

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
    standing: Literal["held", "conflict", "stale"] = "held"

    @property
    def key(self) -> tuple[str, str]:
        return (self.name, self.about)
