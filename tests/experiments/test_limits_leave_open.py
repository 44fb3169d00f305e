"""What a limit of the protocol or of containment decides is not held against a change: it may still be the cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from postage import FILES, FIXED, tried
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import is_open
from rootproof.experiments.verdict import judge
from small_project import small

ADDED = 30
"""Lines of the change; with all tries used up to leave some of them out, more are left than a cause may have."""


@pytest.mark.suites
def test_a_limit_ends_no_case(tmp_path: Path) -> None:
    shop = small(tmp_path, FILES)
    line = "            if amount >= 50:\n"
    padding = "".join(f"            not_needed_{number} = amount\n" for number in range(ADDED))
    found, record, still_open = tried(shop, FIXED.replace(line, padding + line))
    sources = shop.sources(record)
    assert (found.answer, found.rule) == ("inconclusive", "too_wide")
    assert still_open, "one line of it is the true change"

    fewer = [run for run in record.runs if run.stage != "reduce"]
    assert not is_open(Matter(replace(record, runs=tuple(fewer)), sources), found), "nothing more could be left out"

    def refused(stage: str) -> tuple[str, ...]:
        return ("connect 192.0.2.1:80",) if stage == "reproduce" else ()

    runs = [
        replace(run, outcomes=tuple(replace(each, blocked=refused(run.stage)) for each in run.outcomes))
        for run in record.runs
    ]
    blocked = replace(record, runs=tuple(runs))
    said = judge(blocked, sources)
    assert said.rule == "possibly_containment"
    assert is_open(Matter(blocked, sources), said)
