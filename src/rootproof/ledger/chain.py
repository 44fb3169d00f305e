"""The hash chain: what makes a changed, lost or reordered event visible. The same for every store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from rootproof import canonical
from rootproof.errors import LedgerDamaged, StoreNewer
from rootproof.event import EVENTS, Event
from rootproof.ledger.interface import Stored
from rootproof.state import State, fold


@dataclass(frozen=True)
class Row:
    """One event as a store holds it."""

    seq: int
    epoch: int
    time: str
    body: bytes
    """Canonical JSON of the event."""
    hash: str


def genesis(run: str) -> str:
    """What the first event of a run follows."""
    return hashlib.sha256(b"rootproof/ledger/1\x00" + run.encode()).hexdigest()


def link(prior: str, seq: int, epoch: int, time: str, body: bytes) -> str:
    """The hash of an event: of its body and place, and of all events before it."""
    head = f"{prior}\x00{seq}\x00{epoch}\x00{time}\x00".encode()
    return hashlib.sha256(head + body).hexdigest()


def encode(event: Event) -> bytes:
    """The bytes of an event that are stored and hashed. Defaults are left out."""
    return canonical.to_bytes({"type": event.type, **event.model_dump(mode="json", exclude_defaults=True)})


def verified(run: str, rows: Iterable[Row], head: tuple[int, str]) -> Iterator[tuple[Row, str]]:
    """Rows in order with the hash each follows.

    Args:
        head: number and hash of the last event as the store noted it with that event.

    Raises:
        LedgerDamaged: names the first event that is not what it was.
    """
    prior, seq = genesis(run), 0
    for row in rows:
        if row.seq != seq + 1:
            raise LedgerDamaged(f"run {run}: event {seq + 1} is missing (event {row.seq} follows event {seq})")
        if link(prior, row.seq, row.epoch, row.time, row.body) != row.hash:
            raise LedgerDamaged(f"run {run}: event {row.seq} was changed: its bytes do not match its hash")
        yield row, prior
        prior, seq = row.hash, row.seq
    if (seq, prior) != head:
        raise LedgerDamaged(f"run {run}: event {max(head[0], seq + 1)} is missing: the ledger ends at event {seq}")


def decode(run: str, row: Row, prior: str) -> Stored:
    """The event in a row.

    Raises:
        StoreNewer: its type is not known to this version.
    """
    try:
        event = EVENTS.validate_json(row.body)
    except ValidationError as error:
        raise StoreNewer(
            f"run {run}: event {row.seq} is of a kind this version does not know: {kind_of(row)}"
        ) from error
    return Stored(row.seq, row.epoch, row.time, event, row.hash, prior)


def kind_of(row: Row) -> str:
    """The type an event says it has, for showing what cannot be read."""
    try:
        return str(json.loads(row.body).get("type", "?"))[:40]
    except (ValueError, AttributeError):
        return "?"


def replay(events: Iterable[Stored]) -> State:
    """The state after all events."""
    state = State()
    for stored in events:
        state = fold(state, stored.event, stored.epoch)
    return state
