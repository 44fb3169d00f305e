"""A store as a test reaches it past its own interface: as somebody with an editor for databases would."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rootproof.ledger.store import Store
from rootproof.stores import open_store


class Place(Protocol):
    """Where a store lies."""

    @property
    def named(self) -> str: ...

    def open(self, *, read_only: bool = False, lease: float = 60.0) -> Store: ...

    def change(self, statement: str, *values: Any) -> int:
        """Carry out a statement over tables called runs, events, blobs and meta; how many rows it met."""
        ...

    def count(self, table: str) -> int:
        """How many rows a table has."""
        ...

    def hinder(self, seq: int, how: str) -> None:
        """Let the writing of an event fail: ``full``."""
        ...


@dataclass(frozen=True)
class SqlitePlace:
    path: Path

    @property
    def named(self) -> str:
        return str(self.path)

    def open(self, *, read_only: bool = False, lease: float = 60.0) -> Store:
        return open_store(self.path, read_only=read_only, lease=lease)

    def change(self, statement: str, *values: Any) -> int:
        connection = sqlite3.connect(self.path)
        done = connection.execute(statement.replace("ENDED", "0"), values)
        connection.commit()
        connection.close()
        return done.rowcount

    def count(self, table: str) -> int:
        connection = sqlite3.connect(self.path)
        try:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        finally:
            connection.close()

    def hinder(self, seq: int, how: str) -> None:
        words = {"full": "database or disk is full", "busy": "database is locked"}[how]
        self.change(
            f"CREATE TRIGGER t BEFORE INSERT ON events WHEN new.seq = {seq} BEGIN SELECT RAISE(ABORT, '{words}'); END"
        )

    def ease(self) -> None:
        self.change("DROP TRIGGER t")


@dataclass(frozen=True)
class PostgresPlace:
    url: str

    @property
    def named(self) -> str:
        return self.url

    def open(self, *, read_only: bool = False, lease: float = 60.0) -> Store:
        return open_store(self.url, read_only=read_only, lease=lease)

    def change(self, statement: str, *values: Any) -> int:
        import psycopg

        for table in ("runs", "events", "blobs", "meta"):
            statement = statement.replace(f" {table} ", f" rootproof_{table} ")
        statement = statement.replace("?", "%s").replace("ENDED", "'epoch'")
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement, values).rowcount

    def count(self, table: str) -> int:
        import psycopg

        with psycopg.connect(self.url) as connection:
            return int(connection.execute(f"SELECT count(*) FROM rootproof_{table}").fetchone()[0])  # type: ignore

    def hinder(self, seq: int, how: str) -> None:
        state = {"full": "53100", "busy": "55P03"}[how]
        self.change(
            "CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'hindered' USING ERRCODE = '{state}'; END $$"
        )
        self.change(
            f"CREATE TRIGGER t BEFORE INSERT ON events FOR EACH ROW WHEN (new.seq = {seq}) EXECUTE FUNCTION hinder()"
        )

    def ease(self) -> None:
        self.change("DROP TRIGGER t ON events ")


def place_of(named: str | Path) -> SqlitePlace | PostgresPlace:
    """The place that a store's name means."""
    return PostgresPlace(named) if isinstance(named, str) and "://" in named else SqlitePlace(Path(named))
