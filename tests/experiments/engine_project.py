"""A small project for the engine's tests: a package with one fault, its tests, and settings that must not matter."""

from __future__ import annotations

import sys
from pathlib import Path

from rootproof.experiments.engine import Engine
from rootproof.experiments.sources import Sources
from rootproof.experiments.trace import Subject
from rootproof.sandbox.bare import Bare

FILES = {
    "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
    "shop/__init__.py": "",
    "shop/price.py": """\
LIMITS = {"small": 10}
CURRENCY = "eur"


class Basket:
    free_from = 50

    def __init__(self):
        self.items = []

    def add(self, price, count):
        self.items.append(price * count)

    def total(self):
        amount = 0
        for item in self.items:
            amount = amount + item
        if amount > self.free_from:
            return amount
        return amount + 5

    def label(self):
        return "{} {}".format(self.total(), CURRENCY)


def parse(text):
    try:
        return int(text)
    except ValueError:
        return 0
""",
    "tests/test_price.py": """\
from shop.price import Basket, parse


def filled(price, count):
    basket = Basket()
    basket.add(price, count)
    return basket


def test_free_from_fifty():
    assert filled(25, 2).total() == 50


def test_small():
    assert filled(10, 2).total() == 25


def test_large():
    assert filled(60, 1).total() == 60


def test_label():
    assert filled(10, 1).label() == "15 eur"


def test_parse():
    assert parse("x") == 0
""",
}
TARGET = "tests/test_price.py::test_free_from_fifty"
PRICE = "shop/price.py"
TOTAL = f"{PRICE}::Basket.total"


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return root


def engine_for(root: Path) -> Engine:
    subject = Subject(root, Path(sys.executable))
    return Engine(lambda test: subject, Bare(), ("tests/test_price.py",), Sources(root))


def line_of(root: Path, part: str) -> int:
    """Line of the source that holds this text."""
    lines = (root / PRICE).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if part in line)
