"""Two red tests of one cause: the second is spared the search, and not one run of its confirmation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from postage import BESIDE, SHOP
from rootproof import assemble, diagnosis
from rootproof.assemble import Options
from rootproof.event import Observed, Started
from small_project import small

RED = """
    from price import label, postage


    def test_free_from_fifty():
        assert label(50) == "50"
        assert postage(50) == 0


    def test_sum_with_postage():
        assert label(50 + postage(50)) == "50"
    """
FILES = {**SHOP, "test_price.py": RED + BESIDE}
TESTS = ("test_price.py::test_free_from_fifty", "test_price.py::test_sum_with_postage")


@pytest.mark.suites
def test_the_second_target_has_its_own_whole_confirmation_and_no_search(tmp_path: Path) -> None:
    root = small(tmp_path / "shop", FILES).root
    store = tmp_path / "runs.sqlite"
    options = Options(store=store, model="detective", interpreter=Path(sys.executable))
    question = diagnosis.Question(root=root, tests=TESTS)
    shop, found = diagnosis.find(question, options, print)
    confirmed = diagnosis.Confirmed()
    ends = [diagnosis.run(case, options, confirmed) for case in diagnosis.cases(question, shop, found, tmp_path / "c")]
    assert [end.status for end in ends] == ["success", "success"]
    opened = assemble.open_store(store, read_only=True)
    first, second = ([stored.event for stored in opened.events(end.run)] for end in ends)
    assert "search_changes" in {event.tool for event in first if isinstance(event, Started)}
    assert {event.tool for event in second if isinstance(event, Started)} == {"read_file", "try_change"}
    (tried,) = (event.fields for event in second if isinstance(event, Observed) and event.tool == "try_change")
    assert tried["target"] == TESTS[1]
    assert tried["pairs"]["needed"] >= 5 and tried["pairs"]["needed"] == tried["pairs"]["passed_changed"]
    assert set(tried["controls"]) >= {"inert", "assertion", "renamed"}
