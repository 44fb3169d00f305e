"""A test that ends its process hides those after it: what was not looked at is not taken for not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.verdict import check_exceptions
from small_project import small

PRICE = """
    def postage(amount):
        if amount > 50:
            return 0
        return 5


    def label(amount):
        if amount < 0:
            return "none"
        return str(amount)
    """
TARGET = """
    from price import label, postage


    def test_from_fifty():
        assert label(50) == "50"
        assert postage(50) == 0
    """
ENDS = """
    import os


    def test_ends_its_process():
        os._exit(3)
    """
BESIDE = """
    from price import label, postage


    def test_small():
        assert postage(10) == 5


    def test_large():
        assert postage(80) == 0


    def test_nearly():
        assert postage(49) == 5


    def test_none():
        assert label(-1) == "none"
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
    shop = small(
        tmp_path,
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
            "price.py": PRICE,
            "test_first.py": TARGET,
            **files,
        },
    )
    fixed = shop.read("price.py").decode().replace("amount > 50", "amount >= 50")
    found, record = shop.confirm("test_first.py::test_from_fifty", {"price.py": fixed})
    assert (found.answer, found.rule) == (verdict, rule), found.reason
    assert any("neighbours_cut" in each for each in check_exceptions(record)) == cut
    assert is_open(Matter(record, {"price.py": shop.read("price.py")}), found) == (rule == "neighbours_cut")
