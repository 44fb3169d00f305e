"""The board: which job waits, which is being worked on by whom, and what came of it. Exactly one outcome a job.

Claiming is fenced as writing is: each claim has a higher attempt, and only the highest can end or give back its job.
What happened in a run is the ledger's to say; the board may not be believed against it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from rootproof.apps.fleet.job import Job, as_json, from_json
from rootproof.apps.fleet.tables import Tables
from rootproof.errors import UsageError
from rootproof.ledger.lease import alive, owner

CANCELLED: Mapping[str, Any] = {"status": "cancelled", "exit_status": 130, "reason": "the batch was cancelled"}

_WAIT_AGAIN = (
    "UPDATE fleet_jobs SET state='waiting', outcome=NULL, ended=NULL, not_before=0, attempt=attempt+1 "
    "WHERE run=? AND outcome=?"
)

Pulse = Literal["held", "lost", "cancelled"]


@dataclass(frozen=True)
class Limits:
    """What a batch may use at a time, and how often a job is tried again after a fault that is not its own."""

    per_repository: int = 0
    """Jobs at a time in one repository; 0: any number."""
    per_provider: Mapping[str, int] = field(default_factory=dict)
    """Kind of model → jobs at a time."""
    retries: int = 5


@dataclass(frozen=True)
class Claim:
    """One job that this process may work on, for as long as it renews the lease."""

    batch: str
    number: int
    run: str
    job: Job
    attempt: int
    faults: int
    retries: int


@dataclass(frozen=True)
class Ended:
    """One job's outcome."""

    number: int
    id: str
    run: str
    outcome: dict[str, Any]


