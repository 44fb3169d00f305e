"""All of a store within one transaction, in which nobody else writes: for runs that come or go as a whole.

One dialect of statements serves every member: ``?`` stands for a value, ``{runs}``, ``{events}``, ``{blobs}`` and
``{meta}`` for the tables, ``{ended}`` for the end of a lease that nobody holds. Events are appended by a ledger alone,
never here.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]


class Bulk(abc.ABC):
    """The open transaction. What the store itself reads meanwhile, it reads as this has left it."""

    @abc.abstractmethod
    def query(self, statement: str, *values: Any) -> list[Row]:
        """The rows a statement gives; none for one that gives none."""

    @abc.abstractmethod
    def each(self, statement: str) -> Iterator[Row]:
        """The same, a few at a time: for a whole table. Read to its end before the next statement."""

    @abc.abstractmethod
    def many(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for each row of values."""

    @abc.abstractmethod
    def lease(self, run: str) -> tuple[str, float]:
        """A run's holder, and the seconds for which it still has the run."""

    @abc.abstractmethod
    def remove(self, run: str) -> None:
        """Delete the events of a run, and the run."""

    @abc.abstractmethod
    def drop(self, digests: Sequence[str]) -> None:
        """Delete stored bytes that nothing refers to."""

    @abc.abstractmethod
    def used(self) -> int:
        """Bytes in use by what is stored, as of now in this transaction."""
