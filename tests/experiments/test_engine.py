"""The engine on a small project: what runs, who is suspect, which changes flip the test, and that a swap tells the truth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine_project import FILES, PRICE, TARGET, TOTAL, engine_for, lay, line_of

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.engine import Engine, Study
from rootproof.experiments.mutants import Mutant, MutantLimits, Search, mutants_command, read_search

WIDE = MutantLimits(seconds=120, cpu_seconds=120, stop_flips=10**6, stop_functions=10**6)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay(tmp_path_factory.mktemp("shop"), FILES)


@pytest.fixture(scope="module")
def engine(root: Path) -> Engine:
    return engine_for(root)


@pytest.fixture(scope="module")
def study(engine: Engine) -> Study:
    return engine.study(TARGET, 60)


def tried(engine: Engine, study: Study, mutants: list[Mutant], scratch: Path, limits: MutantLimits = WIDE) -> Search:
    command = mutants_command(engine.subject(TARGET), study.trace, mutants, engine.sources, scratch, limits)
    return read_search(engine.sandbox.run(command), mutants)


def edit(root: Path, part: str, new: str) -> Edit:
    number = line_of(root, part)
    old = (root / PRICE).read_text("utf-8").splitlines(keepends=True)[number - 1]
    return Edit(PRICE, number, number, old, old.replace(part, new))


def test_trace_tells_outcome_lines_values_and_operands(root: Path, study: Study) -> None:
    trace = study.trace
    assert (trace.status, trace.problems, trace.dropped) == ("failed", (), 0)
    assert trace.failure is not None
    assert (trace.failure.operator, trace.failure.left, trace.failure.right) == ("==", "55", "50")
    assert {line_of(root, "amount > self"), line_of(root, "amount + 5")} <= trace.lines[PRICE]
    assert line_of(root, "return int(text)") not in trace.lines[PRICE]
    assert line_of(root, "LIMITS") in trace.imported[PRICE]
    assert line_of(root, "LIMITS") not in trace.lines[PRICE]
    returned = {text for kept in trace.story.returns.values() for _, text, _ in kept}
    assert "55" in returned


def test_every_neighbour_has_its_own_lines(root: Path, study: Study) -> None:
    runs = {run.test.split("::")[1]: run for run in study.trace.runs}
    assert {name for name, run in runs.items() if run.status == "passed"} == {
        "test_small",
        "test_large",
        "test_label",
        "test_parse",
    }
    assert line_of(root, "return int(text)") in runs["test_parse"].lines[PRICE]
    assert line_of(root, "amount > self") not in runs["test_parse"].lines[PRICE]
    assert line_of(root, "amount + 5") not in runs["test_large"].lines[PRICE]


def test_a_swallowed_exception_is_seen(root: Path, engine: Engine) -> None:
    told = engine.study("tests/test_price.py::test_parse", 60).trace
    assert told.status == "passed"
    raised = [(one.type, one.line) for one in told.story.raised if one.file == PRICE]
    assert raised == [("ValueError", line_of(root, "return int(text)"))]


def test_suspects_name_the_function_and_say_why(study: Study) -> None:
    first = study.ranking.functions[0]
    assert (first.file, first.function) == (PRICE, "Basket.total")
    assert all(suspect.reason for suspect in (*study.ranking.functions, *study.ranking.statements))
    assert not any(suspect.file.startswith("tests/") for suspect in study.ranking.functions)


def test_data_that_no_test_executes_is_reached_by_its_readers(root: Path, study: Study) -> None:
    lines = {suspect.first for suspect in study.ranking.statements}
    assert line_of(root, "free_from = 50") in lines
    assert line_of(root, "LIMITS") not in lines


def test_data_of_a_class_that_did_not_run_takes_less_from_its_namesake(tmp_path: Path) -> None:
    """Of two classes with the attribute that is read, the one that ran is the likelier owner."""
    crate = "\n\nclass Crate:\n    free_from = 60\n\n    def __init__(self):\n        self.items = []\n"
    idle = FILES | {PRICE: FILES[PRICE] + crate}
    busy = idle | {"tests/test_price.py": FILES["tests/test_price.py"].replace("basket = Basket()", MIXED)}
    alone, shared = (_score_of_data(lay(tmp_path / name, files)) for name, files in (("idle", idle), ("busy", busy)))
    assert alone > shared


MIXED = "basket = (price_module.Crate(), Basket())[1]"


def _score_of_data(root: Path) -> float:
    tests = root / "tests/test_price.py"
    tests.write_text("import shop.price as price_module\n" + tests.read_text("utf-8"), "utf-8")
    found = engine_for(root).study(TARGET, 60).ranking.statements
    return next(each.score for each in found if each.first == line_of(root, "free_from = 50"))


def test_the_search_finds_the_boundary_and_keeps_the_neighbours(root: Path) -> None:
    engine = engine_for(root)
    study, search = engine.search(TARGET, 60, MutantLimits(seconds=60, cpu_seconds=60))
    boundary = [flip for flip in search.clean if flip.change.operator == "comparison"]
    assert [flip.function for flip in boundary] == [TOTAL]
    assert boundary[0].kept == 3
    assert "amount >= self.free_from" in boundary[0].change.edits[0].new
    assert study.ranking.statements[0].first == line_of(root, "amount > self")
    assert "the test passes then" in study.ranking.statements[0].reason


def test_a_second_search_tries_nothing_twice(root: Path) -> None:
    engine = engine_for(root)
    limits = MutantLimits(seconds=60, cpu_seconds=60, stop_flips=1)
    _, first = engine.search(TARGET, 20, limits)
    _, again = engine.search(TARGET, 20, limits)
    assert first.verdicts and again.verdicts
    assert {flip.change.digest for flip in first.flips}.isdisjoint(flip.change.digest for flip in again.flips)


def changes(root: Path) -> Iterator[tuple[str, Change, str]]:
    yield "flip", Change((edit(root, "amount > self", "amount >= self"),)), "passed"
    yield "class attribute", Change((edit(root, "free_from = 50", "free_from = 49"),)), "passed"
    yield "no effect", Change((edit(root, "return int(text)", "return int(text) + 1"),)), "failed"
    yield "other failure", Change((edit(root, "amount = 0", "amount = None"),)), "failed"
    yield "no syntax", Change((edit(root, "amount = 0", "amount = (0"),)), "invalid"
    yield "endless", Change((edit(root, "amount = amount + item", "while True: amount += item"),)), "timeout"
    crash = "__import__('os').kill(__import__('os').getpid(), 11)"
    yield "crash", Change((edit(root, "amount = amount + item", crash),)), "crashed"


def test_verdicts_by_swap_and_by_fresh_process_agree(root: Path, engine: Engine, study: Study, tmp_path: Path) -> None:
    every = list(changes(root))
    swap = [Mutant(change, TOTAL) for _, change, _ in every]
    by_swap = tried(engine, study, swap, tmp_path)
    assert {every[v.mutant][0]: v.status for v in by_swap.verdicts} == {name: status for name, _, status in every}
    fresh_ones = {every[v.mutant][0] for v in by_swap.verdicts if v.how == "import"}
    assert fresh_ones == {"class attribute", "crash"}
    fresh = [
        replace(mutant, at_import=True) for (name, _, _), mutant in zip(every, swap, strict=True) if name != "no syntax"
    ]
    by_import = tried(engine, study, fresh, tmp_path)
    expected = [status for name, _, status in every if name != "no syntax"]
    assert [v.status for v in sorted(by_import.verdicts, key=lambda v: v.mutant)] == expected


def test_a_change_that_ends_only_the_live_process_is_tried_in_a_fresh_one(
    root: Path, engine: Engine, study: Study, tmp_path: Path
) -> None:
    """As where a library's threads do not live on in a forked process; here only that process froze its objects."""
    crash = "__import__('gc').get_freeze_count() and __import__('os').abort()"
    change = Change((edit(root, "amount > self", f"{crash} or amount >= self"),))
    search = tried(engine, study, [Mutant(change, TOTAL)], tmp_path)
    assert [(v.status, v.how) for v in search.verdicts] == [("passed", "import")]


