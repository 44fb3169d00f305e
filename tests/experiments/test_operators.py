"""Operators: every edit applies to its source, differs from it and leaves a program; the listed kinds are there."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from rootproof.experiments import plan as planned
from rootproof.experiments.change import Change, Refused
from rootproof.experiments.keys import key_edits
from rootproof.experiments.operators import Operators, rewrite, values
from rootproof.experiments.sources import Sources, parse


def edits(source: str, line: int) -> dict[str, list[str]]:
    """Operator → changed lines, for the statement of one line."""
    data = source.encode()
    module = parse("m.py", data)
    assert module is not None
    found: dict[str, list[str]] = {}
    for edit in Operators(module).edits(module.by_line[line]):
        changed = Change((edit,)).apply({"m.py": data})
        assert not isinstance(changed, Refused), changed
        ast.parse(changed["m.py"])
        assert edit.new != edit.old
        found.setdefault(edit.operator, []).append(edit.new.strip())
    return found


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("comparison", "if a < b: pass", "if a <= b: pass"),
        ("comparison", "if a is not b: pass", "if a is b: pass"),
        ("boolean", "if a and b: pass", "if (a or b): pass"),
        ("drop_clause", "if a and b: pass", "if b: pass"),
        ("drop_not", "if not a: pass", "if a: pass"),
        ("negate", "if a: pass", "if not (a): pass"),
        ("none_test", "if not a: pass", "if a is None: pass"),
        ("truth_test", "if a is not None: pass", "if a: pass"),
        ("or_default", "c = a or b", "c = (a if a is not None else b)"),
        ("number", "c = a[1:]", "c = a[2:]"),
        ("boolean_constant", "c = True", "c = False"),
        ("arithmetic", "c = a / b", "c = a // b"),
        ("drop_operand", "c = a + b", "c = a"),
        ("swap_arguments", "c = max(a, b)", "c = max(b, a)"),
        ("unwrap_call", "c = list(a)", "c = a"),
        ("receiver", "c = a.strip()", "c = a"),
        ("sibling", "c = a.lstrip()", "c = a.strip()"),
        ("drop_argument", "c = f(a, key=b)", "c = f(a)"),
        ("index", "c = a[b]", "c = a[b - 1]"),
        ("get", "c = a[b]", "c = a.get(b)"),
        ("swap_choice", "c = a if b else 0", "c = (0 if b else a)"),
        ("augmented", "a += b", "a -= b"),
        ("delete", "a.clear()", "pass"),
        ("guard", "c = a.x", "if a is None:\n        return\n    c = a.x"),
        ("widen_isinstance", "if isinstance(a, Lion): pass", "if isinstance(a, (Lion, Tiger)): pass"),
        ("type_test", "if type(a) is Lion: pass", "if isinstance(a, Lion): pass"),
        ("wrap", "c = a", "c = list(a)"),
        ("normalise", "c = a", "c = a.casefold()"),
        ("f_prefix", "c = 'no {a} here'", "c = f'no {a} here'"),
        ("pattern", r"c = re.match('a\\s+b', a)", r"c = re.match('a\\s*b', a)"),
        ("near_attribute", "c = a.colour", "c = a.color"),
        ("own_attribute", "c = f(a.left)", "c = f(a.color)"),
        ("split_once", "k, c = a.split('=')", "k, c = a.split('=', 1)"),
        ("variable", "c = a.x + 1", "c = b.x + 1"),
    ],
)
def test_operator(operator: str, before: str, after: str) -> None:
    source = f"import re\n\ndef f(a, b):\n    {before}\n    return isinstance(c, Tiger), a.color\n"
    assert after in edits(source, 4).get(operator, [])


SHOP = """\
class Till:
    def __init__(self, coins=[]):
        self.coins = coins
        self.log = []

    def take(self, coin):
        self.coins.append(coin)
        self.log.append(coin)
        self.sum += coin.value

    def give(self, coin):
        if coin is None:
            return
        coin.name.strip()
        self.coins.remove(coin)

    def label(self, coin, count):
        return coin.owner.name[0] + str(count * 2)
"""


@pytest.mark.parametrize(
    ("operator", "line", "after"),
    [
        ("fresh_default", 2, "def __init__(self, coins=None):\n        if coins is None:\n            coins = []\n        self.coins = coins"),
        ("keep_value", 14, "coin.name = coin.name.strip()"),
        ("keep_value", 14, "return coin.name.strip()"),
        ("step", 15, "self.log.append(coin)\n        self.coins.remove(coin)"),
        ("step", 15, "self.coins.remove(coin)\n        self.sum -= coin.value"),
        ("guard_value", 18, "return (coin.owner.name[0] if coin.owner.name else '') + str(count * 2)"),
        ("guard_value", 18, "return (coin.owner.name[0] if coin.owner else None) + str(count * 2)"),
        ("off_by_one", 18, "return coin.owner.name[0] + str((count - 1) * 2)"),
    ],
)  # fmt: skip
def test_what_was_left_out(operator: str, line: int, after: str) -> None:
    assert after in edits(SHOP, line).get(operator, [])


BLOCKS = """\
def run(self, root):
    for block in root.iter():
        if len(block) == 1 and block[0].tag == 'code':
            code = Highlighted(
                self.unescape(block[0].text),
                size=self.size,
            )
            self.store([part.tag for part in code])
"""


def test_what_is_handed_on_is_guarded_too_and_a_loop_further_out_goes_on_with_the_next() -> None:
    found = edits(BLOCKS, 4)["guard"]
    assert any(text.startswith("if block[0].text is None:\n                continue\n") for text in found)
    assert any(text.startswith("if not block[0]:\n                return\n") for text in found)


def test_a_name_that_only_a_comprehension_binds_is_not_guarded() -> None:
    found = edits(BLOCKS, 8)["guard"]
    assert "if code is not None:\n                self.store([part.tag for part in code])" in found
    assert any("if not code:" in text for text in found) and not any(" part" in text.split("\n")[0] for text in found)


def test_a_method_that_is_called_for_what_it_does_gives_nothing_to_keep() -> None:
    assert "keep_value" not in edits(SHOP, 7)
    assert not any(step.startswith("self.coins = coins") for step in edits(SHOP, 15)["step"]), "coins is unknown there"


def test_a_key_of_a_dictionary_that_is_only_read_is_one_side_of_a_relation(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('GIVEN = {"time_out": 3}\n\n\ndef f():\n    return GIVEN.get("timeout")\n')
    sources = Sources(tmp_path)
    module = sources.module("a.py")
    assert module is not None
    notes = [edit.new for _, edit in key_edits([module.by_line[1], module.by_line[5]], sources)]
    assert "GIVEN = {'timeout': 3}\n" in notes and "    return GIVEN.get('time_out')\n" in notes


def test_widening_an_except() -> None:
    found = edits("def f(a):\n    try:\n        a()\n    except KeyError:\n        return 1\n", 2)
    assert any("except (KeyError, IndexError):" in text for text in found["widen_except"])


def test_edits_are_deterministic_and_survive_non_ascii_columns() -> None:
    source = "def f(a, ü):\n    return 'é' + (a if ü < 3 else ü)\n"
    assert edits(source, 2) == edits(source, 2)
    assert "return 'é' + (a if ü <= 3 else ü)" in edits(source, 2)["comparison"]


@pytest.mark.parametrize("part", [planned, values, rewrite])
def test_every_edit_of_real_files_leaves_a_program(part: object) -> None:
    source = inspect.getsource(part)  # type: ignore[arg-type]
    module = parse("m.py", source.encode())
    assert module is not None
    for statement in module.statements[::7]:
        edits(source, statement.first)
