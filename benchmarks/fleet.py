"""What a fleet costs: ``python benchmarks/fleet.py [--jobs N] [--check] [--json]``.

A trivial investigation (two files read, two values captured, a scripted model) as jobs of a batch: jobs a second with
1, 2 and 4 workers on SQLite and on Postgres, and the CPU milliseconds a job costs in the worker beyond the bare loop.
The bare loop is the same investigation begun by ``assemble.begin`` in one process over a SQLite store, without board,
queue or server. Start-up of the workers is not in the figures: they are measured between the first outcome and the
last, and a worker's CPU from its first job on. The server's own CPU is told beside it. ``--check`` exits 1 where the
target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

TARGET = 25.0
"""CPU ms a job beyond the bare loop, on Postgres, with one worker."""
TICK = 1000.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Row:
    """One measured batch."""

    store: str
    workers: int
    jobs_a_second: float
    cpu_ms_a_job: float
    overhead_ms: float
    server_ms_a_job: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--check", action="store_true", help="exit 1 where the target is missed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bare = bare_loop(options.jobs)
    rows = [*_sqlite(options.jobs, bare), *_postgres(options.jobs, bare)]
    target = next((row.overhead_ms for row in rows if row.store == "Postgres" and row.workers == 1), None)
    _tell(bare, rows, target, as_json=options.json)
    if options.check and (target is None or target > TARGET):
        raise SystemExit(1)


def bare_loop(count: int) -> float:
    """CPU ms of one investigation, nothing around it."""
    from fleet.small import ground
    from rootproof import assemble

    with _folder() as folder:
        made = ground(folder / "g", count)
        loaded = assemble.load_contract(made.folder / "repo0" / "contract.toml")
        store = assemble.open_store(folder / "runs.sqlite3")
        options = assemble.Options(store=folder / "runs.sqlite3", model=made.model)
        assemble.begin(store, loaded, options)
        start = time.process_time()
        for _ in range(count):
            assert assemble.begin(store, loaded, options).status == "success"
        return 1000 * (time.process_time() - start) / count


def _sqlite(count: int, bare: float) -> Iterator[Row]:
    for workers in (1, 2, 4):
        with _folder() as folder:
            kept = str(folder / "runs.sqlite3")
            speed, cpu = measure(folder, ("--store", kept), count, workers)
            yield Row("SQLite", workers, speed, cpu, cpu - bare)


def _postgres(count: int, bare: float) -> Iterator[Row]:
    import postgres

    if why := postgres.missing():
        sys.stderr.write(f"left out: Postgres: {why}\n")
        return
    for workers in (1, 2, 4):
        with _folder() as folder, _server() as (url, server):
            before = cpu_of_tree(server)
            speed, cpu = measure(folder, ("--queue", url), count, workers)
            yield Row("Postgres", workers, speed, cpu, cpu - bare, (cpu_of_tree(server) - before) / count)


def measure(folder: Path, kept: tuple[str, str], count: int, workers: int) -> tuple[float, float]:
    """(jobs a second, CPU ms a job in the workers) of one batch, without what it takes to begin.

    One job more is done by each worker before the clock starts.
    """
    from fleet.small import ground
    from rootproof.apps.fleet import batch, tokens
    from rootproof.apps.fleet.board import Board, Limits
    from rootproof.apps.fleet.job import Terms, read_jobs
    from rootproof.apps.fleet.tables import open_tables

    made = ground(folder / "g", count + 10 * workers)
    jobs = read_jobs(made.jobs, Terms((made.model,), "user"))
    giving = batch.Giving(kept[1], kept[0] == "--queue", workers, 60.0, (made.model,))
    limits = Limits()
    if giving.queue:
        tokens.submit(kept[1], "b", jobs, limits)
    else:
        batch.submit(giving, "b", jobs, limits)
    tables = open_tables(kept[1])
    board = Board(tables)
    crew = batch.Crew(giving, "b")
    try:
        crew.keep(0)
        _wait(board, count)  # 10 jobs a worker: every one of them is at work
        left, start, before = board.left("b"), time.monotonic(), _cpu(crew)
        used = before
        while board.left("b"):
            used = _cpu(crew) or used  # the workers end when there is no more
            time.sleep(0.005)
        return left / (time.monotonic() - start), (used - before) / left
    finally:
        crew.dismiss()
        tables.close()


def _wait(board: object, most: int) -> None:
    while board.left("b") > most:  # type: ignore[attr-defined]
        time.sleep(0.01)


def _cpu(crew: object) -> float:
    """CPU ms of all workers; 0 where one has ended."""
    try:
        return sum(cpu_of(process.pid) for process in crew.processes)  # type: ignore[attr-defined]
    except OSError:
        return 0.0


def cpu_of(pid: int) -> float:
    """CPU ms of a living process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def cpu_of_tree(pid: int) -> float:
    """CPU ms of a server, and of all its children that have ended or live."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ended = (int(fields[13]) + int(fields[14])) * TICK
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return cpu_of(pid) + ended + sum(cpu_of(int(child)) for child in children)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rootproof-bench-") as folder:
        yield Path(folder)


@contextmanager
def _server() -> Iterator[tuple[str, int]]:
    import postgres

    with postgres.cluster() as running:
        assert running.process is not None
        yield running.database(), running.process.pid


def _tell(bare: float, rows: list[Row], target: float | None, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"bare_ms_a_job": bare, "rows": [asdict(row) for row in rows]}, indent=2))
        return
    print(f"The bare loop: {bare:.1f} CPU ms a job.\n")
    print("| store | workers | jobs a second | CPU ms a job in the worker | beyond the bare loop | in the server |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        server = f"{row.server_ms_a_job:.1f}" if row.server_ms_a_job is not None else ""
        numbers = f"{row.jobs_a_second:.1f} | {row.cpu_ms_a_job:.1f} | {row.overhead_ms:.1f}"
        print(f"| {row.store} | {row.workers} | {numbers} | {server} |")
    if target is not None:
        held = "held" if target <= TARGET else "MISSED"
        print("\n| target | found | at most | |\n|---|---|---|---|")
        print(f"| beyond the bare loop, Postgres | {target:.1f} | {TARGET} | {held} |")
    load = subprocess.run(["uptime"], capture_output=True, text=True).stdout.strip()
    sys.stderr.write(f"{load}\n")


if __name__ == "__main__":
    main()
