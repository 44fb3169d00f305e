"""Tokens: entries of procrastinate's queues, each of which says that there is something to do for a job.

A token is put with its job, comes back when its worker is dead, and is replaced when it was lost. None of that says
whether the job may be done: the board does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import procrastinate
import psycopg
from procrastinate import exceptions as engine_errors

from rootproof.apps.fleet.board import Board, Limits
from rootproof.apps.fleet.job import Job
from rootproof.apps.fleet.tables import PostgresTables
from rootproof.errors import StoreUnreachable
from rootproof.ledger.postgres_errors import address, translated
from rootproof.text import one_line

TASK = "rootproof.investigate"

_REAP = """
WITH dead AS (
  DELETE FROM procrastinate_workers WHERE last_heartbeat < now() - make_interval(secs => %s) RETURNING id)
UPDATE procrastinate_jobs SET status = 'todo', worker_id = NULL, scheduled_at = NULL, attempts = attempts + 1
WHERE status = 'doing' AND task_name = %s AND (worker_id IS NULL OR worker_id IN (SELECT id FROM dead))
"""
"""One statement, so that no worker can be judged dead by one look and robbed by the next: a heartbeat that comes in
between makes the deletion of its row wait, look again and let it be."""


_LOST = """
SELECT j.batch, j.number, j.model, j.priority FROM fleet_jobs j, fleet_batches b
WHERE j.batch = b.batch AND b.cancelled = 0 AND j.outcome IS NULL AND NOT EXISTS (
  SELECT 1 FROM procrastinate_jobs p WHERE p.task_name = ? AND p.status IN ('todo', 'doing')
  AND p.args->>'batch' = j.batch AND p.args->>'number' = j.number::text)
ORDER BY j.batch, j.number LIMIT 500
"""


def lane(model: str) -> str:
    """The queue of all jobs with one model: a worker listens to those of the models it was given.

    Short, for the name of a channel that Postgres notifies through has at most 63 bytes.
    """
    return f"rootproof-{hashlib.sha256(model.encode()).hexdigest()[:16]}"


def submit(named: str, batch: str, jobs: Sequence[Job], limits: Limits) -> bool:
    """Put a batch on the board and its tokens into the queues, in one transaction, unless it is there already.

    Raises:
        StoreError: nothing was put.
    """
    tables = PostgresTables(named)
    place = address(named)
    try:
        with translated(place):
            prepare(tables)
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        with translated(place), tables.exclusive():
            created = datetime.now(timezone.utc).isoformat(timespec="microseconds")
            if not Board(tables).add_within(batch, jobs, limits, created):
                return False
            tokens = [(batch, number, job.model, job.priority) for number, job in enumerate(jobs, 1)]
            _defer(app, tables.connection, tokens)
        return True
    except engine_errors.ConnectorException as error:
        cause = error.__cause__
        said = cause.diag.message_primary if isinstance(cause, psycopg.Error) else None
        raise StoreUnreachable(f"{place.words}: {one_line(said or type(cause).__name__, 200)}") from None
    finally:
        tables.close()


def prepare(tables: PostgresTables) -> None:
    """The engine's own tables, made once."""
    with tables.exclusive():
        if tables.query("SELECT to_regclass('procrastinate_jobs') IS NOT NULL")[0][0]:
            return
        from procrastinate.schema import SchemaManager

        tables.connection.execute(SchemaManager.get_schema())


def _defer(app: procrastinate.App, connection: psycopg.Connection, tokens: Sequence[tuple[str, int, str, int]]) -> None:
    """Put tokens, each (batch, number, model, priority), into their queues within the connection's transaction."""
    kinds: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for batch, number, model, priority in tokens:
        kinds.setdefault((lane(model), priority), []).append({"batch": batch, "number": number})
    for (lane_name, priority), same in kinds.items():
        app.configure_task(TASK, queue=lane_name, priority=priority, connection=connection).batch_defer(*same)


def reap(tables: PostgresTables, lease: float) -> int:
    """Put the tokens of dead workers back; how many.

    A worker that wrote no heartbeat for a lease is dead, and so is one whose row is gone.
    """
    with translated(tables.address):
        return tables.connection.execute(_REAP, (lease, TASK)).rowcount


def replace_lost(tables: PostgresTables) -> int:
    """A new token for each job that has neither an outcome nor a token; how many."""
    app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
    with translated(tables.address), tables.exclusive():
        lost = [(str(row[0]), int(row[1]), str(row[2]), int(row[3])) for row in tables.query(_LOST, TASK)]
        _defer(app, tables.connection, lost)
    return len(lost)