def test_a_flip_that_breaks_a_neighbour_is_not_clean(root: Path, engine: Engine, study: Study, tmp_path: Path) -> None:
    near = ("tests/test_price.py::test_small",)
    broken = Mutant(Change((edit(root, "return amount + 5", "return amount"),)), TOTAL, near)
    (flip,) = tried(engine, study, [broken], tmp_path).flips
    assert (flip.clean, flip.broken) == (False, near)


def test_the_search_stops_after_enough_clean_flips(root: Path, engine: Engine, study: Study, tmp_path: Path) -> None:
    near = ("tests/test_price.py::test_small",)
    flip = Mutant(Change((edit(root, "amount > self", "amount >= self"),)), TOTAL, near)
    search = tried(engine, study, [flip] * 8, tmp_path, replace(WIDE, stop_flips=3))
    assert len(search.flips) == 3


def test_nothing_of_the_project_is_written(root: Path, engine: Engine, study: Study) -> None:
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert found == set(FILES)
    assert {name: (root / name).read_text("utf-8") for name in FILES} == FILES


def test_a_test_that_does_not_exist_is_missing(engine: Engine) -> None:
    assert engine.study("tests/test_price.py::test_nowhere", 30).trace.status == "missing"


def test_no_passing_test_is_needed(tmp_path: Path) -> None:
    lone = FILES | {"tests/test_price.py": FILES["tests/test_price.py"].split("\n\ndef test_small")[0]}
    study = engine_for(lay(tmp_path, lone)).study(TARGET, 60)
    assert study.spectrum.passing == ()
    assert "Basket.total" in [suspect.function for suspect in study.ranking.functions[:3]]


@pytest.mark.skipif(os.cpu_count() is None, reason="needs to know the machine's cores")
def test_side_by_side_children_tell_the_same(root: Path, engine: Engine, study: Study, tmp_path: Path) -> None:
    mutants = [Mutant(change, TOTAL) for name, change, _ in changes(root) if name in ("flip", "no effect")] * 3
    one = tried(engine, study, mutants, tmp_path)
    two = tried(engine, study, mutants, tmp_path, replace(WIDE, jobs=2))
    assert sorted((v.mutant, v.status) for v in one.verdicts) == sorted((v.mutant, v.status) for v in two.verdicts)


ALIKE = {
    "one/__init__.py": "",
    "two/__init__.py": "",
    "one/price.py": "def half(number):\n    return number // 2\n",
    "two/price.py": "def half(number):\n    return number // 2\n",
    "tests/test_price.py": """\
import one.price
import two.price


def test_one():
    assert one.price.half(3) == 2


def test_two():
    assert two.price.half(4) == 2
""",
}


def test_alike_functions_of_two_files_are_not_taken_for_one(tmp_path: Path) -> None:
    trace = engine_for(lay(tmp_path / "alike", ALIKE)).study("tests/test_price.py::test_one", 60).trace
    assert (trace.lines.get("one/price.py"), trace.lines.get("two/price.py")) == ({2}, None)
    (other,) = [run for run in trace.runs if run.test.endswith("test_two")]
    assert (other.lines.get("one/price.py"), other.lines.get("two/price.py")) == (None, {2})
