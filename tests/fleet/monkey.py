"""Somebody who kills, freezes and restarts at random moments, while a batch goes on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fleet.small import Ground, program
from rootproof.apps.fleet.board import Board
from rootproof.apps.fleet.tables import Tables, open_tables
from rootproof.errors import StoreError

LEASE = 2.0
DEADLINE = 120.0


@dataclass
class Fleet:
    """A batch in work: one process that tells the outcomes, and workers with data folders of their own."""

    ground: Ground
    kept: tuple[str, str]
    """The flag and its value: where runs and board are."""
    seed: int = 1
    workers: list[subprocess.Popen[str]] = field(default_factory=list)
    takeovers: list[float] = field(default_factory=list)
    kills: int = 0
    ends: tuple[int, ...] = (0,)
    """What the process that tells the outcomes may end with."""
    _tables: Tables | None = None

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.teller = self._teller()
        self.born = 0
        self.batch = ""

    def _teller(self) -> subprocess.Popen[str]:
        with (self.ground.folder / "told").open("w") as out:
            return self.give(stdout=out, stderr=subprocess.PIPE)

    def give(self, **settings: Any) -> subprocess.Popen[str]:
        """The process that gives the batch and tells its outcomes."""
        words = ["batch", self.ground.jobs, *self.kept, "--workers", "0", "--model", self.ground.model]
        return program(*words, "--trust-these-contracts", "--json", "--lease", f"{LEASE:g}", **settings)

    def work(self, **settings: Any) -> subprocess.Popen[str]:
        """A process that carries out jobs of the batch."""
        words = ["worker", *self.kept, "--batch", self.batch, "--model", self.ground.model, "--lease", f"{LEASE:g}"]
        return program(*words, **settings)

    def hire(self) -> subprocess.Popen[str]:
        """One more worker, with a data folder of its own."""
        self.born += 1
        home = self.ground.folder / f"home{self.born}"
        environment = {**os.environ, "XDG_DATA_HOME": str(home), "HOME": str(home)}
        with (self.ground.folder / f"worker{self.born}").open("w") as said:
            self.workers.append(self.work(env=environment, stdout=said, stderr=said))
        return self.workers[-1]

    def look(self, ask: Callable[[Board], Any], until: Callable[[Any], bool] = bool) -> Any:
        """What the board says, as soon as it says something of the kind; a store that is away is waited for."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            with contextlib.suppress(StoreError):
                self._tables = self._tables or open_tables(self.kept[1])
                found = ask(Board(self._tables))
                if until(found):
                    return found
            assert self.teller.poll() in (None, *self.ends), self.teller.stderr and self.teller.stderr.read()
            time.sleep(0.02)
        raise AssertionError("the board never said it")

    def done(self, count: int, *, patient: bool = True) -> bool:
        """Whether so many jobs have an outcome; waited for, where there is nothing else to do."""
        self.batch = self.batch or self.look(lambda board: board.tables.query("SELECT batch FROM fleet_batches"))[0][0]
        said = self.look(
            lambda board: sum(board.counts(self.batch).values()) - board.left(self.batch) >= count,
            bool if patient else lambda found: True,
        )
        return bool(said)

    def running(self, worker: subprocess.Popen[str]) -> tuple[str, int] | None:
        """(run, attempt) of the job that a worker has now."""
        rows = self.look(
            lambda board: board.tables.query("SELECT run, attempt, owner FROM fleet_jobs WHERE state='running'"),
            lambda found: True,
        )
        mine = [row for row in rows if f" pid {worker.pid} " in row[2]]
        return (mine[0][0], mine[0][1]) if mine else None

    def kill(self) -> None:
        """Kill -9 one worker, whatever it does, and let another come instead."""
        victim = self.workers.pop(self.chance.randrange(len(self.workers)))
        victim.kill()
        victim.wait()
        self.kills += 1
        self.hire()

    def freeze(self) -> subprocess.Popen[str]:
        """Stop a worker that has a job, until somebody else has taken the job over; then let it go on."""
        while True:
            victim = self.chance.choice(self.workers)
            if self.running(victim) is None:
                continue
            victim.send_signal(signal.SIGSTOP)
            held = self.running(victim)
            if held is not None and not self.blocked():
                break
            victim.send_signal(signal.SIGCONT)
        run, attempt = held
        began = time.monotonic()
        asked = "SELECT 1 FROM fleet_jobs WHERE run=? AND (attempt>? OR outcome IS NOT NULL)"
        self.look(lambda board: board.tables.query(asked, run, attempt))
        self.takeovers.append(time.monotonic() - began)
        victim.send_signal(signal.SIGCONT)
        return victim

    def blocked(self) -> bool:
        """Whether a worker was stopped within a write to the one file that all write to: then everybody waits for it.
        A server ends such a transaction by itself."""
        if self.kept[0] != "--store":
            return False
        writer = sqlite3.connect(self.kept[1], timeout=1.0, isolation_level=None)
        try:
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            writer.close()
        return False

    def kill_teller(self) -> None:
        """Kill -9 the process that gave the batch, and give the same batch again."""
        self.teller.kill()
        self.give_again()

    def give_again(self) -> None:
        """The same batch, once the process that gave it has ended."""
        self.teller.wait()
        self.teller = self._teller()

    def told(self) -> list[dict[str, Any]]:
        """The outcomes that were told, when there are no more."""
        ended = self.teller.wait(DEADLINE)
        told = [json.loads(line) for line in (self.ground.folder / "told").read_text().splitlines()]
        if ended not in self.ends:
            strange = [each for each in told if each["exit_status"] not in self.ends]
            raise AssertionError(f"ended {ended}: {strange} {self.teller.stderr and self.teller.stderr.read()}")
        return told

    def close(self) -> None:
        for process in (*self.workers, self.teller):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        if self._tables is not None:
            self._tables.close()


Made = TypeVar("Made", bound=Fleet)


@contextlib.contextmanager
def fleet(ground: Ground, *kept: str, workers: int = 3, seed: int = 1) -> Iterator[Fleet]:
    with at_work(Fleet(ground, (kept[0], kept[1]), seed), workers) as made:
        yield made


@contextlib.contextmanager
def at_work(made: Made, workers: int) -> Iterator[Made]:
    """A fleet with so many workers; nothing of it is left afterwards."""
    try:
        made.done(0)
        for _ in range(workers):
            made.hire()
        yield made
    finally:
        made.close()
