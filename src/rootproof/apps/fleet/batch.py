"""The process that gives a batch: puts it on the board, starts workers on this machine, tells outcomes as they come.

It carries out nothing itself. Killed, it leaves the board as it is: the same command goes on where it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rootproof import diagnosis
from rootproof.apps.fleet.board import Board, Ended, Limits
from rootproof.apps.fleet.job import Job, as_json
from rootproof.apps.fleet.tables import open_tables, patiently
from rootproof.errors import StoreError, UsageError
from rootproof.stores import Named, chosen_store, open_store, queue_address
from rootproof.text import one_line

POLL_SECONDS = 0.2
STOP_SECONDS = 30.0
PAUSE_SECONDS = 1.0
"""After a worker's death: a server that is away needs time more than workers."""
DEATHS = 20
"""Workers that die are replaced, this many times and once more for each job."""


@dataclass(frozen=True)
class Giving:
    """What the user asked for."""

    store: Named
    queue: bool
    """Jobs are handed out by the store's server, also to workers of other machines."""
    workers: int
    lease: float
    models: tuple[str, ...]
    flags: tuple[str, ...] = ()
    """Further words for each worker: containment, interpreter."""


@dataclass
class Told:
    """What the follower has told, so that each outcome is told once."""

    numbers: set[int] = field(default_factory=set)
    since: float = 0.0


def name_of(path: Path, jobs: Sequence[Job]) -> str:
    """The batch's name: the file's, and a digest of all that the jobs are. The same jobs are the same batch."""
    digest = hashlib.sha256("\n".join(as_json(job) for job in jobs).encode()).hexdigest()[:12]
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in path.stem)[:40] or "batch"
    return f"{stem}-{digest}"


def submit(giving: Giving, batch: str, jobs: Sequence[Job], limits: Limits) -> bool:
    """Put a batch on the board, unless it is there: then it is gone on with, also with what a person has decided since.

    Returns:
        Whether it is new.
    """
    if giving.queue:
        address = queue_address(giving.store)
        from rootproof.apps.fleet import tokens

        new = tokens.submit(address, batch, jobs, limits)
    else:
        with contextlib.closing(open_tables(giving.store)) as tables:
            new = Board(tables).add(batch, jobs, limits)
    if not new:
        _take_up(giving, batch)
    return new


def _take_up(giving: Giving, batch: str) -> None:
    """Workers find the jobs that wait again on the board; in a queue they get their tokens back within a lease."""
    opened = open_store(giving.store, read_only=True)
    with contextlib.closing(open_tables(giving.store)) as tables, contextlib.closing(opened) as store:
        Board(tables).take_up(batch, store.head)


def follow(giving: Giving, batch: str, tell: Callable[[Ended, int, int], None]) -> dict[str, int]:
    """Start workers, tell each outcome once as it comes, and end with the counts when there are no more.

    Raises:
        KeyboardInterrupt: after the workers gave back what they had.
        StoreError: the store stayed away as it began, or at its end.
        UsageError: workers die as soon as they begin.
    """
    tables = patiently(lambda: open_tables(giving.store))
    board, told = Board(tables), Told()
    crew = Crew(giving, batch)
    try:
        total = sum(patiently(lambda: board.counts(batch)).values())
        while True:
            _tell_new(board, batch, told, lambda ended: tell(ended, len(told.numbers), total))
            if len(told.numbers) >= total:
                return patiently(lambda: board.counts(batch))
            crew.keep(total)
            time.sleep(POLL_SECONDS)
    finally:
        crew.dismiss()
        tables.close()


def _tell_new(board: Board, batch: str, told: Told, tell: Callable[[Ended], None]) -> None:
    try:
        if board.cancelled(batch):
            board.cancel(batch)  # also what a worker had that died since
        found, told.since = board.ended(batch, told.since)
    except StoreError:
        return  # a server that is being restarted: the next look tells what there is
    for ended in found:
        if ended.number not in told.numbers:
            told.numbers.add(ended.number)
            tell(ended)


class Crew:
    """The workers of this machine."""

    def __init__(self, giving: Giving, batch: str) -> None:
        self.giving = giving
        self.batch = batch
        self.deaths = 0
        self.pause_ends = 0.0
        self.processes: list[subprocess.Popen[bytes]] = []

    def keep(self, jobs: int) -> None:
        """As many workers as were asked for; one that died is replaced."""
        for process in [p for p in self.processes if p.poll() is not None]:
            self.processes.remove(process)
            if process.returncode != 0:
                self.deaths += 1
                self.pause_ends = time.monotonic() + PAUSE_SECONDS
        if self.deaths > DEATHS + jobs:
            raise UsageError(
                f"{self.deaths} workers died", "see what they said above; the same command goes on with the batch"
            )
        while len(self.processes) < self.giving.workers and time.monotonic() >= self.pause_ends:
            self.processes.append(self._start())

    def _start(self) -> subprocess.Popen[bytes]:
        giving = self.giving
        words = [sys.executable, "-m", "rootproof", "worker", "--batch", self.batch, "--parent", str(os.getpid())]
        words += [part for model in giving.models for part in ("--model", model)]
        words += ["--lease", f"{giving.lease:g}", *giving.flags]
        if giving.queue:
            words.append("--from-queue")
        # An address may hold a password: it goes by the environment, which other users cannot read.
        environment = {**os.environ, "ROOTPROOF_STORE": str(chosen_store(giving.store))}
        return subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def dismiss(self) -> None:
        """Ask each to give back what it has, and wait for that."""
        for process in self.processes:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.processes:
            try:
                process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def line(ended: Ended) -> str:
    """An outcome in one line."""
    outcome = ended.outcome
    said = outcome.get("answer") or outcome.get("reason") or ""
    return f"{one_line(ended.id, 40):<12} {outcome['status']:<13} {one_line(str(said), 200)}"


def bar(counts: dict[str, int], width: int = 40) -> str:
    """How far a batch is, drawn."""
    total, all_of_them = sum(counts.values()) or 1, sum(counts.values())
    running = counts.get("running", 0)
    done = sum(count for name, count in counts.items() if name not in ("waiting", "running"))
    filled, begun = round(width * done / total), round(width * (done + running) / total)
    drawn = "#" * filled + ">" * (begun - filled) + "." * (width - begun)
    named = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return f"[{drawn}] {done}/{all_of_them}  {named}"


def exit_status(statuses: Sequence[int]) -> int:
    """0 only if every job ended in success; else the first that occurs, in the order of several targets."""
    ends = set(statuses)
    order = (*diagnosis.ORDER, 2, 70)
    return next((status for status in order if status in ends), 0)
