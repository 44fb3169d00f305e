"""A neighbour whose outcome is chance refutes nothing, and saves nothing: only one that breaks each time does."""

from __future__ import annotations

from pathlib import Path

import pytest

from postage import FILES, tried
from rootproof.experiments.controls import PAIRS_AGAIN
from small_project import small

TOSSED = """
    from pathlib import Path

    from price import postage


    def test_tossed():
        seen = Path(NOTE)
        said = seen.read_text()
        seen.write_text(said + "x")
        assert postage(70) == 0
        assert len(said) not in FAILS
    """
CHANGED, AGAIN_UNCHANGED, LAST = 2, 3, 2 + 2 * PAIRS_AGAIN
"""Which run of the tossed test it is: the trace is 0, then come pairs without and with the change."""


@pytest.mark.parametrize(
    ("fails", "verdict", "rule"),
    [
        pytest.param((), "supported", "confirmed", id="steady", marks=pytest.mark.suites),
        pytest.param(
            (CHANGED,),
            "inconclusive",
            "unsteady_neighbours",
            id="failed with the change once",
            marks=pytest.mark.suites,
        ),
        pytest.param(
            (CHANGED, AGAIN_UNCHANGED),
            "supported",
            "confirmed",
            id="fails without the change too",
            marks=pytest.mark.suites,
        ),
        pytest.param(
            (CHANGED, LAST - 1),
            "supported",
            "confirmed",
            id="fails without the change at last",
            marks=pytest.mark.suites,
        ),
        pytest.param(
            tuple(range(CHANGED, LAST + 1, 2)),
            "refuted",
            "breaks_neighbours",
            id="breaks each time",
            marks=pytest.mark.suites,
        ),
        pytest.param(
            tuple(range(CHANGED, LAST, 2)), "inconclusive", "unsteady_neighbours", id="breaks in all pairs but one"
        ),
    ],
)
def test_a_neighbour_that_is_chance(tmp_path: Path, fails: tuple[int, ...], verdict: str, rule: str) -> None:
    note = tmp_path / "tosses"
    note.write_text("")
    test = TOSSED.replace("NOTE", repr(str(note))).replace("FAILS", repr(fails))
    found, _, still_open = tried(small(tmp_path / "shop", {**FILES, "test_tossed.py": test}))
    assert (found.answer, found.rule) == (verdict, rule), found.reason
    assert still_open == (rule == "unsteady_neighbours"), "it may still be the cause"
