"""A small shop with one fault: postage is free above fifty, where it should be from fifty. And the true change tried."""

from __future__ import annotations

from typing import NamedTuple

from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.record import Confirmation
from small_project import Small

FROM_FIFTY = """
    from price import label, postage


    def test_from_fifty():
        assert label(50) == "50"
        assert postage(50) == 0
    """
"""The red test."""
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
"""Tests that pass, and run the same functions."""
SHOP = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "price.py": """
        def postage(amount):
            if amount > 50:
                return 0
            return 5


        def label(amount):
            if amount < 0:
                return "none"
            return str(amount)
        """,
}
"""Without tests."""
FILES = {**SHOP, "test_price.py": FROM_FIFTY + BESIDE}
FIXED = SHOP["price.py"].replace("amount > 50", "amount >= 50")
RED = "test_price.py::test_from_fifty"


class Tried(NamedTuple):
    """What became of a change."""

    found: Verdict
    record: Confirmation
    still_open: bool
    """It may yet be the cause."""


def tried(shop: Small, price: str = FIXED, target: str = RED) -> Tried:
    """Confirm a change of the module, the true one if no other is given."""
    found, record = shop.confirm(target, {"price.py": price})
    return Tried(found, record, is_open(Matter(record, shop.sources(record)), found))
