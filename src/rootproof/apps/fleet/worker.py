"""A worker: one process that carries out one job at a time, in its main thread, so that a signal can stop a tool.

A second thread keeps the job's claim alive and looks whether its batch was cancelled. Neither may decide anything
about a run: the ledger's epoch does, whatever a worker believes it still holds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from rootproof.apps.fleet.board import Board, Claim
from rootproof.apps.fleet.tables import PATIENT_TRIES, Tables, open_tables, patiently
from rootproof.apps.fleet.work import Attempted, Dropped, Finished, Interrupted, Later, attempt, settled
from rootproof.errors import StoreBusy, StoreError
from rootproof.stores import open_store

if TYPE_CHECKING:
    from rootproof.assemble import Options
    from rootproof.ledger.store import Store

IDLE_SECONDS = 0.2


@dataclass(frozen=True)
class Settings:
    """What a worker works on, and how."""

    options: Options
    """Of each run; its store is where the ledgers and the board are."""
    models: tuple[str, ...]
    """Jobs with another model are left to other workers."""
    batch: str = ""
    """Only this batch, and then no more; empty: any, until stopped."""
    parent: int = 0
    """Stop when this process is not the parent any more."""

    @property
    def lease(self) -> float:
        return self.options.lease


class Signals:
    """Ctrl-C and a request to terminate stop the worker; a cancelled batch stops the job it has."""

    def __init__(self) -> None:
        self.stopping = False
        self.cancelled = False
        self._busy = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._arrived)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if not (self.cancelled and number == signal.SIGINT):
            self.stopping = True
        if self._busy:
            raise KeyboardInterrupt

    def cancel(self) -> None:
        """From another thread: interrupt the job that the main thread works on, also where it waits for a tool."""
        if not self.cancelled:
            self.cancelled = True
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def rest(self) -> None:
        """There is no job to be interrupted now."""
        self._busy = False

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        self.cancelled, self._busy = False, True
        try:
            if self.stopping:
                raise KeyboardInterrupt
            yield
        finally:
            self.rest()


class Pulse(threading.Thread):
    """Renews the claim at hand, a few times a lease and at least every second."""

    def __init__(self, settings: Settings, signals: Signals) -> None:
        super().__init__(name="pulse", daemon=True)
        self.settings = settings
        self.signals = signals
        self.claim: Claim | None = None
        self.over = threading.Event()

    def run(self) -> None:
        tables: Tables | None = None
        while not self.over.wait(min(self.settings.lease / 4, 1.0)):
            claim = self.claim
            if claim is None:
                continue
            with contextlib.suppress(StoreError):  # a store that is away comes back, or the lease ends
                tables = tables or open_tables(self.settings.options.store)
                if Board(tables).renew(claim, self.settings.lease) == "cancelled" and self.claim is claim:
                    self.signals.cancel()
        if tables is not None:
            tables.close()


class Worker:
    """Serves claims, one at a time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.signals = Signals()
        self.tables = open_tables(settings.options.store)
        self.board = Board(self.tables)
        self._store: Store | None = None
        self._pulse = Pulse(settings, self.signals)
        self._pulse.start()

    def next(self) -> Claim | None:
        """The next job that may be worked on, None where there is none, or the worker was stopped as it asked.

        Raises:
            StoreBusy: a process that stopped as it wrote holds up everybody, and did not go on within reason.
        """
        for tried in range(PATIENT_TRIES + 1):
            try:
                return self.board.claim(self.settings.batch, self.settings.lease, self.settings.models)
            except StoreBusy:
                if tried == PATIENT_TRIES:
                    raise
            if self.stopped():
                break
        return None

    def serve(self, claim: Claim) -> Attempted:
        """Work on a claim and write down what becomes of it."""
        self._pulse.claim = claim
        try:
            with self.signals.busy():
                result = attempt(self._open_store(), claim, self.settings.options)
        except KeyboardInterrupt:
            result = Interrupted({"status": "cancelled", "exit_status": 130, "reason": "stopped", "run": claim.run})
        except StoreError as error:
            result = Later(1.0, False, str(error))
        finally:
            self._pulse.claim = None
            self.signals.rest()
        if isinstance(result, Later | Interrupted):
            self._close_store()  # the next attempt begins with a connection of its own, and nothing half done in it
        result = settled(claim, result, cancelled=self._cancelled(claim))
        return result if self._written(claim, result) else Dropped()

    def _cancelled(self, claim: Claim) -> bool:
        """Whether the batch was cancelled: the board's word, for a signal may have been meant for the job before."""
        with contextlib.suppress(StoreError):
            return self.board.cancelled(claim.batch)
        return False

    def _written(self, claim: Claim, result: Attempted) -> bool:
        """Tell the board, however often it takes: a store that is away is waited for within reason.

        Returns:
            False where another attempt has the job, and nothing is to be said by this one.

        Raises:
            StoreError: it stayed away.
        """
        if isinstance(result, Finished):
            return patiently(lambda: self.board.end(claim, result.outcome), (StoreError,))
        if isinstance(result, Later):
            return patiently(lambda: self.board.give_back(claim, result.seconds, fault=result.fault), (StoreError,))
        return False

    def _open_store(self) -> Store:
        if self._store is None:
            self._store = open_store(self.settings.options.store, lease=self.settings.lease)
        return self._store

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def stopped(self) -> bool:
        """Asked to stop, or left alone by the process that started it."""
        orphaned = self.settings.parent and os.getppid() != self.settings.parent
        return self.signals.stopping or bool(orphaned)

    def close(self) -> None:
        """Let everything go."""
        self._pulse.over.set()
        self._close_store()
        self.tables.close()


def work(settings: Settings) -> None:
    """Take jobs from the board until there are none left, or the worker is stopped. One machine, no server.

    Raises:
        StoreError: the store stayed away.
    """
    worker = Worker(settings)
    try:
        while not worker.stopped():
            claim = worker.next()
            if claim is not None:
                worker.serve(claim)
            elif settings.batch and not worker.board.left(settings.batch):
                return
            else:
                time.sleep(IDLE_SECONDS)
    finally:
        worker.close()
