"""What the database says went wrong, as the errors that every store has."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType

from rootproof.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly


class translated:
    """Turns the database's errors into ours. A class, for it is entered at every event and a generator costs more."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, sqlite3.Error):
            raise _error(self.path, error) from error
        if isinstance(error, OSError):
            raise StoreReadOnly(f"{self.path}: {error.strerror or error}") from error


class transaction:
    """One write transaction: begun at once, committed at the end, rolled back where anything was raised.

    An interrupt may come at any line, also between the beginning and the block. What it left open is rolled back: else
    the next event would be written into it, and be lost with it, and nobody else could write.
    """

    def __init__(self, connection: sqlite3.Connection, *, wait: bool = True) -> None:
        """``wait``: until the disk has it. Without, a killed process still loses nothing; a loss of power may."""
        self.connection = connection
        self.wait = wait

    def __enter__(self) -> None:
        try:
            self._undo()
            self.connection.execute("PRAGMA synchronous=FULL" if self.wait else "PRAGMA synchronous=NORMAL")
            self.connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._undo()
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self.connection.execute("COMMIT")
        else:
            self._undo()

    def _undo(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def _error(path: Path, error: sqlite3.Error) -> StoreError:
    said = str(error)
    if "locked" in said or "busy" in said:
        return StoreBusy(f"{path} is locked by another process ({said})")
    if "full" in said or "disk I/O" in said:
        return StoreFull(f"{path}: {said}")
    if "readonly" in said or "unable to open" in said or "attempt to write" in said:
        return StoreReadOnly(f"{path}: {said}")
    return StoreDamaged(f"{path}: {said}")


def schema_of(path: Path, value: object) -> int:
    """The number of a store's schema.

    Raises:
        StoreDamaged: it is none.
    """
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise StoreDamaged(f"{path} names no schema but {text[:40]!r}")
    return int(text)
