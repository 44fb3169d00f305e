"""Which tests a change must keep: the nearest, and of all others as many as time holds, near and far alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.experiments.neighbours import MOST, NEAREST, SECONDS, Spectrum, evenly, neighbours
from rootproof.experiments.trace import Run
from small_project import small

TARGET = "t.py::test_target"
WATCHED = {"shop.py": frozenset({1})}


def run(name: str, lines: set[int], cpu: float = 0.001, status: str = "passed") -> Run:
    return Run(f"t.py::{name}", status, {"shop.py": frozenset(lines)}, cpu)


def chosen(*runs: Run) -> tuple[str, ...]:
    return neighbours(Spectrum(TARGET, runs, {"shop.py": frozenset({1, 2, 3})}), WATCHED)


def alike(count: int, cpu: float = 0.001) -> list[Run]:
    return [run(f"test_alike_{number:04}", {1, 2, 3}, cpu) for number in range(count)]


def test_the_unlike_are_among_them_where_many_are_alike() -> None:
    found = chosen(*alike(100), run("test_far", {1, 7, 8, 9}))
    assert len(found) == 101 and "t.py::test_far" in found


def test_there_is_an_upper_bound_and_the_far_end_is_not_cut_off() -> None:
    far = [run(f"test_far_{number:04}", {1, 7, 8}) for number in range(1000)]
    found = chosen(*alike(1000), *far)
    assert len(found) == len(set(found)) == MOST
    assert found[:NEAREST] == tuple(test.test for test in alike(NEAREST))
    assert sum("far" in test for test in found) > (MOST - NEAREST) // 3


def test_slow_tests_beyond_the_nearest_are_as_many_as_time_holds() -> None:
    assert len(chosen(*alike(200, cpu=1.0))) == NEAREST + int(SECONDS)


def test_only_what_passed_and_runs_the_place_counts() -> None:
    assert chosen(run("test_failed", {1}, status="failed"), run("test_elsewhere", {2})) == ()


@given(st.integers(0, 2000), st.integers(1, 300))
def test_rows_are_taken_once_and_from_the_whole_length(length: int, most: int) -> None:
    found = list(evenly(range(length), most))
    assert len(found) == len(set(found)) == min(length, most)
    if length > 3 * most and most > 8:
        first = found[: most // 2]
        assert min(first) < length / 3 and max(first) > length / 2


FILES = {
    "shop.py": """
        def amount(text):
            sign, digits = split(text)
            if not digits.isdigit():
                raise ValueError(text)
            return sign * int(digits)


        def split(text):
            if text.startswith("-"):
                return -1, text[1:]
            return 1, text
        """,
    "test_shop.py": """
        import pytest
        from shop import amount


        @pytest.mark.parametrize("text", [str(number) for number in range(90)])
        def test_plain(text):
            assert amount(text) == int(text)


        @pytest.mark.parametrize("text", ["--1", "-x", "- 1"])
        def test_wrong_behind_a_sign(text):
            with pytest.raises(ValueError):
                amount(text)


        def test_sign():
            assert amount("-7") == -7


        def test_plus():
            assert amount("+5") == 5
        """,
}


@pytest.mark.parametrize("mend", ["text.lstrip('+-')", "text.lstrip('+')"], ids=["breaks a far one", "breaks none"])
def test_a_change_that_breaks_a_test_unlike_the_target_is_refuted(tmp_path: Path, mend: str) -> None:
    shop = small(tmp_path / "shop", FILES)
    text = shop.read("shop.py").decode().replace("split(text)\n    if", f"split({mend})\n    if")
    verdict, record = shop.confirm("test_shop.py::test_plus", {"shop.py": text})
    assert "test_shop.py::test_sign" in record.neighbours
    assert verdict.answer == ("refuted" if "-" in mend else "supported"), verdict
