"""How much our search costs beside the bare program and beside plain Python, over one generated tree.

    python benchmarks/search.py [--files 50000] [--runs 3] [--json]

Ours is the whole call of ``search_code``: looking at what is in scope, counting, and reading the shown lines again.
The bare program walks the tree itself; plain Python walks it and looks into every file. All three count matching
lines; the counts must be equal, or the figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rootproof import contract
from rootproof.scope import Scope
from rootproof.tools.interface import Observation, Request
from rootproof.tools.ripgrep import program
from rootproof.tools.search_code import SearchCode

QUERIES = {"in many files": "value_7", "in few files": "word4321 ", "in none": "nowhere_at_all"}
IN_A_FOLDER = 25
LINES = 40


def generate(root: Path, files: int) -> None:
    """Source-like files of some 1.5 KB, the same at every call."""
    chance = random.Random(1)
    words = [f"word{number}" for number in range(5_000)]
    for number in range(files):
        folder = root / f"pkg{number // 500}" / f"mod{number // IN_A_FOLDER % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = (
            f"    value_{line} = {chance.choice(words)}({chance.choice(words)} , {number})\n" for line in range(LINES)
        )
        (folder / f"file{number}.py").write_text("".join(lines))


def ours(root: Path) -> Callable[[str], int]:
    """One tool over one scope, as in a run: from its second call on it knows which names are in scope."""
    tool = SearchCode(Scope(root, contract.Scope(read=("**",))), {})

    def search(query: str) -> int:
        asked = {"query": query, "path": None, "mode": "literal", "ignore_case": False, "max_results": 50}
        answer = tool.run(Request("search_code", asked, {}, seconds=600))
        assert isinstance(answer, Observation) and answer.fields["complete"] is True
        return int(str(answer.fields["matches"]))

    return search


def bare(root: Path) -> Callable[[str], int]:
    def search(query: str) -> int:
        argv = [str(program()), "--no-config", "--no-ignore", "--hidden", "--count", "-F", "-e", query, "--", "."]
        out = subprocess.run(argv, cwd=root, stdout=subprocess.PIPE, check=False).stdout
        return sum(int(line.rsplit(b":", 1)[1]) for line in out.splitlines())

    return search


def plain(root: Path) -> Callable[[str], int]:
    def search(query: str) -> int:
        wanted = query.encode()
        total = 0
        for folder, _, names in os.walk(root):
            for name in names:
                data = Path(folder, name).read_bytes()
                if wanted in data:
                    total += sum(wanted in line for line in data.split(b"\n"))
        return total

    return search


def measured(search: Callable[[str], int], query: str, runs: int) -> tuple[int, float, float]:
    """Matches, and the medians of wall and CPU seconds; one run beforehand is not counted."""
    found = search(query)
    walls, cpus = [], []
    for _ in range(runs):
        began, used = time.perf_counter(), _cpu()
        assert search(query) == found
        walls.append(time.perf_counter() - began)
        cpus.append(_cpu() - used)
    return found, statistics.median(walls), statistics.median(cpus)


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        generate(root, given.files)
        ways = {"ours": ours(root), "rg alone": bare(root), "plain Python": plain(root)}
        for label, query in QUERIES.items():
            found = {way: measured(search, query, given.runs) for way, search in ways.items()}
            if len({matches for matches, _, _ in found.values()}) != 1:
                print(f"the counts differ: {found}", file=sys.stderr)
                return 1
            rows.extend(
                {
                    "query": label,
                    "matches": matches,
                    "way": way,
                    "seconds": round(wall, 3),
                    "cpu_seconds": round(cpu, 3),
                    "times_ours": round(wall / found["ours"][1], 2),
                }
                for way, (matches, wall, cpu) in found.items()
            )
    if given.json:
        print(json.dumps({"files": given.files, "runs": given.runs, "rows": rows}))
        return 0
    print(f"{given.files} files, median of {given.runs} runs")
    print(f"{'query':<14}{'matches':>9}  {'way':<13}{'seconds':>8}{'CPU s':>8}{'x ours':>8}")
    for row in rows:
        place = f"{row['query']:<14}{row['matches']:>9}  {row['way']:<13}"
        print(f"{place}{row['seconds']:>8}{row['cpu_seconds']:>8}{row['times_ours']:>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
