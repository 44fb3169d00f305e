"""A run out of a store and into one. What comes from elsewhere is marked until somebody vouches for its head.

A chain proves that nothing was changed since it was written; not who wrote it. So a run from an archive is shown, and
neither resumed nor decided about, until the head that its owner holds elsewhere is named.
"""

from __future__ import annotations

from typing import Literal

from rootproof.errors import ImportRefused, ResumeRefused
from rootproof.event import attachments_of
from rootproof.ledger.archive import Archive
from rootproof.ledger.sqlite import SqliteStore
from rootproof.ledger.sqlite_errors import transaction, translated
from rootproof.ledger.store import Store

UNVOUCHED = "unvouched:"


def taken_out(store: Store, run: str) -> Archive:
    """One run with everything it refers to.

    Raises:
        RunUnknown, LedgerDamaged
    """
    rows = tuple(row for row, _ in store.rows(run))
    digests = {digest for stored in store.events(run) for digest in attachments_of(stored.event).values()}
    created = next(row.created for row in store.runs() if row.run == run)
    return Archive(run, created, rows, {digest: store.blob(digest) for digest in digests})


def put_in(store: SqliteStore, archive: Archive, vouched: bool) -> Literal["new", "known"]:
    """Add a run that :func:`rootproof.ledger.archive.read` has proved.

    Raises:
        ImportRefused: the store has another run of that name.
    """
    query = store.connection.execute
    with translated(store.path), transaction(store.connection):
        found = query("SELECT head_hash FROM runs WHERE run=?", (archive.run,)).fetchone()
        if found and found[0] != archive.head:
            raise ImportRefused(f"the store has a run {archive.run} with another head, {str(found[0])[:16]}")
        if vouched:
            query("DELETE FROM meta WHERE key=?", (UNVOUCHED + archive.run,))
        if found:
            return "known"
        last = archive.rows[-1]
        epoch = max(row.epoch for row in archive.rows)
        query(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, '', 0)", (archive.run, archive.created, last.seq, last.hash, epoch)
        )
        store.connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            [(archive.run, row.seq, row.epoch, row.time, row.body, row.hash) for row in archive.rows],
        )
        store.connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", list(archive.blobs.items()))
        if not vouched:
            query("INSERT OR REPLACE INTO meta VALUES (?, ?)", (UNVOUCHED + archive.run, archive.head))
    return "new"


def unvouched(store: Store, run: str) -> bool:
    """Whether a run came from an archive whose head nobody has named."""
    return store.noted(UNVOUCHED + run)


def refuse_unvouched(store: Store, run: str) -> None:
    """
    Raises:
        ResumeRefused: nobody vouches for the run.
    """
    if unvouched(store, run):
        raise ResumeRefused(
            f"run {run} came from an archive, and nobody vouches for who made it",
            "name the head you hold from elsewhere: `rootproof import FILE --head HASH`; `rootproof show` works",
        )
