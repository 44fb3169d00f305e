"""``report.json`` has a published form: what is written keeps to it, and another form is refused by name."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from report import forged
from report.form import SCHEMA, faults
from report.runs import undetermined
from rootproof import verify
from rootproof.errors import UsageError


def test_the_form_is_a_sound_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_run_without_a_conclusion_keeps_to_it(tmp_path: Path) -> None:
    assert not faults(undetermined(tmp_path))


@pytest.mark.parametrize("cause", ["code", "order", "environment", "flaky", ""])
def test_every_kind_of_conclusion_keeps_to_it(cause: str) -> None:
    assert not faults(forged.report("text", cause))


def test_what_is_left_out_added_or_of_another_kind_is_a_fault(tmp_path: Path) -> None:
    report = undetermined(tmp_path)
    for name in ("schema", "derived", "run", "head", "events", "observations"):
        assert faults({key: value for key, value in report.items() if key != name}), name
    more, other = copy.deepcopy(report), copy.deepcopy(report)
    more["derived"]["confidence"] = 0.9
    other["derived"]["facts"] = "many"
    assert faults(more) and faults(other)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("rootproof/report/2", ('form "2"', "this version reads form 1", "a newer version")),
        ("rootproof/report/0", ('form "0"', "another version")),
        ("rootproof/report/\x1b[2J", ("another version",)),
        ("rootproof/outcome/1", ("is no report",)),
        (None, ("is no report",)),
        (7, ("is no report",)),
    ],
)
def test_another_form_is_refused_by_name(schema: object, words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps({"schema": schema}))
    with pytest.raises(UsageError) as refused:
        verify.read(file)
    said = f"{refused.value} {refused.value.remedy}"
    assert all(word in said for word in words) and "\x1b" not in said, said
