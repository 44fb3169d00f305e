"""``rootproof batch JOBS.jsonl``: many investigations, on this machine or on many."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from rootproof.apps.cli import options as flags
from rootproof.apps.cli.worker import Lease, Models

if TYPE_CHECKING:
    from rootproof.apps.fleet.batch import Giving
    from rootproof.apps.fleet.board import Board, Ended, Limits
    from rootproof.stores import Named

What = Annotated[str, typer.Argument(metavar="JOBS.jsonl|status|cancel", help="Jobs, one JSON object a line.")]
Batch = Annotated[str, typer.Argument(metavar="[BATCH]", help="With status and cancel: which (default: the newest).")]
Workers = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--workers", min=0, help="Processes of this machine (default: its CPUs; with --queue none)."),
]
Queue = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--queue", help="Share with other machines' workers: postgresql://..., which keeps the runs, too."),
]
Repository = Annotated[int, typer.Option("--per-repository", min=0, help="Jobs at a time in one repository; 0: any.")]
Provider = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--per-provider", help="KIND=N: jobs at a time with one kind of model; may be repeated."),
]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Tries after faults of store or model, for each job.")]
Vouch = Annotated[
    bool,
    typer.Option("--trust-these-contracts", help="You wrote or read them: success counts as under your own contract."),
]
Again = Annotated[str, typer.Option("--again", help="A new batch of the same jobs, with this added to its name.")]


def batch(
    what: What,
    which: Batch = "",
    workers: Workers = None,
    queue: Queue = None,
    model: Models = None,
    per_repository: Repository = 0,
    per_provider: Provider = None,
    retries: Retries = 5,
    lease: Lease = 60.0,
    trust_these_contracts: Vouch = False,
    again: Again = "",
    store: flags.Store = None,
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line an outcome, as they come.")] = False,
) -> None:
    """Carry out many jobs. The same command goes on with a batch that was stopped or killed; one outcome a job."""
    from rootproof.apps.fleet.batch import Giving
    from rootproof.apps.fleet.job import ALWAYS
    from rootproof.errors import UsageError

    kept = queue or store
    if what in ("status", "cancel"):
        _ask(what, kept, which, as_json)
        return
    if which:
        raise UsageError("a batch is begun by its file alone", "rootproof batch JOBS.jsonl")
    words = ["--containment", containment, *(["--trust-this-repository"] if trust_this_repository else [])]
    words += ["--python", str(python)] if python else []
    count = workers if workers is not None else 0 if queue else len(os.sched_getaffinity(0))
    giving = Giving(kept, bool(queue), count, lease, tuple(model or (ALWAYS,)), tuple(words))
    limits = _limits(per_repository, per_provider or [], retries)
    _give(Path(what), giving, limits, (trust_these_contracts, again, as_json))


def _give(path: Path, giving: Giving, limits: Limits, said: tuple[bool, str, bool]) -> None:
    from rootproof.apps.cli.ending import interruptible
    from rootproof.apps.fleet import batch as giver
    from rootproof.apps.fleet.job import Terms, read_jobs

    vouched, again, as_json = said
    jobs = read_jobs(path, Terms(giving.models, "user" if vouched else "proposer"))
    name = giver.name_of(path, jobs) + (f"-{again}" if again else "")
    statuses: list[int] = []

    def tell(ended: Ended, count: int, total: int) -> None:
        statuses.append(int(ended.outcome["exit_status"]))
        if as_json:
            sys.stdout.write(json.dumps(_plain(name, ended)) + "\n")
        else:
            sys.stdout.write(f"{count:>5}/{total} {giver.line(ended)}\n")
        sys.stdout.flush()

    with interruptible():
        try:
            new = giver.submit(giving, name, jobs, limits)
            sys.stderr.write(f"batch {name}: {len(jobs)} jobs{'' if new else ', gone on with'}\n")
            if not vouched:
                sys.stderr.write("note: contracts of jobs are their author's: no plain success without your word")
                sys.stderr.write(" (--trust-these-contracts)\n")
            counts = giver.follow(giving, name, tell)
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped; the same command goes on, `rootproof batch cancel` ends it\n")
            raise typer.Exit(130) from None
    sys.stderr.write(giver.bar(counts) + "\n")
    raise typer.Exit(giver.exit_status(statuses))


def _limits(repository: int, providers: list[str], retries: int) -> Limits:
    from rootproof.apps.fleet.board import Limits
    from rootproof.errors import UsageError

    found: dict[str, int] = {}
    for each in providers:
        kind, _, number = each.partition("=")
        if not kind or not number.isdecimal() or int(number) < 1:
            raise UsageError(f"--per-provider is KIND=N, not {each!r}", "for example --per-provider anthropic=4")
        found[kind] = int(number)
    return Limits(repository, found, retries)


def _ask(what: str, kept: Named, which: str, as_json: bool) -> None:
    from rootproof.apps.fleet import batch as giver
    from rootproof.apps.fleet.board import Board
    from rootproof.apps.fleet.tables import open_tables
    from rootproof.stores import open_store

    open_store(kept, read_only=True).close()  # nothing is made by asking
    tables = open_tables(kept)
    try:
        board = Board(tables)
        name = board.find(which)
        if what == "cancel":
            sys.stderr.write(f"batch {name}: cancelled, {board.cancel(name)} jobs had no outcome\n")
        else:
            with tables.exclusive():
                board.bury()
        counts = board.counts(name)
        if as_json:
            sys.stdout.write(json.dumps(_document(board, name, counts), indent=2) + "\n")
        else:
            sys.stdout.write(f"batch {name}\n{giver.bar(counts)}\n")
    finally:
        tables.close()


def _document(board: Board, name: str, counts: dict[str, int]) -> dict[str, Any]:
    ended, _ = board.ended(name)
    outcomes = [_plain(name, each) for each in sorted(ended, key=lambda each: each.number)]
    return {"batch": name, "cancelled": board.cancelled(name), "counts": counts, "outcomes": outcomes}


def _plain(name: str, ended: Ended) -> dict[str, Any]:
    return {"batch": name, "number": ended.number, "job": ended.id, **ended.outcome}
