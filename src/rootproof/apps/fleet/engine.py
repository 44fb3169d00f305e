"""Batches over many machines: procrastinate on Postgres hands out the jobs, the board and the ledgers say the rest.

A queue's entry is only a token: "there is something to do for this job". Whether it may be done now, and whether it is
done already, the board says; that nothing is written twice, the ledger's epoch. So a token that was handed out twice
does no harm, and one whose worker died is put back by ``reap``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import procrastinate
import psycopg
from procrastinate import exceptions as engine_errors

from rootproof.apps.fleet.board import Board
from rootproof.apps.fleet.tables import PostgresTables
from rootproof.apps.fleet.tokens import TASK, lane, prepare, reap, replace_lost
from rootproof.apps.fleet.work import Finished, Later
from rootproof.apps.fleet.worker import Settings, Worker
from rootproof.errors import StoreError, StoreUnreachable
from rootproof.ledger.postgres_errors import Address, address, bounded, translated
from rootproof.stores import chosen_store, server

if TYPE_CHECKING:
    from procrastinate.jobs import Job as Token

POLL_SECONDS = 1.0
BUSY_SECONDS = 1.0
"""A token whose job may not be done now (a limit, another worker) comes back after so long."""


class NotNow(Exception):
    """The token is to come back after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:g} s")
        self.seconds = seconds


class ComeBack(procrastinate.BaseRetryStrategy):
    """Every token comes back until its job has an outcome: how often a job is tried, the board counts."""

    def get_retry_decision(self, *, exception: BaseException, job: Token) -> procrastinate.RetryDecision:
        seconds = exception.seconds if isinstance(exception, NotNow) else BUSY_SECONDS
        return procrastinate.RetryDecision(retry_in={"milliseconds": int(seconds * 1000)})


@dataclass
class Handed:
    """A token on its way from the engine's thread to the main thread, and the answer on its way back."""

    batch: str
    number: int
    answer: Future[float] = field(default_factory=Future)
    """0: done with; else the seconds after which the token comes back."""


class Engine(threading.Thread):
    """Procrastinate's worker in a thread of its own, begun anew whenever its connection broke."""

    def __init__(self, place: Address, settings: Settings) -> None:
        super().__init__(name="engine", daemon=True)
        self.place = place
        self.settings = settings
        self.handed: queue.Queue[Handed] = queue.Queue()
        self.over = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[None] | None = None

    def run(self) -> None:
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # what it says of a lost server, we say
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        while not self.over.is_set():
            with contextlib.suppress(engine_errors.ConnectorException, psycopg.Error, asyncio.CancelledError):
                asyncio.run(self._serve())
            self.over.wait(0.5)

    async def _serve(self) -> None:
        app = procrastinate.App(connector=self._connector())

        async def investigate(batch: str, number: int) -> None:
            handed = Handed(batch, number)
            self.handed.put(handed)
            seconds = await asyncio.wrap_future(handed.answer)
            if seconds:
                raise NotNow(seconds)

        app.task(name=TASK, retry=ComeBack())(investigate)
        self._loop, self._running = asyncio.get_running_loop(), asyncio.current_task()
        async with app.open_async():
            await app.run_worker_async(
                queues=[lane(model) for model in self.settings.models],
                concurrency=1,
                install_signal_handlers=False,
                fetch_job_polling_interval=POLL_SECONDS,
                update_heartbeat_interval=max(min(self.settings.lease / 4, 5.0), 0.25),
                stalled_worker_timeout=self.settings.lease,
                delete_jobs="successful",
            )

    def _connector(self) -> procrastinate.PsycopgConnector:
        parts = {**bounded(self.place), "application_name": "rootproof worker"}
        return procrastinate.PsycopgConnector(kwargs=parts, min_size=1, max_size=4, timeout=10.0)

    def next(self) -> Handed | None:
        """The next token; None where there was none for a while.

        Raises:
            StoreUnreachable: the engine ended by itself, and there will be none.
        """
        try:
            return self.handed.get(timeout=POLL_SECONDS)
        except queue.Empty:
            if not self.is_alive():
                raise StoreUnreachable("the queue's engine ended by itself", "start the worker again") from None
            return None

    def stop(self) -> None:
        """Take no more tokens; what is being worked on is waited for by the caller."""
        self.over.set()
        loop, running = self._loop, self._running
        if loop is not None and running is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(running.cancel)


class Reaper(threading.Thread):
    """Looks for tokens of the dead, and lost ones, a few times a lease. Every worker has one: none is needed."""

    def __init__(self, named: str, lease: float) -> None:
        super().__init__(name="reaper", daemon=True)
        self.named = named
        self.lease = lease
        self.over = threading.Event()

    def run(self) -> None:
        tables: PostgresTables | None = None
        while not self.over.wait(max(min(self.lease / 4, 5.0), 0.25)):
            with contextlib.suppress(StoreError, engine_errors.ConnectorException):
                tables = tables or PostgresTables(self.named)
                reap(tables, self.lease)
                replace_lost(tables)
        if tables is not None:
            tables.close()


def work_from_queue(settings: Settings) -> None:
    """Carry out jobs as the queue hands them out, until stopped, or until the one batch has no more.

    Raises:
        StoreError: the database stayed away when an outcome was to be written.
    """
    named = server(chosen_store(settings.options.store))
    worker = Worker(settings)
    assert isinstance(worker.tables, PostgresTables)
    with translated(address(named)):
        prepare(worker.tables)
    engine, reaper = Engine(address(named), settings), Reaper(named, settings.lease)
    engine.start()
    reaper.start()
    try:
        while not worker.stopped() and not _over(worker.board, settings.batch):
            handed = engine.next()
            if handed is not None:
                handed.answer.set_result(_answer(worker, handed))
    finally:
        _part(engine, reaper)
        worker.close()


def _over(board: Board, batch: str) -> bool:
    """Whether the one batch that the worker is for has no more."""
    if not batch:
        return False
    try:
        return not board.left(batch)
    except StoreError:
        return False


def _answer(worker: Worker, handed: Handed) -> float:
    """Do what a token stands for, if it may be done now; the seconds after which it comes back."""
    settings = worker.settings
    try:
        claim = worker.board.claim(handed.batch, settings.lease, settings.models, handed.number)
        if claim is None:
            return BUSY_SECONDS if worker.board.open(handed.batch, handed.number) else 0.0
    except StoreError:
        return BUSY_SECONDS
    result = worker.serve(claim)
    if isinstance(result, Later):
        return max(result.seconds, 0.001)
    return 0.0 if isinstance(result, Finished) else settings.lease


def _part(engine: Engine, reaper: Reaper) -> None:
    """Stop both threads, sending back whatever was handed over and not begun."""
    engine.stop()
    reaper.over.set()
    deadline = time.monotonic() + 5
    while engine.is_alive() and time.monotonic() < deadline:
        with contextlib.suppress(queue.Empty):
            engine.handed.get(timeout=0.1).answer.set_result(0.001)
