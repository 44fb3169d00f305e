"""A small local model on the reference case and on two small faults, beside a random chooser over the same view.

    python benchmarks/local_model.py MODEL.gguf [--runs N] [--random N] [--seconds S]

Nothing is tuned to make the model look good: whatever comes out is printed. Each case runs plainly and with `--suggest`
(concrete requests listed in the view), because listing helps a random chooser as well.
The tests of the cases are run without containment: they are this script's own and the project's own example.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof import assemble
from rootproof.contract_file import Loaded
from rootproof.models import requests
from rootproof.models.interface import Model, Reply, View

REFERENCE = Path(__file__).parents[1] / "examples/login-redirect/python/contract.toml"
FAULTS: dict[str, dict[str, str]] = {
    "mean": {
        "mean.py": "def mean(values):\n    return sum(values) / (len(values) - 1)\n",
        "test_mean.py": "from mean import mean\n\n\ndef test_mean():\n    assert mean([2, 4]) == 3\n",
        "fact": r"/ \(len\(values\) (?P<divisor>.*)\)",
        "actual": "6.0",
        "wanted": "3",
        "criterion": "divisor == '- 1'",
    },
    "discount": {
        "price.py": "def reduced(price, percent):\n    return price + price * percent // 100\n",
        "test_price.py": "from price import reduced\n\n\ndef test_reduced():\n    assert reduced(200, 10) == 180\n",
        "fact": r"price (?P<sign>.) price",
        "actual": "220",
        "wanted": "180",
        "criterion": "sign == '+'",
    },
}


class Chooser:
    """Picks any request the view allows, or ``final``, by chance."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def propose(self, view: View) -> Reply:
        seen = json.loads(view.text)
        offer = self._chance.choice(requests.offers(seen))
        if not offer.tool:
            return Reply('{"type": "final"}')
        words = [word for word in seen["goal"].split() if word.isalpha()]
        asked = {name: self._chance.choice(words) for name in offer.ask}
        return Reply(json.dumps({"type": "action", "tool": offer.tool, "input": {**offer.input, **asked}}))


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    case: str
    model: str
    runs: int
    success: int
    ends: str
    steps: float
    seconds: float


def load(name: str, folder: Path) -> Loaded:
    """The contract of a case, its project laid where needed."""
    if name == "reference":
        return assemble.load_contract(REFERENCE)
    fault = FAULTS[name]
    source, test = (key for key in fault if key.endswith(".py"))
    for file in (source, test):
        (folder / file).write_text(fault[file], encoding="utf-8")
    identity = f"{test}::{fault[test].split('def ')[1].split('(')[0]}"
    actual: float | int = float(fault["actual"]) if "." in fault["actual"] else int(fault["actual"])
    document = {
        "schema": "rootproof/contract/1",
        "goal": f"Find out why {identity} fails.",
        "scope": {"root": ".", "read": [source, test], "tests": [identity]},
        "budget": {"max_steps": 8, "max_consecutive_parse_errors": 2},
        "tools": {"run_test": {"runner": "pytest"}, "search_code": {}, "read_file": {}},
        "evidence": [
            {
                "id": "reproduced",
                "tool": "run_test",
                "where": {"test": identity},
                "expect": {"status": "failed", "actual": actual, "expected": int(fault["wanted"])},
            },
            {"id": "line", "tool": "read_file", "where": {"path": source}, "capture": fault["fact"]},
        ],
        "completion": {"all": ["reproduced", fault["criterion"]]},
    }
    return assemble.Contract.of(document, folder)


def play(case: str, make: Callable[[int], Model], runs: int, suggest: bool) -> Row:
    """Some runs of one model on one case."""
    ends: Counter[str] = Counter()
    steps, began, name = 0, time.monotonic(), ""
    for seed in range(runs):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "project"
            folder.mkdir()
            model = make(seed)
            options = assemble.Options(
                store=Path(place) / "runs.sqlite3",
                model=model,
                containment="none",
                trusted=True,
                interpreter=Path(sys.executable),
                suggest=suggest,
            )
            outcome = assemble.run(load(case, folder), options)
        ends[outcome.status] += 1
        steps += outcome.steps
        name = outcome.model
    words = ", ".join(f"{status} {count}" for status, count in ends.most_common())
    return Row(case, name, runs, ends["success"], words, steps / runs, (time.monotonic() - began) / runs)


def report(path: Path | None, runs: int, chances: int, until: float) -> list[Row]:
    """All rows; what no time is left for is left out and said."""
    rows: list[Row] = []
    local: Any = None
    if path is not None:
        from rootproof.models.local import Local

        local = Local(path)
    for suggest in (False, True):
        for case in ("reference", *FAULTS):
            rows.append(play(case, Chooser, chances, suggest))
            if local is not None and time.monotonic() < until:
                rows.append(play(case, lambda seed: local, runs, suggest))
    return rows


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    head = "| case | model | runs | success | how they ended | steps | seconds |\n|---|---|---|---|---|---|---|"
    lines = [
        f"| {r.case} | {r.model} | {r.runs} | {r.success} | {r.ends} | {r.steps:.1f} | {r.seconds:.0f} |" for r in rows
    ]
    return "\n".join([head, *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="?", help="a GGUF file; without it only the random chooser plays")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--random", type=int, default=20, help="runs of the random chooser")
    parser.add_argument("--seconds", type=float, default=1200.0, help="begin no further run of the model after this")
    given = parser.parse_args()
    print(table(report(given.model, given.runs, given.random, time.monotonic() + given.seconds)))


if __name__ == "__main__":
    main()
