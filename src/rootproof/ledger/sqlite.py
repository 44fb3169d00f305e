"""The embedded default: all runs in one SQLite file. One short transaction an event, and the disk is waited for.

Only an event that is derived from the stored ones does not wait: the next one's wait covers it, and a loss of power in
between costs nothing, for it is derived again.

The head of every chain is written in the same transaction as its event, and so is the check of the writer's epoch:
a writer that lost its lease cannot append, however late it wakes up.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rootproof.errors import LedgerDamaged, RunUnknown, StoreDamaged, StoreError, StoreNewer
from rootproof.ledger import chain
from rootproof.ledger.bulk import Bulk, Row
from rootproof.ledger.lease import LEASE_SECONDS, owner
from rootproof.ledger.sqlite_errors import schema_of, transaction, translated
from rootproof.ledger.store import SCHEMA, Line, RunRow, Store

BUSY_SECONDS = 5.0
# A commit writes every page it touched and an event is small: quarter pages cost a seventh less CPU. A log that is
# begun again every 500 pages keeps its size, and waiting for a file whose size stays costs a third less.
PRAGMAS = ("page_size=1024", "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=500")

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


class SqliteStore(Store):
    """One file of runs."""

    def __init__(self, path: Path, *, read_only: bool = False, lease: float = LEASE_SECONDS) -> None:
        """Open the file, creating it unless ``read_only``.

        Raises:
            StoreReadOnly, StoreBusy, StoreDamaged, StoreNewer: it cannot be used.
        """
        self.path = path
        self.place = str(path)
        self.lease = lease
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

    def settle(self) -> None:
        with translated(self.path):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def noted(self, key: str) -> bool:
        with translated(self.path):
            return self.connection.execute("SELECT 1 FROM meta WHERE key=?", (key,)).fetchone() is not None

    def runs(self) -> list[RunRow]:
        with translated(self.path):
            rows = self.connection.execute("SELECT run, created, head_seq, owner FROM runs ORDER BY created DESC, run")
            return [RunRow(*row) for row in rows]

    def snapshot(self, run: str) -> tuple[tuple[int, str] | None, list[chain.Row]]:
        query = self.connection.execute
        with translated(self.path):
            own = not self.connection.in_transaction
            try:
                if own:
                    query("BEGIN")
                head = query("SELECT head_seq, head_hash FROM runs WHERE run=?", (run,)).fetchone()
                found = query("SELECT seq, epoch, time, body, hash FROM events WHERE run=? ORDER BY seq", (run,))
                rows = found.fetchall()
            finally:
                if own and self.connection.in_transaction:
                    query("COMMIT")
        return head, [_row(run, row) for row in rows]

    def head(self, run: str) -> str:
        with translated(self.path):
            found = self.connection.execute("SELECT head_hash FROM runs WHERE run=?", (run,)).fetchone()
        return str(found[0]) if found else ""

    def stored_bytes(self, digest: str) -> bytes | None:
        with translated(self.path):
            row = self.connection.execute("SELECT data FROM blobs WHERE digest=?", (digest,)).fetchone()
        return None if row is None else row[0] if isinstance(row[0], bytes) else str(row[0]).encode()

    def claim(self, run: str) -> int:
        with translated(self.path), transaction(self.connection):
            row = self.connection.execute("SELECT epoch, owner, until FROM runs WHERE run=?", (run,)).fetchone()
            if row is None:
                raise RunUnknown(f"there is no run {run} in {self.path}")
            epoch, holder, until = row
            self.refuse_live(run, holder, until - time.time())
            values = (epoch + 1, owner(), time.time() + self.lease, run)
            self.connection.execute("UPDATE runs SET epoch=?, owner=?, until=? WHERE run=?", values)
        return int(epoch) + 1

    def write(self, line: Line) -> bool:
        connection, row = self.connection, line.row
        until = time.time() + self.lease
        with translated(self.path), transaction(connection, wait=not line.derived):
            if line.fresh:
                begun = (line.run, row.time, row.seq, row.hash, row.epoch, owner(), until)
                moved = connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", begun)
            else:
                moved = connection.execute(
                    "UPDATE runs SET head_seq=?, head_hash=?, until=? WHERE run=? AND epoch=? AND head_seq=?",
                    (row.seq, row.hash, until, line.run, row.epoch, row.seq - 1),
                )
            if moved.rowcount != 1:
                return False
            values = (line.run, row.seq, row.epoch, row.time, row.body, row.hash)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", values)
            if line.attachments:
                connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", list(line.attachments.items()))
        return True

    def hold(self, run: str, epoch: int) -> bool:
        values = (time.time() + self.lease, run, epoch)
        with translated(self.path):  # called from another thread, so over a connection of its own
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                moved = connection.execute("UPDATE runs SET until=? WHERE run=? AND epoch=?", values)
            finally:
                connection.close()
        return moved.rowcount == 1

    def let_go(self, run: str, epoch: int) -> None:
        with translated(self.path), transaction(self.connection):
            self.connection.execute("UPDATE runs SET owner='', until=0 WHERE run=? AND epoch=?", (run, epoch))

    @contextlib.contextmanager
    def bulk(self, *, trial: bool = False) -> Iterator[SqliteBulk]:
        with translated(self.path), transaction(self.connection):
            self.connection.execute("SAVEPOINT bulk")
            yield SqliteBulk(self.connection)
            if trial:
                self.connection.execute("ROLLBACK TO bulk")

    def tidy(self) -> None:
        with contextlib.suppress(StoreError), translated(self.path):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class SqliteBulk(Bulk):
    """The file's tables in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def query(self, statement: str, *values: Any) -> list[Row]:
        return self.connection.execute(_plain(statement), values).fetchall()

    def each(self, statement: str) -> Iterator[Row]:
        return self.connection.execute(_plain(statement))

    def many(self, statement: str, rows: Sequence[Row]) -> None:
        self.connection.executemany(_plain(statement), rows)

    def lease(self, run: str) -> tuple[str, float]:
        holder, until = self.query("SELECT owner, until FROM {runs} WHERE run=?", run)[0]
        return str(holder), until - time.time()

    def remove(self, run: str) -> None:
        self.query("DELETE FROM {events} WHERE run=?", run)
        self.query("DELETE FROM {runs} WHERE run=?", run)

    def drop(self, digests: Sequence[str]) -> None:
        self.many("DELETE FROM {blobs} WHERE digest=?", [(digest,) for digest in digests])

    def used(self) -> int:
        """Bytes of the file's pages that hold something."""
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (int(self.query(f"PRAGMA {name}")[0][0]) for name in names)
        return (pages - free) * size


def _plain(statement: str) -> str:
    return statement.format(runs="runs", events="events", blobs="blobs", meta="meta", ended="0")


def _row(run: str, row: tuple[object, ...]) -> chain.Row:
    seq, epoch, moment, body, link = row
    data = body if isinstance(body, bytes) else str(body).encode()
    if type(seq) is not int or type(epoch) is not int:
        raise LedgerDamaged(f"run {run}: event {seq!r} was changed: its number or epoch is no whole number")
    return chain.Row(seq, epoch, str(moment), data, str(link))


def _quote(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
