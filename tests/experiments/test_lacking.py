"""A method that is not there is a suspect: a class that adds state to a base whose ``__eq__`` leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_project import PRICE, engine_for, lay

from rootproof.experiments.engine import Study

BASE = """\
class Record:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return {compared}
"""
ADDS = """\
class Order(Record):
    def __init__(self, name, lines):
        super().__init__(name)
        self.lines = lines
"""
SAME_STATE = """\
class Order(Record):
    def __init__(self, name, lines):
        super().__init__(name)
        self.name = name + "" * len(lines)
"""
OWN = ADDS + "\n    def __eq__(self, other):\n        return self.name == other.name\n"
TEST = """\
from shop.price import Order


def test_lines_differ():
    assert not Order("a", [1]) == Order("a", [2])


def test_names_differ():
    assert not Order("a", [1]) == Order("b", [1])
"""
NAMES = "self.name == other.name"


def studied(folder: Path, compared: str, order: str) -> Study:
    text = BASE.format(compared=compared) + "\n\n" + order
    root = lay(folder, {"shop/__init__.py": "", PRICE: text, "tests/test_price.py": TEST})
    return engine_for(root).study("tests/test_price.py::test_lines_differ", 60)


def test_a_class_that_adds_state_is_suspected_before_the_method_that_leaves_it_out(tmp_path: Path) -> None:
    first, second = studied(tmp_path, NAMES, ADDS).ranking.functions[:2]
    assert (first.function, second.function) == ("Order", "Record.__eq__")
    assert "adds lines and has no __eq__ of its own: Record.__eq__ does not compare that" in first.reason


@pytest.mark.parametrize(
    ("compared", "order"),
    [
        (NAMES, SAME_STATE),
        (NAMES, OWN),
        ("self.__dict__ == other.__dict__ or True", ADDS),
        ("self.name == other.name or self.lines == [2]", ADDS),
    ],
    ids=["adds nothing", "has its own", "base reads all state", "base knows the attribute"],
)
def test_other_classes_are_not_said_to_leave_state_out(tmp_path: Path, compared: str, order: str) -> None:
    study = studied(tmp_path, compared, order)
    assert study.trace.status == "failed"
    assert not any("does not compare that" in suspect.reason for suspect in study.ranking.functions)
