"""Runs in a Postgres database, for many machines. One short transaction an event, as in the SQLite store.

Leases are judged by the server's clock: machines need not agree on the time. What is written, and under which hash and
epoch, is the same as in every other store.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from rootproof.errors import RunUnknown, StoreDamaged, StoreError, StoreNewer
from rootproof.ledger import chain
from rootproof.ledger.bulk import Bulk, Row
from rootproof.ledger.lease import LEASE_SECONDS, owner
from rootproof.ledger.postgres_errors import Address, address, connect, translated
from rootproof.ledger.store import SCHEMA, Line, RunRow, Store

MAKING = 7_402_118_236
"""Key of the advisory lock under which tables are made: ``IF NOT EXISTS`` alone is no protection from a race."""

_TABLES = """
CREATE TABLE IF NOT EXISTS rootproof_meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS rootproof_runs (
  run text PRIMARY KEY, created text NOT NULL, head_seq bigint NOT NULL, head_hash text NOT NULL,
  epoch bigint NOT NULL, owner text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS rootproof_events (
  run text NOT NULL, seq bigint NOT NULL, epoch bigint NOT NULL, time text NOT NULL, body bytea NOT NULL,
  hash text NOT NULL, PRIMARY KEY (run, seq));
CREATE TABLE IF NOT EXISTS rootproof_blobs (digest text PRIMARY KEY, data bytea NOT NULL);
"""
_OPEN = (TransactionStatus.ACTIVE, TransactionStatus.INTRANS, TransactionStatus.INERROR)
_UNTIL = "clock_timestamp() + make_interval(secs => %(lease)s)"
_FIRST = f"""
WITH moved AS (
  INSERT INTO rootproof_runs VALUES (%(run)s, %(time)s, %(seq)s, %(hash)s, %(epoch)s, %(owner)s, {_UNTIL})
  ON CONFLICT DO NOTHING RETURNING run)
INSERT INTO rootproof_events SELECT run, %(seq)s, %(epoch)s, %(time)s, %(body)s, %(hash)s FROM moved
"""
_NEXT = f"""
WITH moved AS (
  UPDATE rootproof_runs SET head_seq=%(seq)s, head_hash=%(hash)s, until={_UNTIL}
  WHERE run=%(run)s AND epoch=%(epoch)s AND head_seq=%(seq)s - 1 RETURNING run)
INSERT INTO rootproof_events SELECT run, %(seq)s, %(epoch)s, %(time)s, %(body)s, %(hash)s FROM moved
"""
_BLOB = "INSERT INTO rootproof_blobs VALUES (%s, %s) ON CONFLICT DO NOTHING"
_HOLDER = """
SELECT epoch, owner, extract(epoch FROM until - clock_timestamp())::float8 FROM rootproof_runs WHERE run=%s FOR UPDATE
"""
_HOLD = f"UPDATE rootproof_runs SET until={_UNTIL} WHERE run=%(run)s AND epoch=%(epoch)s"
_CLAIM = f"UPDATE rootproof_runs SET epoch=%(epoch)s, owner=%(owner)s, until={_UNTIL} WHERE run=%(run)s"
_ALONE = "LOCK TABLE rootproof_runs, rootproof_events, rootproof_blobs IN EXCLUSIVE MODE"
"""Readers go on. The tables are locked in the order in which a writer comes to them, so that none deadlock."""
_LEFT = "SELECT owner, extract(epoch FROM until - clock_timestamp())::float8 FROM {runs} WHERE run=?"
_EVENT_BYTES = "coalesce(sum(pg_column_size(body) + pg_column_size(hash) + pg_column_size(time)), 0)::bigint"
_BLOB_BYTES = "coalesce(sum(pg_column_size(data) + pg_column_size(digest)), 0)::bigint"
_REMOVE = f"WITH gone AS (DELETE FROM {{events}} WHERE run=? RETURNING *) SELECT {_EVENT_BYTES} FROM gone"
_DROP = f"WITH gone AS (DELETE FROM {{blobs}} WHERE digest=ANY(?) RETURNING *) SELECT {_BLOB_BYTES} FROM gone"
_LET_GO = "UPDATE rootproof_runs SET owner='', until='epoch' WHERE run=%s AND epoch=%s"


class PostgresStore(Store):
    """One database of runs."""

    def __init__(self, url: str, *, read_only: bool = False, lease: float = LEASE_SECONDS) -> None:
        """Connect, making the tables unless ``read_only``.

        Raises:
            UsageError: the address cannot be read.
            StoreUnreachable, StoreReadOnly, StoreNewer: it cannot be used.
        """
        self.address: Address = address(url)
        self.place = self.address.words
        self.lease = lease
        self.read_only = read_only
        self._in_bulk = False
        self.connection = connect(self.address, read_only=read_only)
        try:
            with translated(self.address):
                self._prepare()
        except StoreError:
            self.close()
            raise

    def _prepare(self) -> None:
        if not self._there():
            if self.read_only:
                raise RunUnknown(f"there is no store at {self.place}")
            with self.connection.transaction():
                self.connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
                self.connection.execute(_TABLES)
                first = "INSERT INTO rootproof_meta VALUES ('schema', %s) ON CONFLICT DO NOTHING"
                self.connection.execute(first, (str(SCHEMA),))
        row = self.connection.execute("SELECT value FROM rootproof_meta WHERE key='schema'").fetchone()
        if row is None or not str(row[0]).isdigit():
            raise StoreDamaged(f"{self.place} is not a rootproof store")
        if int(row[0]) > SCHEMA and not self.read_only:
            raise StoreNewer(f"{self.place} has schema {row[0]}, this version writes {SCHEMA}")

    def _there(self) -> bool:
        row = self.connection.execute("SELECT to_regclass('rootproof_blobs') IS NOT NULL").fetchone()
        return bool(row and row[0])

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self.connection.close()

    @property
    def _idle(self) -> psycopg.Connection:
        """The connection, with no transaction open that an interrupt left behind: what is written into such a one is
        lost with it."""
        if self.connection.info.transaction_status in _OPEN and not self._in_bulk:
            self.connection.close()
            self.connection = connect(self.address, read_only=self.read_only)
        return self.connection

    def _query(self, statement: str, values: Mapping[str, Any] | tuple[Any, ...] = ()) -> psycopg.Cursor[Any]:
        with translated(self.address):
            return self._idle.execute(statement, values)

    def settle(self) -> None:
        with translated(self.address):
            _ = self._idle

    def noted(self, key: str) -> bool:
        return self._query("SELECT 1 FROM rootproof_meta WHERE key=%s", (key,)).fetchone() is not None

    def runs(self) -> list[RunRow]:
        rows = self._query("SELECT run, created, head_seq, owner FROM rootproof_runs ORDER BY created DESC, run")
        return [RunRow(*row) for row in rows]

    def snapshot(self, run: str) -> tuple[tuple[int, str] | None, list[chain.Row]]:
        with translated(self.address):
            if self._in_bulk:  # nobody else writes meanwhile
                return self._read(run)
            with self._idle.transaction():
                self.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                return self._read(run)

    def _read(self, run: str) -> tuple[tuple[int, str] | None, list[chain.Row]]:
        query = self.connection.execute
        head = query("SELECT head_seq, head_hash FROM rootproof_runs WHERE run=%s", (run,)).fetchone()
        found = query("SELECT seq, epoch, time, body, hash FROM rootproof_events WHERE run=%s ORDER BY seq", (run,))
        rows = [chain.Row(*row) for row in found]
        return (int(head[0]), str(head[1])) if head else None, rows

    def head(self, run: str) -> str:
        row = self._query("SELECT head_hash FROM rootproof_runs WHERE run=%s", (run,)).fetchone()
        return str(row[0]) if row else ""

    def stored_bytes(self, digest: str) -> bytes | None:
        row = self._query("SELECT data FROM rootproof_blobs WHERE digest=%s", (digest,)).fetchone()
        return bytes(row[0]) if row else None

    def claim(self, run: str) -> int:
        with translated(self.address), self._idle.transaction():
            row = self.connection.execute(_HOLDER, (run,)).fetchone()
            if row is None:
                raise RunUnknown(f"there is no run {run} in {self.place}")
            epoch, holder, left = row
            self.refuse_live(run, holder, left)
            values = {"run": run, "epoch": epoch + 1, "owner": owner(), "lease": self.lease}
            self.connection.execute(_CLAIM, values)
        return int(epoch) + 1

    def write(self, line: Line) -> bool:
        row = line.row
        values = {"run": line.run, "seq": row.seq, "epoch": row.epoch, "time": row.time, "body": row.body}
        values |= {"hash": row.hash, "lease": self.lease}
        if line.fresh:
            values["owner"] = owner()
        statement = _FIRST if line.fresh else _NEXT
        if not line.attachments:  # one statement is a transaction by itself, in one round trip
            return self._query(statement, values).rowcount == 1
        with translated(self.address), self._idle.transaction(), self.connection.cursor() as cursor:
            if cursor.execute(statement, values).rowcount != 1:
                return False
            cursor.executemany(_BLOB, sorted(line.attachments.items()))  # in one order for all, so that none deadlock
        return True

    def hold(self, run: str, epoch: int) -> bool:
        own = connect(self.address)  # called from another thread, which must not wait for the run's own connection
        try:
            with translated(self.address):
                return own.execute(_HOLD, {"run": run, "epoch": epoch, "lease": self.lease}).rowcount == 1
        finally:
            own.close()

    def let_go(self, run: str, epoch: int) -> None:
        if not self.connection.closed and not self.connection.broken:
            self._query(_LET_GO, (run, epoch))
            return
        own = connect(self.address)  # the server was restarted meanwhile: the next holder need not wait for the lease
        try:
            with translated(self.address):
                own.execute(_LET_GO, (run, epoch))
        finally:
            own.close()

    @contextlib.contextmanager
    def bulk(self, *, trial: bool = False) -> Iterator[PostgresBulk]:
        with translated(self.address), self._idle.transaction(force_rollback=trial):
            self.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # an archive is read meanwhile
            self.connection.execute(_ALONE)
            self._in_bulk = True
            try:
                yield PostgresBulk(self.connection)
            finally:
                self._in_bulk = False

    def tidy(self) -> None:
        with contextlib.suppress(StoreError):
            self._query("VACUUM rootproof_runs, rootproof_events, rootproof_blobs")


class PostgresBulk(Bulk):
    """The database's tables in one transaction."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self._used: int | None = None

    def query(self, statement: str, *values: Any) -> list[Row]:
        cursor = self.connection.execute(_own(statement), values)
        return cursor.fetchall() if cursor.description else []

    def each(self, statement: str) -> Iterator[Row]:
        with self.connection.cursor(name="rootproof_each") as cursor:
            yield from cursor.execute(_own(statement))

    def many(self, statement: str, rows: Sequence[Row]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(_own(statement), rows)

    def lease(self, run: str) -> tuple[str, float]:
        holder, left = self.query(_LEFT, run)[0]
        return str(holder), float(left)

    def remove(self, run: str) -> None:
        self._less(self.query(_REMOVE, run))
        self.query("DELETE FROM {runs} WHERE run=?", run)

    def drop(self, digests: Sequence[str]) -> None:
        self._less(self.query(_DROP, list(digests)))

    def used(self) -> int:
        """Bytes of events and stored bytes as the server holds them, compressed and without indexes. Counted once,
        then followed: the tables' files do not shrink when rows are removed."""
        if self._used is None:
            events = self.query(f"SELECT {_EVENT_BYTES} FROM {{events}}")[0][0]
            self._used = int(events) + int(self.query(f"SELECT {_BLOB_BYTES} FROM {{blobs}}")[0][0])
        return self._used

    def _less(self, gone: list[Row]) -> None:
        if self._used is not None:
            self._used -= int(gone[0][0])


def _own(statement: str) -> str:
    tables = {name: f"rootproof_{name}" for name in ("runs", "events", "blobs", "meta")}
    return statement.format(**tables, ended="'epoch'").replace("?", "%s")
