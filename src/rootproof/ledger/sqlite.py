"""The embedded default: all runs in one SQLite file. One short synchronous transaction an event.

The head of every chain is written in the same transaction as its event, and so is the check of the writer's epoch:
a writer that lost its lease cannot append, however late it wakes up.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rootproof import canonical
from rootproof.errors import (
    LeaseLost,
    LedgerDamaged,
    RunUnknown,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNewer,
    StoreReadOnly,
)
from rootproof.event import attachments_of
from rootproof.ledger import chain
from rootproof.ledger.interface import Entry, Stored
from rootproof.ledger.lease import LEASE_SECONDS, alive, owner
from rootproof.ledger.sqlite_errors import schema_of, transaction, translated
from rootproof.state import State, fold

SCHEMA = 1
BUSY_SECONDS = 5.0
# A commit writes every page it touched and an event is small: quarter pages cost a seventh less CPU.
PRAGMAS = ("page_size=1024", "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000")

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
  run TEXT PRIMARY KEY, created TEXT NOT NULL, head_seq INTEGER NOT NULL, head_hash TEXT NOT NULL,
  epoch INTEGER NOT NULL, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  run TEXT NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, time TEXT NOT NULL, body BLOB NOT NULL,
  hash TEXT NOT NULL, PRIMARY KEY (run, seq));
CREATE TABLE IF NOT EXISTS blobs (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
"""


@dataclass(frozen=True)
class RunRow:
    """One run in a listing."""

    run: str
    created: str
    events: int
    owner: str


class SqliteStore:
    """One file of runs."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file, creating it unless ``read_only``.

        Raises:
            StoreReadOnly, StoreBusy, StoreDamaged, StoreNewer: it cannot be used.
        """
        self.path = path
        self.read_only = read_only
        with translated(path):
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path.touch(mode=0o600, exist_ok=True)
            elif not path.is_file():
                raise RunUnknown(f"there is no store at {path}")
            address = f"file:{_quote(path)}?mode={'ro' if read_only else 'rw'}"
            self.connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            self._prepare()

    def _prepare(self) -> None:
        run = self.connection.execute
        # Text that is no text any more is read all the same: the chain then says which event it belongs to.
        self.connection.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
        run("PRAGMA trusted_schema=OFF")
        tables = {name for (name,) in run("SELECT name FROM sqlite_master WHERE type='table'")}
        if "meta" not in tables and (tables or self.read_only):
            raise StoreDamaged(f"{self.path} is not a rootproof store")
        if not self.read_only:
            for pragma in PRAGMAS:
                run(f"PRAGMA {pragma}")
        if not tables:
            self.connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            run("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(SCHEMA),))
        row = run("SELECT value FROM meta WHERE key='schema'").fetchone()
        if row and schema_of(self.path, row[0]) > SCHEMA and not self.read_only:
            raise StoreNewer(f"{self.path} has schema {row[0]}, this version writes {SCHEMA}")

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()

    def runs(self) -> list[RunRow]:
        """All runs, newest first."""
        with translated(self.path):
            rows = self.connection.execute("SELECT run, created, head_seq, owner FROM runs ORDER BY created DESC, run")
            return [RunRow(*row) for row in rows]

    def rows(self, run: str) -> Iterator[tuple[chain.Row, str]]:
        """The verified rows of one run, with the hash each follows.

        Raises:
            RunUnknown, LedgerDamaged
        """
        with translated(self.path):
            head, rows = self._snapshot(run)
            if head is None:
                raise RunUnknown(f"there is no run {run} in {self.path}")
            yield from chain.verified(run, (_row(run, row) for row in rows), head)

    def _snapshot(self, run: str) -> tuple[tuple[int, str] | None, list[tuple[Any, ...]]]:
        """Head and events of one moment: a writer that appends between two reads would look like damage."""
        query = self.connection.execute
        own = not self.connection.in_transaction
        if own:
            query("BEGIN")
        try:
            head = query("SELECT head_seq, head_hash FROM runs WHERE run=?", (run,)).fetchone()
            rows = query("SELECT seq, epoch, time, body, hash FROM events WHERE run=? ORDER BY seq", (run,)).fetchall()
        finally:
            if own:
                query("COMMIT")
        return head, rows

    def events(self, run: str) -> Iterator[Stored]:
        """The verified events of one run."""
        for row, prior in self.rows(run):
            yield chain.decode(run, row, prior)

    def head(self, run: str) -> str:
        """Hash of a run's last event."""
        with translated(self.path):
            found = self.connection.execute("SELECT head_hash FROM runs WHERE run=?", (run,)).fetchone()
        return str(found[0]) if found else ""

    def check_blobs(self, run: str) -> None:
        """Read every stored observation of a run against its digest.

        Raises:
            LedgerDamaged: names the event whose observation is not what it was.
        """
        for stored in self.events(run):
            for name, digest in attachments_of(stored.event).items():
                try:
                    self.blob(digest)
                except LedgerDamaged as error:
                    raise LedgerDamaged(f"run {run}: event {stored.seq}: observation {name!r}: {error}") from None

    def blob(self, digest: str) -> bytes:
        with translated(self.path):
            row = self.connection.execute("SELECT data FROM blobs WHERE digest=?", (digest,)).fetchone()
        if row is None:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} are missing")
        data = row[0] if isinstance(row[0], bytes) else str(row[0]).encode()
        if canonical.digest_bytes(data) != digest:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} were changed")
        return data

    def find(self, prefix: str) -> str:
        """The one run whose id begins with ``prefix``; ``last`` is the newest.

        Raises:
            RunUnknown: none, or several.
        """
        runs = [row.run for row in self.runs()]
        if prefix == "last" and runs:
            return runs[0]
        found = [run for run in runs if run == prefix] or [run for run in runs if run.startswith(prefix)]
        if len(found) != 1:
            how = "no run" if not found else f"{len(found)} runs"
            raise RunUnknown(f"{how} in {self.path} with an id beginning {prefix[:40]!r}")
        return found[0]

    def create(self, run: str = "") -> SqliteLedger:
        """A new, empty run, held by this process. The store has it from its first event on, in one transaction."""
        run = run or datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(3)
        return SqliteLedger(self, run, 1, fresh=True)

    def take(self, run: str) -> SqliteLedger:
        """Take an existing run over for writing, fencing off whoever had it.

        Raises:
            StoreBusy: a live process holds it.
        """
        with translated(self.path), transaction(self.connection):
            row = self.connection.execute("SELECT epoch, owner, until FROM runs WHERE run=?", (run,)).fetchone()
            if row is None:
                raise RunUnknown(f"there is no run {run} in {self.path}")
            epoch, holder, until = row
            if until > time.time() and alive(holder):
                raise StoreBusy(f"run {run} is being worked on by {holder}")
            values = (epoch + 1, owner(), time.time() + LEASE_SECONDS, run)
            self.connection.execute("UPDATE runs SET epoch=?, owner=?, until=? WHERE run=?", values)
        return SqliteLedger(self, run, epoch + 1)


