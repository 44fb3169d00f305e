"""Thousands of tests beside the red one: the neighbours are found without running or even collecting them all."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from rootproof.experiments.near import near_files
from rootproof.experiments.target.coverage import nearest

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/large_project.py"))


def lay(root: Path, files: dict[str, str]) -> tuple[str, ...]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return tuple(sorted(files))


TEN = "".join(f"def test_{number}(): pass\n" for number in range(10))
FILES = {
    "tests/test_own.py": "from shop.price import postage\n" + TEN,
    "tests/test_other.py": "from shop import stock\n" + TEN,
    "tests/deep/test_far.py": "import shop.price\n" + TEN,
    "tests/test_near.py": "def inner():\n    from shop import (price, stock)\n" + TEN,
    "tests/test_plain.py": TEN,
}


def test_files_that_import_what_the_target_imports_come_first(tmp_path: Path) -> None:
    files = lay(tmp_path, FILES)
    chosen = near_files(tmp_path, "tests/test_own.py", files, enough=30)
    assert chosen[0] == "tests/test_own.py"
    assert set(chosen[1:]) == {"tests/deep/test_far.py", "tests/test_near.py"}


def test_a_small_project_is_taken_whole_and_the_own_file_always(tmp_path: Path) -> None:
    files = lay(tmp_path, FILES)
    assert set(near_files(tmp_path, "tests/test_own.py", files)) == set(files)
    assert near_files(tmp_path, "tests/test_own.py", files, enough=1) == ("tests/test_own.py",)
    assert near_files(tmp_path, "tests/gone.py", files, enough=1) == ("tests/gone.py",)


def test_of_too_many_tests_those_of_the_nearest_file_are_traced_and_some_of_every_other_part() -> None:
    tests = [f"{file}::test_{number}" for file in ("a.py", "b.py", "own.py") for number in range(20)]
    items: dict[str, Any] = {test: test for test in tests}
    request = {"tests": ["own.py", "b.py", "a.py"], "targets": ["own.py::test_7"], "most": 40}
    chosen = nearest(items, request)
    assert len(chosen) == 40 and chosen == sorted(chosen, key=tests.index)
    assert {test for test in tests if test.startswith("own.py")} <= set(chosen)
    assert any(test.startswith("a.py") for test in chosen)


@pytest.mark.suites
def test_five_thousand_tests(tmp_path: Path) -> None:
    BENCHMARK["write"](tmp_path / "large", 5000, 50)
    seconds = 300.0
    found = BENCHMARK["measure"](tmp_path / "large", tmp_path / "runs.sqlite", seconds)
    assert found["status"] == "success" and found["place"] == "shop/price.py::postage"
    assert found["spent_s"] <= seconds
    assert found["first_suspects_s"] is not None
    assert found["largest_process_mb"] < 1024


@pytest.mark.suites
def test_a_file_of_a_thousand_tests_leaves_the_reserve_for_a_confirmation(tmp_path: Path) -> None:
    """The run in file order costs far more than one of the target; what is reserved follows the latter."""
    root = tmp_path / "large"
    BENCHMARK["write"](root, 0, 1)
    slow = "".join(f"def test_slow_{n}():\n    sum(range(1_000_000))\n\n\n" for n in range(1000))
    with (root / "tests" / "test_price.py").open("a") as file:
        file.write(f"\n\n{slow}")
    found = BENCHMARK["measure"](root, tmp_path / "runs.sqlite", 240.0)
    assert found["status"] == "success", found
