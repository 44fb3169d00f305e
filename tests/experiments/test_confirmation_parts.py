"""The pure parts of the confirmation: folding, words, width, controls, reduction, signatures, records, intervals."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootproof.canonical import digest_bytes
from rootproof.experiments import controls, test_copies
from rootproof.experiments.change import Change, Edit, Refused, change_between, same_tree
from rootproof.experiments.condition_judgements import judge_condition
from rootproof.experiments.conditions import Condition
from rootproof.experiments.constants import constants
from rootproof.experiments.grade import grade, shape
from rootproof.experiments.literal import key, trivial
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.masks import Case, broken
from rootproof.experiments.record import Confirmation, Outcome, Run, from_data, to_data
from rootproof.experiments.reduce import ddmin
from rootproof.experiments.words import new_words
from rootproof.interval import wilson

ASSEMBLED = [
    ('x = "".join(map(chr, [52, 50]))', "42"),
    ("def f():\n    return 6 * 7", 42),
    ("def f():\n    a = 40\n    a += 2\n    return a", 42),
    ('def f():\n    a = []\n    a.append("x")\n    a.append("y")\n    return a', ["x", "y"]),
    ('x = f"{4}{2}"', "42"),
    ('x = "%s-%d" % ("a", 3)', "a-3"),
    ('x = "{}{}".format(4, 2)', "42"),
    ('x = "24"[::-1]', "42"),
    ('x = bytes.fromhex("3432").decode()', "42"),
    ('x = "".join(c.upper() for c in "ab")', "AB"),
    ("A = 40\ndef f():\n    return A + 2", 42),
]


@pytest.mark.parametrize(("source", "value"), ASSEMBLED)
def test_a_value_is_seen_however_it_is_put_together(source: str, value: object) -> None:
    assert key(value) in constants(ast.parse(source))


def test_a_value_that_depends_on_data_is_no_constant() -> None:
    assert key(4) not in constants(ast.parse("def f(n):\n    if n:\n        n = 3\n    return n + 1"))


@settings(deadline=None)
@given(st.recursive(st.integers() | st.text() | st.booleans() | st.none(), lambda inner: st.lists(inner, max_size=4)))
def test_every_literal_folds_to_itself(value: object) -> None:
    assert key(value) in constants(ast.parse(f"x = {value!r}"))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_folding_never_raises(text: str) -> None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    constants(tree)


def test_common_values_are_not_planted() -> None:
    assert all(trivial(v) for v in (0, 1, -1, True, False, None, "", [], {}))
    assert not any(trivial(v) for v in (2, "a", [0]))


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("tests/test_a.py", "edits_test"),
        ("pkg/test_a.py", "edits_test"),
        ("conftest.py", "edits_fixture"),
        ("tests/fixtures/a.json", "edits_fixture"),
        ("tests/__snapshots__/a.snap", "edits_snapshot"),
        ("pyproject.toml", "edits_configuration"),
        ("node_modules/a/index.js", "edits_dependency"),
        ("requirements-dev.txt", "edits_dependency"),
        ("src/app/testing.py", ""),
        ("src/latest.py", ""),
    ],
)
def test_which_files_no_change_may_touch(path: str, rule: str) -> None:
    assert protected(path) == rule


HONEST = [
    ("def f(x):\n    return x[0]\n", "def f(x):\n    if not x:\n        return None\n    return x[0]\n"),
    (
        "def f(x):\n    try:\n        return int(x)\n    except KeyError:\n        return g(x)\n",
        "def f(x):\n    try:\n        return int(x)\n    except (KeyError, ValueError):\n        return g(x)\n",
    ),
    ("def f(x):\n    return isinstance(x, int)\n", "def f(x):\n    return isinstance(x, (int, float))\n"),
    ("def f(x):\n    x.sort()\n    return x\n", "def f(x):\n    return x\n"),
    ("def f(self):\n    self.name = 1\n", "def f(self):\n    self.name = 1\n    self.size = 0\n"),
    ("import os\ndef f(x):\n    return os.environ[x]\n", "import os\ndef f(x):\n    return os.environ[x.upper()]\n"),
]


@pytest.mark.parametrize(("old", "new"), HONEST)
def test_a_real_fix_is_no_mask(old: str, new: str) -> None:
    assert broken(Case({"a.py": old.encode()}, {"a.py": new.encode()})) == ()


def test_words_that_are_not_new() -> None:
    old = ast.parse('def f(a):\n    return "to {b} " + str(a)\n')
    assert (
        new_words(old, ast.parse('def f(a, c=None):\n    d = c or a\n    return f"to {d} " + str(len(d))\n'), ()) == ()
    )
    assert new_words(old, ast.parse("def f(a):\n    return a.other(7)\n"), ()) == ("name other", "constant 7")
    assert new_words(old, ast.parse("import re\ndef f(a):\n    return a\n"), ()) == ("import .re", "name re")


def _shape(old: str, new: str) -> str:
    change = change_between({"a.py": old.encode()}, {"a.py": new.encode()})
    assert isinstance(change, Change)
    return shape(change, {"a.py": old.encode()}, {"a.py": new.encode()}, ()).width


def test_width() -> None:
    one = "LIMIT = 1\n\n\ndef f(a):\n    return a > LIMIT\n\n\ndef g(a):\n    return a\n"
    assert _shape(one, one.replace("a > LIMIT", "a >= LIMIT")) == "narrow"
    assert _shape(one, one.replace("LIMIT = 1", "LIMIT = 2").replace("a > LIMIT", "a >= LIMIT")) == "narrow"
    assert _shape(one, one.replace("a > LIMIT", "a >= LIMIT").replace("return a\n", "return -a\n")) == "wide"
    assert _shape(one, one + "".join(f"X{n} = {n}\n" for n in range(21))) == "too_wide"


def test_grades_need_few_exceptions() -> None:
    assert grade((), (), "contained").letter == "A"
    assert grade((), (), "none").letter == "B"
    assert grade(("wider",), ("few_neighbours",), "contained").letter == "B"
    assert grade(("wider", "free_form"), (), "contained").letter == ""
    assert grade((), ("no_place", "few_neighbours"), "contained").letter == ""


def test_pairs_grow_with_every_try() -> None:
    assert [controls.pairs_needed(n) for n in (1, 2, 4, 5, 300)] == [5, 5, 5, 6, 12]
    assert controls.runs_needed(1) == 25


SOURCE = 'def f(a):\n    text = """one\n    two"""\n    if a > 1:\n        return text\n    return ""\n'


@pytest.mark.parametrize("line", [1, 2, 3, 4, 5, 6])
def test_the_inert_edit_changes_bytes_alone(line: int) -> None:
    lines = SOURCE.splitlines(keepends=True)
    change = controls.inert(Change((Edit("a.py", line, line, lines[line - 1], "x\n"),)), {"a.py": SOURCE.encode()})
    assert change is not None
    changed = change.apply({"a.py": SOURCE.encode()})
    assert not isinstance(changed, Refused)
    assert changed["a.py"] != SOURCE.encode()
    assert same_tree(changed["a.py"], SOURCE.encode())


def test_places_are_drawn_by_the_change_and_lie_elsewhere() -> None:
    source = "".join(f"def f{n}(a):\n    if a > {n}:\n        return a\n    return 0\n\n\n" for n in range(6))
    change = Change((Edit("a.py", 2, 2, "    if a > 0:\n", "    if a >= 0:\n"),))
    ran = {"a.py": range(1, 40)}
    chosen = controls.places(change, ran, {"a.py": source.encode()}, ["a.py::f0"])
    assert chosen == controls.places(change, ran, {"a.py": source.encode()}, ["a.py::f0"])
    assert len({function for function, _ in chosen}) == 3
    assert "a.py::f0" not in {function for function, _ in chosen}


TEST = "def test_a():\n    assert f(1) == 2\n    assert g(1)\n"


def test_copies_of_a_test() -> None:
    names = {copy.test for copy in test_copies.turned("t.py::test_a", TEST.encode(), 2, raised=False)}
    assert names == {f"t.py::{test_copies.NEGATED}", f"t.py::{test_copies.ALTERED}"}
    end = test_copies.turned("t.py::test_a[x-1]", TEST.encode(), 2, raised=True)
    assert [copy.test for copy in end] == [f"t.py::{test_copies.NEGATED}[x-1]"]
    assert test_copies.renamed("t.py::Other::test_a", TEST.encode()) is None


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=16, unique=True), st.data())
def test_ddmin_leaves_what_is_needed(items: list[int], data: st.DataObject) -> None:
    needed = set(data.draw(st.lists(st.sampled_from(items), unique=True)))
    kept = ddmin(items, lambda chosen: needed <= set(chosen))
    assert needed <= set(kept)
    assert len(kept) == max(len(needed), 1)


def test_a_record_reads_back_as_it_was() -> None:
    run = Run(
        1,
        "pair",
        "changed",
        3,
        ("t",),
        (),
        (("a.py", "x"),),
        "g",
        "failed",
        (Outcome("t", "failed", (("call", "failed"),)),),
    )
    record = Confirmation(
        "t", "tree", (Edit("a.py", 1, 1, "a\n", "b\n"),), runs=(run,), operands=(("value", 3), ("repr", "[1]"))
    )
    assert from_data(to_data(record)) == record


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"form": "rootproof/confirmation/1"}', b'{"form": "rootproof/confirmation/1", "target": 3}'],
)
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        from_data(data)


def test_intervals() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    least, most = wilson(5, 10)
    assert 0.23 < least < 0.24
    assert 0.76 < most < 0.77


def _pair(number: int, seed: int, variant: str, status: str) -> Run:
    phases = tuple((name, "passed") for name in ("setup", "call", "teardown"))
    given_ = (("TZ", "Asia/Tokyo"),) if variant == "with" else ()
    outcome = Outcome("t", status, phases if status == "passed" else (), "E")
    return Run(number, "pair", variant, seed, ("t",), (), (), "g", status, (outcome,), environment=given_)


def _seen(runs: list[Run], name: str = "TZ", value: str = "Asia/Tokyo") -> Condition:
    return Condition("t", "environment", "tree", level="contained", variable=(name, value), runs=tuple(runs))


def _pairs(statuses: tuple[str, str]) -> list[Run]:
    return [_pair(2 * n + d, n, ("with", "without")[d], statuses[d]) for n in range(5) for d in (0, 1)]


def test_an_environment_is_a_cause_only_if_it_decides_every_pair() -> None:
    runs = _pairs(("failed", "passed"))
    assert judge_condition(_seen(runs), {}).answer == "supported"
    assert judge_condition(_seen(runs[:8]), {}).answer == "inconclusive"
    runs[9] = _pair(9, 4, "without", "failed")
    assert judge_condition(_seen(runs), {}).answer == "refuted"


def test_pairs_that_differ_in_more_than_the_condition_show_nothing() -> None:
    runs = _pairs(("failed", "passed"))
    for changed in (
        replace(runs[3], seed=77),
        replace(runs[3], tests=("t", "u")),
        replace(runs[3], environment=(("LANG", "C"),)),
        replace(runs[3], files=(("a.py", "0"),)),
        replace(runs[3], guards="other"),
        replace(runs[2], cut="time"),
        replace(runs[2], environment=()),
    ):
        altered = [changed if run.number == changed.number else run for run in runs]
        assert judge_condition(_seen(altered), {}).answer != "supported", changed


def test_a_variable_that_only_the_code_reads_may_be_a_switch() -> None:
    for statuses in (("failed", "passed"), ("passed", "failed")):
        runs = [
            replace(run, environment=(("SHORTCUT", "1"),) if run.variant == "with" else ()) for run in _pairs(statuses)
        ]
        assert judge_condition(_seen(runs, "SHORTCUT", "1"), {}).rule == "switch"
        own = b"import os\nWAY = os.environ.get('SHORTCUT')\n"
        named = replace(_seen(runs, "SHORTCUT", "1"), files=(("test_t.py", digest_bytes(own)),))
        assert judge_condition(named, {"test_t.py": own}).answer == "supported"


@pytest.mark.parametrize("name", ["PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONOPTIMIZE", "LD_PRELOAD", "PATH", "A=B", ""])
def test_what_steers_the_runner_is_no_condition(name: str) -> None:
    runs = [replace(r, environment=((name, "1"),) if r.variant == "with" else ()) for r in _pairs(("passed", "failed"))]
    assert judge_condition(_seen(runs, name, "1"), {}).rule == "not_admissible"
