"""The two tables of a fleet, in the same database as the ledgers: SQLite for one machine, Postgres for many.

One dialect of statements serves both: ``?`` stands for a value, ``NOW`` for the database's own clock in seconds. What
is said within ``exclusive`` is seen by others at once or not at all, and one at a time.
"""

from __future__ import annotations

import abc
import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rootproof.errors import StoreBusy, StoreError, StoreUnreachable
from rootproof.ledger.sqlite_errors import transaction, translated
from rootproof.stores import Named, chosen_store, open_store, server

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
BUSY_SECONDS = 20.0
PATIENT_TRIES = 30
LONGEST_PAUSE = 5.0
FLEET = 7_402_118_237
"""Key of the advisory lock that makes exclusive blocks of different machines follow each other."""

_MADE = (
    """CREATE TABLE IF NOT EXISTS fleet_batches (
  batch TEXT PRIMARY KEY, created TEXT NOT NULL, per_repository BIGINT NOT NULL, per_provider TEXT NOT NULL,
  retries BIGINT NOT NULL, cancelled BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS fleet_jobs (
  batch TEXT NOT NULL, number BIGINT NOT NULL, run TEXT NOT NULL UNIQUE, repository TEXT NOT NULL,
  provider TEXT NOT NULL, model TEXT NOT NULL, priority BIGINT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL,
  attempt BIGINT NOT NULL, faults BIGINT NOT NULL, not_before DOUBLE PRECISION NOT NULL, owner TEXT NOT NULL,
  until DOUBLE PRECISION NOT NULL, outcome TEXT, ended DOUBLE PRECISION, PRIMARY KEY (batch, number))""",
    "CREATE INDEX IF NOT EXISTS fleet_jobs_state ON fleet_jobs (state, batch, priority DESC, number)",
)


class Tables(abc.ABC):
    """A connection to the tables, for one thread."""

    @abc.abstractmethod
    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows a statement gives."""

    @abc.abstractmethod
    def change(self, statement: str, *values: Any) -> int:
        """How many rows a statement met. Outside of ``exclusive`` it is a transaction by itself."""

    @abc.abstractmethod
    def exclusive(self) -> contextlib.AbstractContextManager[None]:
        """One transaction that no other exclusive one overlaps."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let the connection go."""

    def _make(self, look: str) -> None:
        """Make the tables, unless the look finds them: making them locks out those who write."""
        if self.query(look):
            return
        with self.exclusive():
            for statement in _MADE:
                self.change(statement)


class SqliteTables(Tables):
    """In the file of the runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        open_store(path).close()  # a store is made, or it is none and nothing is put into it
        with translated(path):
            self.connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        self._make("SELECT 1 FROM sqlite_master WHERE name='fleet_jobs_state'")

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with translated(self.path):
            return self.connection.execute(_sqlite(statement), values).fetchall()

    def change(self, statement: str, *values: Any) -> int:
        with translated(self.path):
            return self.connection.execute(_sqlite(statement), values).rowcount

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        with translated(self.path), transaction(self.connection):
            yield

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()


class PostgresTables(Tables):
    """In the database of the runs. A connection that broke is made again with the next statement."""

    def __init__(self, url: str) -> None:
        from rootproof.ledger import postgres_errors

        self._translated = postgres_errors.translated
        self._connect = postgres_errors.connect
        open_store(url).close()
        self.address = postgres_errors.address(url)
        self._made: psycopg.Connection | None = None
        self._make("SELECT 1 WHERE to_regclass('fleet_jobs_state') IS NOT NULL")

    @property
    def connection(self) -> psycopg.Connection:
        """A connection that is not known to be broken.

        Raises:
            StoreUnreachable: there is none to be had now.
        """
        if self._made is None or self._made.closed or self._made.broken:
            self._made = self._connect(self.address)
        return self._made

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._translated(self.address):
            return self.connection.execute(_postgres(statement), values).fetchall()

    def change(self, statement: str, *values: Any) -> int:
        with self._translated(self.address):
            return self.connection.execute(_postgres(statement), values).rowcount

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._translated(self.address), self.connection.transaction():
            self.connection.execute("SELECT pg_advisory_xact_lock(%s)", (FLEET,))
            yield

    def close(self) -> None:
        if self._made is not None:
            self._made.close()


def open_tables(named: Named) -> Tables:
    """The tables beside the runs of a store.

    Raises:
        StoreError: they cannot be used.
    """
    chosen = chosen_store(named)
    address = server(chosen)
    return PostgresTables(address) if address else SqliteTables(Path(chosen))


def patiently(ask: Callable[[], T], away: tuple[type[StoreError], ...] = (StoreBusy, StoreUnreachable)) -> T:
    """What the store answers; one that is away is asked again, for some two minutes.

    Raises:
        StoreError: it stayed away, or has an error of another kind.
    """
    for tried in range(PATIENT_TRIES):
        with contextlib.suppress(*away):
            return ask()
        time.sleep(min(0.1 * 2**tried, LONGEST_PAUSE))
    return ask()


def _sqlite(statement: str) -> str:
    return statement.replace("NOW", "((julianday('now') - 2440587.5) * 86400.0)")


def _postgres(statement: str) -> str:
    return statement.replace("?", "%s").replace("NOW", "extract(epoch FROM clock_timestamp())::float8")
