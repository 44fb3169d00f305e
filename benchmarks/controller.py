"""What the loop itself costs: ``python benchmarks/controller.py [--check] [--no-peers] [--json]``.

Runs of 8, 50 and 200 steps with observations of 2 KB and a scripted proposer, so that only the controller is measured:
with the SQLite ledger, with a ledger in memory, and the bare fold of the same events; beside them, in the same session
and each in an environment of its own, mini-swe-agent and langgraph with its SQLite saver. Every figure is the least of
the repeats, each in a fresh process and the lengths in turn, for other programs only ever add to it; the ratio of the
eighths is their median.
``--check`` exits 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STEPS = (8, 50, 200)
PEERS = {
    "mini-swe-agent": ("peers/mini_swe_agent.py", ("mini-swe-agent>=2.4,<3",)),
    "langgraph + SqliteSaver": (
        "peers/langgraph_sqlite.py",
        ("langgraph>=1.2,<2", "langgraph-checkpoint-sqlite>=3.1,<4"),
    ),
}


@dataclass(frozen=True)
class Row:
    """One measured run."""

    what: str
    steps: int
    cpu_ms_a_step: float
    characters: int | None = None
    last_over_first: float | None = None
    store_over_raw: float | None = None


@dataclass(frozen=True)
class Target:
    """A promise, and what was found."""

    name: str
    found: float
    most: float

    @property
    def held(self) -> bool:
        return self.found <= self.most


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--no-peers", action="store_true", help="only rootproof")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--one", nargs=2, metavar=("LEDGER", "STEPS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_one(asked.one[0], int(asked.one[1]))))
        return
    rows = [row for ledger in ("sqlite", "memory", "fold") for row in _ours(ledger, asked.repeats)]
    rows += [] if asked.no_peers else [row for name in PEERS for row in _peer(name, min(asked.repeats, 2))]
    targets = [*_targets(rows), *_start_up(asked.repeats)]
    _tell(rows, targets, as_json=asked.json)
    if asked.check and not all(target.held for target in targets):
        sys.exit(1)


def _one(ledger: str, steps: int) -> dict[str, Any]:
    sys.path.insert(0, str(HERE))
    import stage

    if ledger == "commit":
        return {"cpu_ms_a_step": 4 * stage.commit()}
    stage.measure(8, ledger)  # imports and first calls are no part of a step
    return asdict(stage.measure(steps, ledger))


def _fresh(*arguments: str, python: str = sys.executable) -> tuple[dict[str, Any] | None, str]:
    """(the JSON line of a process of its own, why there is none)."""
    done = subprocess.run([python, *arguments], capture_output=True, text=True, timeout=900)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode or not last.startswith("{"):
        return None, (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:200]
    return json.loads(last), ""


def _repeat(times: int, *commands: tuple[str, ...]) -> list[list[dict[str, Any]]]:
    """Of each command the figures of its runs. The commands take turns, so that a slow minute meets them all."""
    found: list[list[dict[str, Any]]] = [[] for _ in commands]
    for _ in range(times):
        for runs, command in zip(found, commands, strict=True):
            figures, why = _fresh(*command)
            if figures is None:
                raise SystemExit(f"error: {why}")
            runs.append(figures)
    return found


def _ours(ledger: str, repeats: int) -> Iterable[Row]:
    words = {"sqlite": "rootproof, ledger on", "memory": "rootproof, ledger off", "fold": "the bare fold"}
    me = str(HERE / "controller.py")
    runs = _repeat(repeats, *((me, "--one", ledger, str(steps)) for steps in STEPS))
    for steps, found in zip(STEPS, runs, strict=True):
        yield Row(
            words[ledger],
            steps,
            min(one["cpu_ms_a_step"] for one in found),
            found[0]["characters"] or None,
            None if ledger == "fold" else statistics.median(one["last_over_first"] for one in found),
            found[0]["store_over_raw"],
        )
    if ledger == "sqlite":
        (alone,) = _repeat(repeats, (me, "--one", "commit", "0"))
        yield Row("four synchronous commits alone", 200, min(one["cpu_ms_a_step"] for one in alone))


def _peer(name: str, repeats: int) -> Iterable[Row]:
    script, packages = PEERS[name]
    python, why = _environment(script, packages)
    if python is None:
        sys.stderr.write(f"left out: {name}: {why}\n")
        return
    for steps in STEPS:
        found = []
        for _ in range(repeats):
            figures, why = _fresh(str(HERE / script), str(steps), python=python)
            if figures is None or figures["steps"] != steps:
                sys.stderr.write(f"left out: {name}, {steps} steps: {why or figures}\n")
                return
            found.append(figures)
        best = min(found, key=lambda one: one["cpu_s"])
        ratio = best["store"] / (steps * 2048) if best["store"] else None
        yield Row(name, steps, 1000 * best["cpu_s"] / steps, best["characters"], None, ratio)


def _environment(script: str, packages: tuple[str, ...]) -> tuple[str | None, str]:
    """The interpreter of a peer's own environment, made once under the user's cache folder; or why there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "rootproof-benchmarks" / Path(script).stem
    python = folder / "bin" / "python"
    if (folder / ".ready").is_file():
        return str(python), ""
    try:
        venv.create(folder, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return None, str(error)[:200]
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        return None, f"pip: {(done.stderr.strip().splitlines() or ['failed'])[-1][:200]}"
    (folder / ".ready").touch()
    return str(python), ""


def _targets(rows: list[Row]) -> Iterable[Target]:
    on = {row.steps: row for row in rows if row.what == "rootproof, ledger on"}
    yield Target("CPU ms a step, 50 steps, ledger on", on[50].cpu_ms_a_step, 2.0)
    yield Target("CPU ms a step, 200 steps, ledger on", on[200].cpu_ms_a_step, 2.0)
    yield Target("last eighth of 200 steps over the first", on[200].last_over_first or 0.0, 1.2)
    yield Target("characters sent in 200 steps", on[200].characters or 0, 2_400_000)
    yield Target("store over raw observations, 200 steps", on[200].store_over_raw or 0.0, 3.0)


def _start_up(repeats: int) -> Iterable[Target]:
    def cpu(*command: str) -> float:
        return min(_child_cpu([sys.executable, *command])[0] for _ in range(repeats))

    nothing = cpu("-c", "pass")
    pydantic = cpu("-c", "import pydantic")
    yield Target("import rootproof, CPU s", cpu("-c", "import rootproof"), 3 * nothing + pydantic)
    yield Target("rootproof --help, CPU s", cpu("-m", "rootproof", "--help"), 0.3)
    with tempfile.TemporaryDirectory() as folder:
        demo = ["-m", "rootproof", "demo", "--json", "--store", f"{folder}/runs.sqlite3"]
        yield Target("the demo's controller process, MB", _child_cpu([sys.executable, *demo])[1], 80)


def _child_cpu(command: list[str]) -> tuple[float, float]:
    """(CPU seconds, peak MB) of one process, without its children."""
    script = (
        "import resource, runpy, sys, atexit, json\n"
        "def say():\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    sys.stderr.write('\\nUSED ' + json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))\n"
        "atexit.register(say)\n"
    )
    if command[1] == "-m":
        body = f"sys.argv = {command[2:]!r}\nrunpy.run_module({command[2]!r}, run_name='__main__', alter_sys=True)\n"
    else:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 0.0
    done = subprocess.run([command[0], "-c", script + body], capture_output=True, text=True, timeout=300)
    cpu, peak = json.loads(done.stderr.rsplit("USED ", 1)[1])
    return cpu, peak


def _tell(rows: list[Row], targets: list[Target], *, as_json: bool) -> None:
    if as_json:
        said = {"rows": [asdict(row) for row in rows], "targets": [{**asdict(t), "held": t.held} for t in targets]}
        print(json.dumps(said, indent=2))
        return
    print("| what | steps | CPU ms a step | characters sent | last eighth / first | store / raw |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        sent = f"{row.characters:,}" if row.characters else ""
        late = f"{row.last_over_first:.2f}" if row.last_over_first else ""
        store = f"{row.store_over_raw:.2f}" if row.store_over_raw else ""
        print(f"| {row.what} | {row.steps} | {row.cpu_ms_a_step:.2f} | {sent} | {late} | {store} |")
    print("\n| target | found | at most | |\n|---|---|---|---|")
    for target in targets:
        print(f"| {target.name} | {target.found:,.3g} | {target.most:,.3g} | {'held' if target.held else 'MISSED'} |")


if __name__ == "__main__":
    main()
