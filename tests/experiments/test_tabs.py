"""A project indented with tabs is treated as any other."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from engine_project import FILES, PRICE, TARGET, TOTAL, engine_for, lay

from postage import SHOP
from rootproof.experiments.change import Change, Edit, Refused
from rootproof.experiments.mutants import Mutant, MutantLimits, mutants_command, read_search
from rootproof.experiments.operators import Operators
from rootproof.experiments.sources import parse
from small_project import small

TESTS = """
    import unittest

    from price import label, postage


    class PostageTest(unittest.TestCase):
        def test_from_fifty(self):
            self.assertEqual(postage(50), 0)

        def test_small(self):
            self.assertEqual(postage(10), 5)

        def test_large(self):
            self.assertEqual(postage(80), 0)

        def test_nearly(self):
            self.assertEqual(postage(49), 5)

        def test_none(self):
            self.assertEqual(label(-1), "none")
    """
SOURCE = """\
    class Basket:
        def add(self, item, kept=[]):
            first = item
            second = first
            kept.append(second)
            return kept
    """


def tabbed(text: str) -> str:
    return textwrap.dedent(text).replace("    ", "\t")


@pytest.mark.contained
def test_a_change_is_confirmed_as_well_as_with_blanks(tmp_path: Path) -> None:
    price = textwrap.dedent(SHOP["price.py"]).replace("amount > 50", "amount >= 50")
    target, fixed = "test_price.py::PostageTest::test_from_fifty", tabbed(price)
    shop = small(tmp_path, {**SHOP, "price.py": tabbed(SHOP["price.py"]), "test_price.py": tabbed(TESTS)})
    found, record = shop.confirm(target, {"price.py": fixed})
    assert (found.answer, record.unmade) == ("supported", ()), found


def test_a_change_is_put_into_live_code(tmp_path: Path) -> None:
    root = lay(tmp_path, {path: text.replace("    ", "\t") for path, text in FILES.items()})
    engine = engine_for(root)
    study = engine.study(TARGET, 60)
    old = next(line for line in (root / PRICE).read_text("utf-8").splitlines(keepends=True) if "amount > self" in line)
    number = (root / PRICE).read_text("utf-8").splitlines(keepends=True).index(old) + 1
    mutants = [Mutant(Change((Edit(PRICE, number, number, old, old.replace(">", ">=")),)), TOTAL)]
    limits = MutantLimits(seconds=60, cpu_seconds=60, stop_flips=9, stop_functions=9)
    command = mutants_command(engine.subject(TARGET), study.trace, mutants, engine.sources, tmp_path, limits)
    (verdict,) = read_search(engine.sandbox.run(command), mutants).verdicts
    assert (verdict.status, verdict.how) == ("passed", "swap")


@pytest.mark.parametrize("line", range(1, 7))
def test_every_edit_leaves_a_program(line: int) -> None:
    data = tabbed(SOURCE).encode()
    module = parse("m.py", data)
    assert module is not None
    made = Operators(module).edits(module.by_line[line]) if line in module.by_line else []
    assert made or line == 1
    for edit in made:
        changed = Change((edit,)).apply({"m.py": data})
        assert not isinstance(changed, Refused)
        ast.parse(changed["m.py"])
