"""An office that opens tickets, with a book of every request that arrives; and a fleet whose jobs ask for tickets.

Run as a program it is one process of that fleet, for tools of one's own are brought along by a program of one's own:

    python -m fleet.office give FOLDER STORE          puts the batch and tells its outcomes
    python -m fleet.office work FOLDER STORE BATCH    carries out jobs
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracker import OpenTicket, Tracker

from fleet.monkey import Fleet
from fleet.small import Ground
from rootproof import assemble
from rootproof.apps.fleet import batch
from rootproof.apps.fleet.board import Ended, Limits
from rootproof.apps.fleet.job import Terms, read_jobs
from rootproof.apps.fleet.worker import Settings, work
from rootproof.stores import server
from rootproof.tools.interface import Compensated, Declined, Observation, Request

LEASE = 3.0
TAKEN = "SELECT 1 FROM fleet_jobs WHERE run=? AND (attempt>? OR outcome IS NOT NULL)"
KINDS = ("quiet", "killed before", "killed after", "asleep", "undone", "refused")
"""What becomes of a worker, the first time it comes to a job of that kind; or of the job."""

CONTRACT = """schema = "rootproof/contract/1"
goal = "GOAL"

[scope]
read = ["rates.txt"]
excluded = ["deploy", "network", "credentials"]

[budget]
max_steps = STEPS

[tools.read_file]
[tools.open_ticket]

[[evidence]]
id = "rate_read"
tool = "read_file"
where = { path = "rates.txt" }
capture = 'rate = (?P<rate>[0-9.]+)'

[[evidence]]
id = "reported"
tool = "open_ticket"
expect = { state = "open" }

[completion]
all = ["rate == '0.01'", "reported"]

[answer]
template = "The rate is {{ rate }}."
"""
MODEL = """def propose(view):
    facts = view["facts"]
    if "rate" not in facts:
        return {"type": "action", "tool": "read_file", "input": {"path": "rates.txt"}}
    if "reported" not in facts and not view["refused"]:
        return {"type": "action", "tool": "open_ticket", "input": {"title": view["goal"]}}
    return {"type": "final"}
"""


class Office(Tracker):
    """The tracker, and what came to its door: one entry for every request, however it is answered."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        with self._connected() as tickets:
            tickets.execute("CREATE TABLE IF NOT EXISTS door (key TEXT, title TEXT, opened INTEGER)")
            tickets.execute("CREATE TABLE IF NOT EXISTS struck (title TEXT PRIMARY KEY, pid INTEGER)")

    def open(self, key: str, title: str, body: str) -> None:
        with self._connected() as tickets:
            opened = tickets.execute(
                "INSERT OR IGNORE INTO tickets (key, title, body, state) SELECT ?, ?, ?, 'open' "
                "WHERE NOT EXISTS (SELECT 1 FROM never WHERE key = ?)",
                (key, title, body, key),
            )
            tickets.execute("INSERT INTO door VALUES (?, ?, ?)", (key, title, opened.rowcount))

    def strike(self, title: str) -> bool:
        """True the first time somebody asks for a title."""
        with self._connected() as tickets:
            first = tickets.execute("INSERT OR IGNORE INTO struck VALUES (?, ?)", (title, os.getpid()))
            return first.rowcount == 1

    def struck(self, kind: str) -> list[int]:
        """Processes that were struck at a job of that kind."""
        with self._connected() as tickets:
            found = tickets.execute("SELECT pid FROM struck WHERE title LIKE ?", (f"{kind} %",)).fetchall()
        return [pid for (pid,) in found]

    def arrived(self) -> Mapping[str, list[int]]:
        """Title → for each request that arrived, whether it opened a ticket."""
        found: dict[str, list[int]] = {}
        with self._connected() as tickets:
            for title, opened in tickets.execute("SELECT title, opened FROM door ORDER BY rowid"):
                found.setdefault(title, []).append(opened)
        return found


class Clerk(OpenTicket):
    """The example's tool, whose process is struck as the title says."""

    tracker: Office

    def run(self, request: Request) -> Observation | Declined:
        title = str(request.input["title"])
        self._strike(title, "killed before", signal.SIGKILL)
        self._strike(title, "asleep", signal.SIGSTOP)
        found = super().run(request)
        self._strike(title, "killed after", signal.SIGKILL)
        return found

    def compensate(self, key: str) -> Compensated:
        found, done = self.tracker.find(key), super().compensate(key)
        self._strike(found[1] if found else "", "undone", signal.SIGKILL)
        return done

    def _strike(self, title: str, kind: str, how: signal.Signals) -> None:
        if title.startswith(f"{kind} ") and self.tracker.strike(title):
            os.kill(os.getpid(), how)


