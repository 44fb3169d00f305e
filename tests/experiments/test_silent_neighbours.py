"""A run of the unchanged neighbours that ended before it told of all of them says nothing of those it left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_unsteady_neighbours import FILES, TARGET

from rootproof.experiments.cold import Cold, Meter
from rootproof.experiments.confirm import confirm
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.verdict import judge
from small_project import small

ENDS = """
    import os
    from pathlib import Path

    from price import label, postage


    def test_tossed():
        seen = Path(NOTE)
        said = seen.read_text()
        seen.write_text(said + "x")
        assert postage(10) == 5 and label(1) == "1"
        if len(said) in ENDS:
            os._exit(3)


    def test_that_the_wrong_change_breaks():
        # Further from the target by what it runs, so that it comes after the other.
        wanted = 1
        wanted += 1
        wanted += 1
        wanted += 1
        wanted += 1
        assert postage(45) == wanted
    """
UNCHANGED, UNCHANGED_AGAIN = 1, 3


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param((UNCHANGED,), id="not counted", marks=pytest.mark.suites),
        pytest.param((UNCHANGED_AGAIN,), id="not dropped"),
    ],
)
def test_a_wrong_change_is_not_saved_by_a_process_that_ended(tmp_path: Path, ends: tuple[int, ...]) -> None:
    note = tmp_path / "tosses"
    note.write_text("")
    tossed = ENDS.replace("NOTE", repr(str(note))).replace("ENDS", repr(ends))
    shop = small(tmp_path / "shop", {**FILES, "test_tossed.py": tossed})
    wrong = shop.read("price.py").decode().replace("amount > 50", "amount >= 45")
    test = (tmp_path / "shop/test_price.py").read_text().replace("postage(49)", "postage(40)")
    (tmp_path / "shop/test_price.py").write_text(test)
    record, sources = confirm(
        shop.site(), Cold(shop.site(), Meter()), shop.baseline(TARGET), shop.edits({"price.py": wrong}), 1
    )
    found = judge(record, sources)
    assert (found.answer, found.rule) == ("inconclusive", "unsteady_neighbours"), found.reason
    assert is_open(Matter(record, sources), found)