class SqliteLedger:
    """One run of a store, open for appending under one epoch."""

    def __init__(self, store: SqliteStore, run: str, epoch: int, *, fresh: bool = False) -> None:
        self.store = store
        self.run = run
        self.epoch = epoch
        self._head = ""
        self._fresh = fresh

    def replay(self) -> State:
        if self._fresh:
            return State()
        state = chain.replay(self.store.events(self.run))
        row = self.store.connection.execute("SELECT head_hash FROM runs WHERE run=?", (self.run,)).fetchone()
        self._head = row[0]
        return state

    def append(self, state: State, entry: Entry) -> State:
        seq, moment, body = state.seq + 1, _now(), chain.encode(entry.event)
        link = chain.link(self._head or chain.genesis(self.run), seq, self.epoch, moment, body)
        try:
            self._write(seq, moment, body, link, entry.attachments)
        except (StoreBusy, StoreFull, StoreReadOnly) as error:
            raise type(error)(f"run {self.run}: event {seq} was not stored: {error}") from error
        self._head, self._fresh = link, False
        return fold(state, entry.event, self.epoch)

    def _write(self, seq: int, moment: str, body: bytes, link: str, attachments: Mapping[str, bytes]) -> None:
        connection = self.store.connection
        until = time.time() + LEASE_SECONDS
        with translated(self.store.path), transaction(connection):
            if self._fresh:
                begun = (self.run, moment, seq, link, self.epoch, owner(), until)
                moved = connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", begun)
            else:
                moved = connection.execute(
                    "UPDATE runs SET head_seq=?, head_hash=?, until=? WHERE run=? AND epoch=? AND head_seq=?",
                    (seq, link, until, self.run, self.epoch, seq - 1),
                )
            if moved.rowcount != 1:
                raise LeaseLost(f"run {self.run} was taken over by another process; event {seq} was not stored")
            row = (self.run, seq, self.epoch, moment, body, link)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
            if attachments:
                connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", list(attachments.items()))

    def blob(self, digest: str) -> bytes:
        return self.store.blob(digest)

    @property
    def head(self) -> str:
        """Hash of the last event: held elsewhere, it proves the whole run."""
        return self._head

    def renew(self) -> bool:
        """Hold the lease longer; False where another process has the run."""
        values = (time.time() + LEASE_SECONDS, self.run, self.epoch)
        with translated(self.store.path):  # called from another thread, so over a connection of its own
            connection = sqlite3.connect(self.store.path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                moved = connection.execute("UPDATE runs SET until=? WHERE run=? AND epoch=?", values)
            finally:
                connection.close()
        return moved.rowcount == 1

    def release(self) -> None:
        """Let the run go, so that another process need not wait for the lease to end."""
        with contextlib.suppress(StoreError), translated(self.store.path):
            self.store.connection.execute(
                "UPDATE runs SET owner='', until=0 WHERE run=? AND epoch=?", (self.run, self.epoch)
            )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _row(run: str, row: tuple[object, ...]) -> chain.Row:
    seq, epoch, moment, body, link = row
    data = body if isinstance(body, bytes) else str(body).encode()
    if type(seq) is not int or type(epoch) is not int:
        raise LedgerDamaged(f"run {run}: event {seq!r} was changed: its number or epoch is no whole number")
    return chain.Row(seq, epoch, str(moment), data, str(link))


def _quote(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