@dataclass(frozen=True)
class Desks(Ground):
    """A folder with an office, repositories and jobs, so many of each kind."""

    @property
    def office(self) -> Office:
        return Office(self.folder / "office.sqlite3")


def desks(folder: Path, each: int) -> Desks:
    """Make one."""
    folder.mkdir()
    made = Desks(folder)
    (folder / "model.py").write_text(MODEL)
    titles = [f"{kind} {number}" for number in range(each) for kind in KINDS]
    for title in titles:
        place = folder / title.replace(" ", "-")
        place.mkdir()
        steps = "2" if title.startswith("undone") else "6"
        (place / "contract.toml").write_text(CONTRACT.replace("GOAL", title).replace("STEPS", steps))
        (place / "rates.txt").write_text("rate = 0.01\n")
    made.give([{"contract": f"{title.replace(' ', '-')}/contract.toml", "id": title} for title in titles])
    return made


@dataclass
class OfficeFleet(Fleet):
    """A fleet whose processes bring the tool along."""

    asleep: dict[int, tuple[subprocess.Popen[str], tuple[str, int]]] = field(default_factory=dict)
    """Process id → the process, and the job (run, attempt) that it slept on; empty once it goes on."""

    def give(self, **settings: Any) -> subprocess.Popen[str]:
        return self._program("give", **settings)

    def work(self, **settings: Any) -> subprocess.Popen[str]:
        return self._program("work", self.batch, **settings)

    def _program(self, what: str, *more: str, **settings: Any) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "fleet.office", what, str(self.ground.folder), self.kept[1], *more]
        environment = {**settings.pop("env", os.environ), "PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.Popen(words, text=True, env=environment, **settings)

    def mourn(self) -> None:
        """Another worker for each that was struck dead."""
        for dead in [worker for worker in self.workers if worker.poll() not in (None, 0)]:
            self.workers.remove(dead)
            self.hire()

    def see_to_sleepers(self, pids: Sequence[int]) -> None:
        """Another worker for each that stopped itself; it goes on once somebody else has taken its job over.

        One whose heartbeat was writing to the one file that all write to goes on at once: nobody could overtake it.
        """
        for worker in [worker for worker in self.workers if worker.pid in pids and worker.pid not in self.asleep]:
            held = self.running(worker)
            if self.blocked():
                worker.send_signal(signal.SIGCONT)
                held = None
            self.asleep[worker.pid] = (worker, held or ("", 0))
            self.hire()
        for pid, (worker, held) in self.asleep.items():
            if held[0] and self.look(lambda board, held=held: board.tables.query(TAKEN, *held), lambda found: True):
                worker.send_signal(signal.SIGCONT)
                self.asleep[pid] = (worker, ("", 0))


def give(folder: Path, store: str) -> int:
    """As ``rootproof batch`` does."""
    made, statuses = Desks(folder), list[int]()
    giving = batch.Giving(store, bool(server(store)), 0, LEASE, (made.model,))
    jobs = read_jobs(made.jobs, Terms(giving.models, "user", (Clerk(made.office),)))
    name = batch.name_of(made.jobs, jobs)

    def tell(ended: Ended, count: int, total: int) -> None:
        statuses.append(int(ended.outcome["exit_status"]))
        print(json.dumps({"number": ended.number, "job": ended.id, **ended.outcome}), flush=True)

    batch.submit(giving, name, jobs, Limits())
    batch.follow(giving, name, tell)
    return batch.exit_status(statuses)


def serve(folder: Path, store: str, name: str) -> int:
    """As ``rootproof worker`` does."""
    made = Desks(folder)
    tools = {"open_ticket": Clerk(made.office)}
    options = assemble.Options(store=store, model=made.model, lease=LEASE, tools=tools)
    settings = Settings(options, (made.model,), name)
    if server(store):
        from rootproof.apps.fleet.engine import work_from_queue

        work_from_queue(settings)
    else:
        work(settings)
    return 0


def counted(told: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """(Kind, status) → how many jobs."""
    return Counter((each["job"].rpartition(" ")[0], each["status"]) for each in told)


if __name__ == "__main__":
    what, folder, *more = sys.argv[1:]
    sys.exit(give(Path(folder), *more) if what == "give" else serve(Path(folder), *more))
