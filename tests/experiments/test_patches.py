"""A value patch says where a wrong value is born: not where it is handed on, and not what to change."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from engine_project import FILES, TARGET, engine_for, lay, line_of

from rootproof.experiments.change import Refused
from rootproof.experiments.mutants import MutantLimits
from rootproof.experiments.patches import OPERATOR, directions, patched
from rootproof.experiments.sources import parse

CHAIN = """\
def width(text):
    seen = len(text)
    seen += 1
    return seen


def shown(text):
    found = width(text)
    return found


def label(text):
    return shown(text)
"""
CHAIN_TESTS = """\
from chain import label


def test_label():
    assert label("four") == 4


def test_empty():
    assert label("") >= 0
"""
LIMITS = MutantLimits(seconds=60, cpu_seconds=60)


def chain(root: Path, text: str = CHAIN) -> Path:
    return lay(root, {"chain.py": text, "tests/test_price.py": CHAIN_TESTS})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(CHAIN, 3, id="at the statement that makes it, two calls below the test"),
        pytest.param(CHAIN.replace("return found", "return found + 0"), 3, id="handed on through a computation"),
        pytest.param(CHAIN.replace("seen += 1\n    return seen", "return seen + 1"), 3, id="in a return"),
        pytest.param(
            CHAIN.replace("    seen += 1\n", "").replace("found = width(text)", "found = width(text) + 1"),
            7,
            id="by the caller",
        ),
    ],
)
def test_the_first_statement_of_the_chain_is_named(tmp_path: Path, text: str, line: int) -> None:
    engine = engine_for(chain(tmp_path / "chain", text))
    test = "tests/test_price.py::test_label"
    study, _ = engine.search(test, 60, LIMITS)
    told = [s for s in study.ranking.statements if "the wrong value is born here" in s.reason]
    assert [(s.file, s.first) for s in told] == [("chain.py", line)]


def test_a_patch_is_no_change_to_be_tried(tmp_path: Path) -> None:
    engine = engine_for(lay(tmp_path / "shop", FILES))
    study, search = engine.search(TARGET, 60, LIMITS)
    assert search.flips
    assert not any(OPERATOR in flip.change.operator for flip in search.flips)
    told = [s.first for s in study.ranking.statements if "the wrong value is born here" in s.reason]
    assert told == [line_of(tmp_path / "shop", "return amount + 5")]


def test_no_patch_where_nothing_plain_is_compared(tmp_path: Path) -> None:
    tests = CHAIN_TESTS.replace('label("four") == 4', 'label("four").real is object()')
    root = lay(tmp_path / "chain", {"chain.py": CHAIN, "tests/test_price.py": tests})
    engine = engine_for(root)
    study, _ = engine.search("tests/test_price.py::test_label", 60, LIMITS)
    assert directions(study.trace) == []
    assert not any("is born here" in s.reason for s in study.ranking.statements)


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("return value", 5),
        ("return value, 1", (4, 1)),
        ("return (\n        value\n    )", 5),
        ("value = value\n    return value", 5),
        ("value: int = value  # said\n    return value", 5),
        ("value += 0\n    return value", 5),
        ("other = yield value\n    return other", None),
    ],
)
def test_only_the_wrong_value_is_replaced(tmp_path: Path, body: str, result: object) -> None:
    source = f"def f(value):\n    {body}\n"
    module = parse("f.py", source.encode())
    assert module is not None
    statement = next(s for s in module.statements if s.kind in ("Return", "Assign", "AnnAssign", "AugAssign"))
    change = patched(module, statement, "4", "5")
    assert change is not None
    made = change.apply({"f.py": source.encode()})
    assert not isinstance(made, Refused)
    (tmp_path / "f.py").write_bytes(made["f.py"])
    function = runpy.run_path(str(tmp_path / "f.py"))["f"]
    if result is not None:
        assert function(4) == result
        assert function(True) in (True, (True, 1)), "another value is left alone"


def test_a_statement_that_gives_nothing_is_not_patched() -> None:
    source = "def f(value):\n    print(value)\n    return\n"
    module = parse("f.py", source.encode())
    assert module is not None
    assert [patched(module, s, "4", "5") for s in module.statements] == [None, None, None]
