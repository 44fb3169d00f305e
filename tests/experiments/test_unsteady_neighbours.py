"""A neighbour whose outcome is chance refutes nothing, and saves nothing: only one that breaks each time does."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootproof.experiments.cold import Cold, Meter
from rootproof.experiments.confirm import confirm
from rootproof.experiments.controls import PAIRS_AGAIN
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.verdict import judge
from small_project import small

FILES = {
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
    "test_price.py": """
        from price import label, postage


        def test_from_fifty():
            assert label(50) == "50"
            assert postage(50) == 0


        def test_small():
            assert postage(10) == 5


        def test_large():
            assert postage(80) == 0


        def test_nearly():
            assert postage(49) == 5


        def test_none():
            assert label(-1) == "none"
        """,
    "test_tossed.py": """
        from pathlib import Path

        from price import postage


        def test_tossed():
            seen = Path(NOTE)
            said = seen.read_text()
            seen.write_text(said + "x")
            assert postage(70) == 0
            assert len(said) not in FAILS
        """,
}
TARGET = "test_price.py::test_from_fifty"
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
    files = {
        **FILES,
        "test_tossed.py": FILES["test_tossed.py"].replace("NOTE", repr(str(note))).replace("FAILS", repr(fails)),
    }
    shop = small(tmp_path / "shop", files)
    fixed = shop.read("price.py").decode().replace("amount > 50", "amount >= 50")
    record, sources = confirm(
        shop.site(), Cold(shop.site(), Meter()), shop.baseline(TARGET), shop.edits({"price.py": fixed}), 1
    )
    found = judge(record, sources)
    assert (found.answer, found.rule) == (verdict, rule), found.reason
    assert is_open(Matter(record, sources), found) == (rule == "unsteady_neighbours"), "it may still be the cause"
