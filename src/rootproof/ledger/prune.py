"""Keeping a store within a size or an age. A run that could still go on stays, unless it is asked for by name.

All of it is one transaction, also a trial: that one is rolled back at its end, so what it says is what would happen.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from rootproof.errors import StoreError
from rootproof.ledger import chain
from rootproof.ledger.lease import alive
from rootproof.ledger.sqlite import SqliteStore
from rootproof.ledger.sqlite_errors import translated
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


def prune(store: SqliteStore, keep: Keep, *, trial: bool = False) -> Report:
    """Remove what is too old, then the oldest until the rest fits; and the stored bytes nothing refers to any more.

    Raises:
        StoreBusy, StoreReadOnly
    """
    query = store.connection.execute
    with translated(store.path):
        query("BEGIN IMMEDIATE")
        try:
            report = _pruned(store, keep)
        except BaseException:
            query("ROLLBACK")
            raise
        query("ROLLBACK" if trial else "COMMIT")
    if report.removed and not trial:
        with contextlib.suppress(StoreError), translated(store.path):  # else the space is used again by later runs
            query("VACUUM")
            query("PRAGMA wal_checkpoint(TRUNCATE)")
    return report


def _pruned(store: SqliteStore, keep: Keep) -> Report:
    before = _used(store)
    blobs = _Blobs(store)
    removed: list[Pruned] = []
    stayed: list[Pruned] = []
    for run, last in _by_age(store):
        why = _over(store, keep, last)
        if not why:
            continue
        status, may_go = _standing(store, run, keep)
        one = Pruned(run, status, last, why)
        if may_go:
            _remove(store, run)
            blobs.release(run)
        (removed if may_go else stayed).append(one)
    return Report(tuple(removed), tuple(stayed), before, _used(store))


def _by_age(store: SqliteStore) -> Iterator[tuple[str, str]]:
    """Runs with the time of their last event, the oldest first."""
    statement = "SELECT runs.run, events.time FROM runs JOIN events ON events.run=runs.run AND seq=head_seq"
    rows = store.connection.execute(f"{statement} ORDER BY events.time, runs.run").fetchall()
    return iter([(str(run), str(last)) for run, last in rows])


def _over(store: SqliteStore, keep: Keep, last: str) -> str:
    """Why a run should go; empty where it may stay. One whose time cannot be read is of no known age."""
    if keep.seconds is not None:
        with contextlib.suppress(ValueError):
            if time.time() - datetime.fromisoformat(last).timestamp() > keep.seconds:
                return "age"
    return "size" if keep.bytes is not None and _used(store) > keep.bytes else ""


def _standing(store: SqliteStore, run: str, keep: Keep) -> tuple[str, bool]:
    """How a run stands, and whether it may go. One that a living process works on never does."""
    holder, until = store.connection.execute("SELECT owner, until FROM runs WHERE run=?", (run,)).fetchone()
    if until > time.time() and alive(holder):
        return f"in work by {holder}", False
    try:
        state = chain.replay(store.events(run))
    except StoreError as error:
        return error.code, keep.unfinished
    finished = state.stopped and not state.resumable
    status = state.status if finished or state.status != "running" else "not ended"
    return status, finished or keep.unfinished


def _remove(store: SqliteStore, run: str) -> None:
    for table in ("events", "runs"):
        store.connection.execute(f"DELETE FROM {table} WHERE run=?", (run,))
    store.connection.execute("DELETE FROM meta WHERE key=?", (UNVOUCHED + run,))


def _used(store: SqliteStore) -> int:
    pages, free, size = (
        int(store.connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


class _Blobs:
    """Who refers to which stored bytes. Where one event cannot be read, nothing of the stored bytes is removed."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.of: dict[str, set[str]] = {}
        self.readable = True
        for run, body in store.connection.execute("SELECT run, body FROM events"):
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
            unused = [(digest,) for digest in gone if self.count[digest] <= 0]
            self.store.connection.executemany("DELETE FROM blobs WHERE digest=?", unused)
