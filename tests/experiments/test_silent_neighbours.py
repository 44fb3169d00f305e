"""A run of the unchanged neighbours that ended before it told of all of them says nothing of those it left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from postage import FILES, FIXED, tried
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
    tests = FILES["test_price.py"].replace("postage(49)", "postage(40)")
    shop = small(tmp_path / "shop", {**FILES, "test_price.py": tests, "test_tossed.py": tossed})
    found, _, still_open = tried(shop, FIXED.replace(">= 50", ">= 45"))
    assert (found.answer, found.rule) == ("inconclusive", "unsteady_neighbours"), found.reason
    assert still_open
