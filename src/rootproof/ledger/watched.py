"""A ledger that tells somebody of each event after it is stored. What is told can change nothing."""

from __future__ import annotations

from collections.abc import Callable

from rootproof.event import Event
from rootproof.ledger.interface import Entry, Ledger
from rootproof.state import State

Listener = Callable[[State, Event], None]


class Watched:
    """Any ledger, with listeners."""

    def __init__(self, ledger: Ledger, listeners: tuple[Listener, ...]) -> None:
        self._ledger = ledger
        self._listeners = listeners
        self.run = ledger.run

    @property
    def epoch(self) -> int:
        return self._ledger.epoch

    def replay(self) -> State:
        return self._ledger.replay()

    def append(self, state: State, entry: Entry) -> State:
        after = self._ledger.append(state, entry)
        for listener in self._listeners:
            listener(after, entry.event)
        return after

    def blob(self, digest: str) -> bytes:
        return self._ledger.blob(digest)
