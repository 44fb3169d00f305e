"""A run out of a store and into one. What comes from elsewhere is marked until somebody vouches for its head.

A chain proves that nothing was changed since it was written; not who wrote it. So a run from an archive is shown, and
neither resumed nor decided about, until the head that its owner holds elsewhere is named.
"""

from __future__ import annotations

from typing import Literal

from rootproof.errors import ImportRefused, ResumeRefused
from rootproof.event import attachments_of
from rootproof.ledger.archive import Archive
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


def put_in(store: Store, archive: Archive, vouched: bool) -> Literal["new", "known"]:
    """Add a run that :func:`rootproof.ledger.archive.read` has proved.

    Raises:
        ImportRefused: the store has another run of that name.
    """
    run, note = archive.run, UNVOUCHED + archive.run
    with store.bulk() as bulk:
        found = bulk.query("SELECT head_hash FROM {runs} WHERE run=?", run)
        if found and found[0][0] != archive.head:
            raise ImportRefused(f"the store has a run {run} with another head, {str(found[0][0])[:16]}")
        if vouched:
            bulk.query("DELETE FROM {meta} WHERE key=?", note)
        if found:
            return "known"
        last = archive.rows[-1]
        begun = (run, archive.created, last.seq, last.hash, max(row.epoch for row in archive.rows))
        bulk.query("INSERT INTO {runs} VALUES (?, ?, ?, ?, ?, '', {ended})", *begun)
        rows = [(run, row.seq, row.epoch, row.time, row.body, row.hash) for row in archive.rows]
        bulk.many("INSERT INTO {events} VALUES (?, ?, ?, ?, ?, ?)", rows)
        bulk.many("INSERT INTO {blobs} VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(archive.blobs.items()))
        if not vouched:
            bulk.query("DELETE FROM {meta} WHERE key=?", note)  # what a run of that name left, however it went
            bulk.query("INSERT INTO {meta} VALUES (?, ?)", note, archive.head)
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
