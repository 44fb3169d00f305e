"""Keeping a store within a size or an age. A run that could still go on stays, unless it is asked for by name.

All of it is one transaction, also a trial: that one is rolled back at its end, so what it says is what would happen.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from rootproof.errors import StoreError
from rootproof.ledger import chain
from rootproof.ledger.bulk import Bulk
from rootproof.ledger.lease import alive
from rootproof.ledger.store import Store
from rootproof.ledger.transfer import UNVOUCHED


@dataclass(frozen=True)
class Keep:
    """What a store may hold."""

    bytes: int | None = None
    seconds: float | None = None
    """Age of a run's last event; of the clock on the wall, by which it was written."""
    unfinished: bool = False
    """True: runs that wait, were interrupted, cancelled or killed, or are damaged, may go too."""


@dataclass(frozen=True)
class Pruned:
    """One run that was removed, or one that had to stay."""

    run: str
    status: str
    last: str
    """Time of its last event."""
    why: str


@dataclass(frozen=True)
class Report:
    """What became of a store."""

    removed: tuple[Pruned, ...]
    stayed: tuple[Pruned, ...]
    """Runs over the limit that could not go."""
    before: int
    after: int
    """Bytes in use."""


def prune(store: Store, keep: Keep, *, trial: bool = False) -> Report:
    """Remove what is too old, then the oldest until the rest fits; and the stored bytes nothing refers to any more.

    Raises:
        StoreBusy, StoreReadOnly
    """
    with store.bulk(trial=trial) as bulk:
        report = _pruned(store, bulk, keep)
    if report.removed and not trial:
        store.tidy()
    return report


def _pruned(store: Store, bulk: Bulk, keep: Keep) -> Report:
    before = bulk.used()
    blobs = _Blobs(bulk)
    removed: list[Pruned] = []
    stayed: list[Pruned] = []
    for run, last in _by_age(bulk):
        why = _over(bulk, keep, last)
        if not why:
            continue
        status, may_go = _standing(store, bulk, run, keep)
        one = Pruned(run, status, last, why)
        if may_go:
            bulk.remove(run)
            bulk.query("DELETE FROM {meta} WHERE key=?", UNVOUCHED + run)
            blobs.release(run)
        (removed if may_go else stayed).append(one)
    return Report(tuple(removed), tuple(stayed), before, bulk.used())


def _by_age(bulk: Bulk) -> list[tuple[str, str]]:
    """Runs with the time of their last event, the oldest first."""
    found = bulk.query(
        "SELECT r.run, e.time FROM {runs} r JOIN {events} e ON e.run=r.run AND e.seq=r.head_seq ORDER BY e.time, r.run"
    )
    return [(str(run), str(last)) for run, last in found]


def _over(bulk: Bulk, keep: Keep, last: str) -> str:
    """Why a run should go; empty where it may stay. One whose time cannot be read is of no known age."""
    if keep.seconds is not None:
        with contextlib.suppress(ValueError):
            if time.time() - datetime.fromisoformat(last).timestamp() > keep.seconds:
                return "age"
    return "size" if keep.bytes is not None and bulk.used() > keep.bytes else ""


def _standing(store: Store, bulk: Bulk, run: str, keep: Keep) -> tuple[str, bool]:
    """How a run stands, and whether it may go. One that a living process works on never does."""
    holder, left = bulk.lease(run)
    if left > 0 and alive(holder):
        return f"in work by {holder}", False
    try:
        state = chain.replay(store.events(run))
    except StoreError as error:
        return error.code, keep.unfinished
    finished = state.stopped and not state.resumable
    status = state.status if finished or state.status != "running" else "not ended"
    return status, finished or keep.unfinished


class _Blobs:
    """Who refers to which stored bytes. Where one event cannot be read, nothing of the stored bytes is removed."""

    def __init__(self, bulk: Bulk) -> None:
        self.bulk = bulk
        self.of: dict[str, set[str]] = {}
        self.readable = True
        for run, body in bulk.each("SELECT run, body FROM {events}"):
            self.of.setdefault(run, set()).update(self._named(body))
        self.count = Counter(digest for digests in self.of.values() for digest in digests)

    def _named(self, body: object) -> set[str]:
        try:
            attachments = json.loads(body if isinstance(body, bytes) else str(body)).get("attachments", {})
            return {str(digest) for digest in attachments.values()}
        except (ValueError, AttributeError, RecursionError):
            self.readable = False
            return set()

    def release(self, run: str) -> None:
        gone = self.of.pop(run, set())
        self.count.subtract(gone)
        if self.readable:
            self.bulk.drop([digest for digest in gone if self.count[digest] <= 0])
