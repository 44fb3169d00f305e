"""What the database says went wrong, as the errors that every store has."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from rootproof.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the database's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _error(path, error) from error
    except OSError as error:
        raise StoreReadOnly(f"{path}: {error.strerror or error}") from error


def _error(path: Path, error: sqlite3.Error) -> StoreError:
    said = str(error)
    if "locked" in said or "busy" in said:
        return StoreBusy(f"{path} is locked by another process ({said})")
    if "full" in said or "disk I/O" in said:
        return StoreFull(f"{path}: {said}")
    if "readonly" in said or "unable to open" in said or "attempt to write" in said:
        return StoreReadOnly(f"{path}: {said}")
    return StoreDamaged(f"{path}: {said}")
