"""A test that ends its process hides those after it: what was not looked at is not taken for not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from postage import BESIDE, FROM_FIFTY, SHOP, tried
from rootproof.experiments.verdict import check_exceptions
from small_project import small

ENDS = """
    import os


    def test_ends_its_process():
        os._exit(3)
    """


@pytest.mark.parametrize(
    ("files", "verdict", "rule", "cut"),
    [
        pytest.param(
            {"test_near.py": BESIDE}, "supported", "confirmed", False, id="all seen", marks=pytest.mark.suites
        ),
        pytest.param({"test_near.py": ENDS, "test_other.py": BESIDE}, "inconclusive", "neighbours_cut", True, id="cut"),
        pytest.param(
            {"test_near.py": BESIDE, "test_other.py": ENDS},
            "supported",
            "confirmed",
            True,
            id="cut later",
            marks=pytest.mark.suites,
        ),
        pytest.param({}, "inconclusive", "no_neighbours", False, id="none there", marks=pytest.mark.suites),
    ],
)
def test_neighbours_that_were_not_looked_at(
    tmp_path: Path, files: dict[str, str], verdict: str, rule: str, cut: bool
) -> None:
    shop = small(tmp_path, {**SHOP, "test_first.py": FROM_FIFTY, **files})
    found, record, still_open = tried(shop, target="test_first.py::test_from_fifty")
    assert (found.answer, found.rule) == (verdict, rule), found.reason
    assert any("neighbours_cut" in each for each in check_exceptions(record)) == cut
    assert still_open == (rule == "neighbours_cut")
