"""How soon an interrupted run is gone: ``python benchmarks/cancellation.py [--check] [--json]``.

Runs of the cancellation tests' project, where a test hangs that ignores SIGTERM and has a daemon forked twice, are
interrupted at each tool, by Ctrl-C and by a request to terminate. Wall seconds from the signal until no process of the
tree is alive, the command itself included: median and most of the repeats. ``--check`` exits 1 where a median is over
a second.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from cancelled.ground import dead_after, ground, reaper  # noqa: E402
from cancelled.test_cancelled import INT, STATES, TERM, At  # noqa: E402

MOST_SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="exit 1 where a median is over a second")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with reaper():
        found = {
            (name, how.name): [seconds(state, how) for _ in range(asked.repeats)]
            for name, state in STATES.items()
            for how in (INT, TERM)
        }
    rows = [
        {"at": name, "by": how, "median_s": round(statistics.median(times), 3), "most_s": round(max(times), 3)}
        for (name, how), times in found.items()
    ]
    if asked.json:
        print(json.dumps(rows))
    else:
        print("| interrupted at | by | median s | most s |\n|---|---|---|---|")
        for row in rows:
            print(f"| {row['at']} | {row['by']} | {row['median_s']:.2f} | {row['most_s']:.2f} |")
    if asked.check and any(row["median_s"] > MOST_SECONDS for row in rows):
        sys.exit(1)


def seconds(state: At, how: signal.Signals) -> float:
    """One run, interrupted at its last action."""
    with tempfile.TemporaryDirectory(prefix="rootproof-bench-") as folder:
        made = ground(Path(folder), len(state.before) + 1)
        made.hang(state.when)
        state.lay(made)
        model = made.model(*state.before, state.action)
        process = made.begin("run", made.contract, "--model", model, "--python", sys.executable)
        return dead_after(process, how, state.reached, state.pause)[0]


if __name__ == "__main__":
    main()
