"""A search loses no rival to chance: a neighbour that fails is broken by the change only where it fails each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_project import FILES, PRICE, TARGET, TOTAL, engine_for, lay, line_of

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.controls import PAIRS_AGAIN
from rootproof.experiments.mutants import Flip, Mutant, MutantLimits, mutants_command, read_search
from rootproof.experiments.target.broken import RUNS
from rootproof.experiments.told import flip_row

TOSSED = """

def test_tossed():
    from pathlib import Path

    seen = Path(NOTE)
    said = seen.read_text()
    seen.write_text(said + "x")
    assert filled(10, 2).total() == 25
    assert len(said) not in FAILS
"""
NEAR = "tests/test_price.py::test_tossed"
CHANGED = 2
"""Which run of the tossed test is the first with the change: the trace is 0, the engine's own baseline is 1."""
UNCHANGED = range(CHANGED + 1, CHANGED + 1 + RUNS)
AGAIN = range(UNCHANGED.stop, UNCHANGED.stop + RUNS - 1)


def flipped(root: Path, note: Path, fails: tuple[int, ...], at_import: bool = False) -> tuple[Flip, bool]:
    """What the search tells of the right change, and whether the row of it leaves the change open."""
    note.write_text("")
    tests = FILES["tests/test_price.py"] + TOSSED.replace("NOTE", repr(str(note))).replace("FAILS", repr(fails))
    engine = engine_for(lay(root, {**FILES, "tests/test_price.py": tests}))
    study = engine.study(TARGET, 60)
    number = line_of(root, "amount > self")
    old = (root / PRICE).read_text("utf-8").splitlines(keepends=True)[number - 1]
    right = Change((Edit(PRICE, number, number, old, old.replace("amount > self", "amount >= self")),))
    mutants = [Mutant(right, TOTAL, (NEAR,), at_import=at_import)]
    scratch = root.parent / "scratch"
    scratch.mkdir()
    limits = MutantLimits(seconds=60, cpu_seconds=60)
    command = mutants_command(engine.subject(TARGET), study.trace, mutants, engine.sources, scratch, limits)
    (flip,) = read_search(engine.sandbox.run(command), mutants).flips
    return flip, bool(flip_row(flip, engine.sources).get("unfinished"))


def test_a_search_asks_as_much_as_a_confirmation() -> None:
    assert RUNS == PAIRS_AGAIN + 1


@pytest.mark.parametrize(
    ("fails", "broken"),
    [
        pytest.param((CHANGED, *AGAIN), True, id="fails each time with the change, never without"),
        pytest.param((CHANGED,), False, id="failed once"),
        pytest.param((CHANGED, *AGAIN[:-1]), False, id="passed with the change at last"),
        pytest.param((CHANGED, UNCHANGED[0], *AGAIN), False, id="failed without the change at first"),
        pytest.param((CHANGED, UNCHANGED[-1], *AGAIN), False, id="failed without the change at last"),
    ],
)
def test_what_a_failing_neighbour_says(tmp_path: Path, fails: tuple[int, ...], broken: bool) -> None:
    flip, still_open = flipped(tmp_path / "shop", tmp_path / "tosses", fails)
    assert flip.broken == ((NEAR,) if broken else ())
    assert still_open is not broken
    assert not flip.clean


def test_a_change_that_needs_a_fresh_process_is_doubted_too(tmp_path: Path) -> None:
    flip, still_open = flipped(tmp_path / "shop", tmp_path / "tosses", (CHANGED,), at_import=True)
    assert (flip.how, flip.broken, still_open) == ("import", (), True)
