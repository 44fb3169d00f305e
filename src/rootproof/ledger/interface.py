"""What a ledger is: the append-only events of one run, opened by one writer at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rootproof.event import Event
from rootproof.state import State


@dataclass(frozen=True)
class Entry:
    """One event with the bytes it refers to."""

    event: Event
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    """Digest → bytes."""


@dataclass(frozen=True)
class Stored:
    """One event as it is in the store."""

    seq: int
    epoch: int
    time: str
    """UTC, a label only: events are ordered by ``seq``."""
    event: Event
    hash: str
    prior: str


class Ledger(Protocol):
    """The events of one run."""

    run: str

    @property
    def epoch(self) -> int:
        """The writer's fencing epoch: each opening for writing has a higher one."""
        ...

    def replay(self) -> State:
        """The state after all stored events.

        Raises:
            LedgerDamaged: an event was changed, lost or reordered.
        """
        ...

    def append(self, state: State, entry: Entry) -> State:
        """Store one event durably, then fold it.

        Raises:
            LeaseLost: another writer took the run over; nothing was stored.
            StoreBusy, StoreFull, StoreReadOnly: it could not be stored; nothing was.
        """
        ...

    def blob(self, digest: str) -> bytes:
        """Stored bytes by digest.

        Raises:
            LedgerDamaged: they are missing or differ from their digest.
        """
        ...
