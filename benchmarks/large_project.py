"""A project of thousands of trivial tests, one of them red: when are the first suspects told, what does it all take?

    python benchmarks/large_project.py [--tests 5000] [--files 50] [--seconds 300] [--json]

Seconds are wall time of the whole command, so they hang on what else the machine does; CPU seconds and memory (of the
largest process) do so much less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET = "tests/test_price.py::test_free_from_fifty"
PRICE = """def total(amounts):
    found = 0
    for amount in amounts:
        found += amount
    return found


def postage(amount):
    if amount > 50:
        return 0
    return 5
"""
TESTS = """from shop.price import postage, total


def test_free_from_fifty():
    assert postage(50) == 0


def test_small():
    assert postage(10) == 5


def test_large():
    assert postage(80) == 0


def test_nearly():
    assert postage(49) == 5


def test_total():
    assert total([1, 2]) == 3
"""


def write(root: Path, tests: int, files: int) -> None:
    """The project: ``tests`` green tests in ``files`` files beside the five of the module with the fault."""
    (root / "shop").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "shop" / "__init__.py").write_text("")
    (root / "shop" / "price.py").write_text(PRICE)
    (root / "tests" / "test_price.py").write_text(TESTS)
    for part in range(files):
        numbers = range(tests // files)
        own = (f"def value_{n}(x):\n    return x + {n}\n" for n in numbers)
        checks = (f"def test_{n}():\n    assert part_{part}.value_{n}(1) == {n + 1}\n" for n in numbers)
        (root / "shop" / f"part_{part}.py").write_text("\n\n".join(own))
        (root / "tests" / f"test_part_{part}.py").write_text("\n\n".join([f"from shop import part_{part}\n", *checks]))


def measure(root: Path, store: Path, seconds: float, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """One diagnosis of the red test: how it ended, and what it took."""
    command = [sys.executable, "-m", "rootproof", "diagnose", TARGET, "--root", str(root), "--json"]
    command += ["--python", sys.executable, "--store", str(store), "--seconds", f"{seconds:g}", *more]
    began, first = time.monotonic(), None
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout is not None and started.stderr is not None
    for line in started.stderr:
        if first is None and " suspect 1" in line:
            first = time.monotonic() - began
    said = started.stdout.read()
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    outcome = json.loads(said)[0] if said else {}
    facts = outcome.get("facts", {})
    return {
        "status": outcome.get("status", ""),
        "grade": facts.get("cause_grade", {}).get("value"),
        "place": facts.get("cause_lies_in", {}).get("value"),
        "first_suspects_s": first,
        "seconds": time.monotonic() - began,
        "spent_s": outcome.get("spent", {}).get("seconds"),
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "largest_process_mb": usage.ru_maxrss / 1024,
    }


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--tests", type=int, default=5000)
    flags.add_argument("--files", type=int, default=50)
    flags.add_argument("--seconds", type=float, default=300.0)
    flags.add_argument("--json", action="store_true")
    asked = flags.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "large"
        write(root, asked.tests, asked.files)
        found = measure(root, Path(scratch) / "runs.sqlite", asked.seconds)
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        print(
            "\n".join(
                f"{name:20} {value:.1f}" if type(value) is float else f"{name:20} {value}"
                for name, value in found.items()
            )
        )


if __name__ == "__main__":
    main()