class Board:
    """All batches of one store."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def add(self, batch: str, jobs: Sequence[Job], limits: Limits) -> bool:
        """Put a batch on the board, whole, unless it is there; whether it was put."""
        created = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        with self.tables.exclusive():
            return self.add_within(batch, jobs, limits, created)

    def add_within(self, batch: str, jobs: Sequence[Job], limits: Limits, created: str) -> bool:
        """The same, inside of a transaction that is open."""
        if self.tables.query("SELECT 1 FROM fleet_batches WHERE batch=?", batch):
            return False
        numbers = (limits.per_repository, json.dumps(dict(limits.per_provider)), limits.retries)
        self.tables.change("INSERT INTO fleet_batches VALUES (?, ?, ?, ?, ?, 0)", batch, created, *numbers)
        for number, job in enumerate(jobs, 1):
            row = (batch, number, f"{batch}-{number:05d}", job.root, job.provider, job.model, job.priority)
            self.tables.change(
                "INSERT INTO fleet_jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, 0, 0, '', 0, NULL, NULL)",
                *row,
                as_json(job),
            )
        return True

    def take_up(self, batch: str, head: Callable[[str], str]) -> int:
        """Let those jobs wait again whose run waited for a person and has gone on since. How many.

        Args:
            head: the hash of a run's last event now; a decision is one event more than the outcome knew.
        """
        if self.cancelled(batch):
            return 0
        ended = self.tables.query("SELECT run, outcome FROM fleet_jobs WHERE batch=? AND outcome IS NOT NULL", batch)
        again = [(run, outcome) for run, outcome in ended if _gone_on(json.loads(outcome), run, head)]
        with self.tables.exclusive():  # at once: between two of them the batch would look as if it had ended
            return sum(self.tables.change(_WAIT_AGAIN, run, outcome) for run, outcome in again)

    def claim(self, batch: str, lease: float, models: Sequence[str], number: int = 0) -> Claim | None:
        """The next job that may be worked on now; None where there is none.

        Args:
            batch: only this one; empty: any.
            number: only this job of the batch.
        """
        with self.tables.exclusive():
            self.bury()
            found = self._eligible(batch, models, number)
            if found is None:
                return None
            name, at, run, body, attempt, faults, retries = found
            self.tables.change(
                "UPDATE fleet_jobs SET state='running', attempt=attempt+1, owner=?, until=NOW+? WHERE run=?",
                owner(),
                lease,
                run,
            )
        return Claim(name, at, run, from_json(body), attempt + 1, faults, retries)

    def bury(self) -> None:
        """Dead workers of this machine hold nothing: their leases need not be waited for. Nobody begins what was
        cancelled, so where the lease of such a job is over, it has ended."""
        for run, holder in self.tables.query("SELECT run, owner FROM fleet_jobs WHERE state='running' AND until>=NOW"):
            if not alive(holder):
                self.tables.change("UPDATE fleet_jobs SET until=0 WHERE run=?", run)
        self.tables.change(
            "UPDATE fleet_jobs SET state='done', outcome=?, ended=NOW, attempt=attempt+1 "
            "WHERE state IN ('waiting', 'running') AND until<NOW "
            "AND batch IN (SELECT batch FROM fleet_batches WHERE cancelled=1)",
            json.dumps(CANCELLED),
        )

    def _eligible(self, batch: str, models: Sequence[str], number: int) -> tuple[Any, ...] | None:
        limits = self._limits(batch)
        if limits is None:
            return None
        busy = "SELECT {0}, count(*) FROM fleet_jobs WHERE state='running' AND until>=NOW GROUP BY {0}"
        wheres, values = ["j.batch=b.batch", "b.cancelled=0", "j.outcome IS NULL"], list[Any]()
        wheres.append("(j.state='waiting' AND j.not_before<=NOW OR j.state='running' AND j.until<NOW)")
        for column, most in (("repository", {"": limits.per_repository}), ("provider", limits.per_provider)):
            counts = self.tables.query(busy.format(column)) if any(most.values()) else []
            full = [name for name, count in counts if 0 < most.get(name, most.get("", 0)) <= count]
            wheres += [f"j.{column}<>?" for _ in full]
            values += full
        wheres.append(f"j.model IN ({', '.join('?' for _ in models)})")
        values += models
        wheres += ["j.batch=?"] * bool(batch) + ["j.number=?"] * bool(number)
        values += [batch] * bool(batch) + [number] * bool(number)
        rows = self.tables.query(
            "SELECT j.batch, j.number, j.run, j.body, j.attempt, j.faults, b.retries FROM fleet_jobs j, fleet_batches b"
            f" WHERE {' AND '.join(wheres)} ORDER BY j.priority DESC, j.batch, j.number LIMIT 1",
            *values,
        )
        return rows[0] if rows else None

    def _limits(self, batch: str) -> Limits | None:
        """Those of the batch; where any batch will do, the least of each among those that are not over."""
        where = "WHERE batch=?" if batch else "WHERE cancelled=0"
        rows = self.tables.query(
            f"SELECT per_repository, per_provider, retries FROM fleet_batches {where}", *([batch] if batch else [])
        )
        if not rows:
            return None
        repository = min((row[0] for row in rows if row[0]), default=0)
        provider: dict[str, int] = {}
        for row in rows:
            for name, most in json.loads(row[1]).items():
                provider[name] = min(most, provider.get(name, most))
        return Limits(repository, provider)

    def renew(self, claim: Claim, lease: float) -> Pulse:
        """Hold a claim longer."""
        held = self.tables.change(
            "UPDATE fleet_jobs SET until=NOW+? WHERE run=? AND attempt=? AND state='running'",
            lease,
            claim.run,
            claim.attempt,
        )
        if not held:
            return "lost"
        return "cancelled" if self.cancelled(claim.batch) else "held"

    def end(self, claim: Claim, outcome: Mapping[str, Any]) -> bool:
        """Write what came of a job; False where another attempt has it, and nothing was written."""
        ended = self.tables.change(
            "UPDATE fleet_jobs SET state='done', outcome=?, ended=NOW, owner='', until=0 "
            "WHERE run=? AND attempt=? AND outcome IS NULL",
            json.dumps(outcome),
            claim.run,
            claim.attempt,
        )
        return ended == 1

    def give_back(self, claim: Claim, delay: float, *, fault: bool) -> bool:
        """Let a job wait again; False where another attempt has it."""
        back = self.tables.change(
            "UPDATE fleet_jobs SET state='waiting', not_before=NOW+?, faults=faults+?, owner='', until=0 "
            "WHERE run=? AND attempt=? AND outcome IS NULL",
            delay,
            int(fault),
            claim.run,
            claim.attempt,
        )
        return back == 1

    def cancel(self, batch: str) -> int:
        """No job of the batch is begun any more; those running are told by their pulse. How many had no outcome yet."""
        with self.tables.exclusive():
            left = self.left(batch)
            self.tables.change("UPDATE fleet_batches SET cancelled=1 WHERE batch=?", batch)
            self.bury()
        return left

    def cancelled(self, batch: str) -> bool:
        return bool(self.tables.query("SELECT 1 FROM fleet_batches WHERE batch=? AND cancelled=1", batch))

    def open(self, batch: str, number: int) -> bool:
        """Whether a job still has no outcome."""
        found = "SELECT 1 FROM fleet_jobs WHERE batch=? AND number=? AND outcome IS NULL"
        return bool(self.tables.query(found, batch, number))

    def counts(self, batch: str) -> dict[str, int]:
        """State, or for ended jobs the status → how many."""
        found: dict[str, int] = {}
        for state, outcome, count in self.tables.query(
            "SELECT state, outcome, count(*) FROM fleet_jobs WHERE batch=? GROUP BY state, outcome", batch
        ):
            name = json.loads(outcome)["status"] if outcome else state
            found[name] = found.get(name, 0) + count
        return found

    def left(self, batch: str) -> int:
        """Jobs of a batch without an outcome."""
        return int(self.tables.query("SELECT count(*) FROM fleet_jobs WHERE batch=? AND outcome IS NULL", batch)[0][0])

    def ended(self, batch: str, since: float = 0.0) -> tuple[list[Ended], float]:
        """Outcomes written since a moment of the database's clock, and the moment to ask from next time."""
        rows = self.tables.query(
            "SELECT number, run, body, outcome, ended FROM fleet_jobs "
            "WHERE batch=? AND outcome IS NOT NULL AND ended>=? ORDER BY ended, number",
            batch,
            since,
        )
        latest = max((row[4] for row in rows), default=since)
        found = [Ended(n, from_json(body).id, run, json.loads(outcome)) for n, run, body, outcome, _ in rows]
        return found, latest - 5.0 if rows else since  # clocks of transactions overlap; the asker knows what it has

    def find(self, prefix: str) -> str:
        """The batch whose name begins so; the newest where nothing is said.

        Raises:
            UsageError: none, or several.
        """
        names = [row[0] for row in self.tables.query("SELECT batch FROM fleet_batches ORDER BY created DESC")]
        if not prefix and names:
            return str(names[0])
        found = [name for name in names if name == prefix] or [name for name in names if name.startswith(prefix)]
        if len(found) != 1:
            how = "no batch" if not found else f"{len(found)} batches"
            raise UsageError(f"{how} with a name beginning {prefix[:40]!r}", "`rootproof batch JOBS.jsonl` begins one")
        return str(found[0])


def _gone_on(outcome: Mapping[str, Any], run: str, head: Callable[[str], str]) -> bool:
    """Whether a run that waited for a person, when its outcome was told, has had an event since."""
    return bool(outcome["status"] == "waiting" and head(run) not in ("", outcome["head"]))
