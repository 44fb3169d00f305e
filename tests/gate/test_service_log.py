"""In a log of a build service, nothing that the command line writes is taken for a command, and JSON stays what it is."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.cli import Cli, program
from gate.reference import Store
from rootproof.apps.cli.streams import Inert, inert
from rootproof.apps.cli.tried import Tried
from rootproof.event import Observed
from rootproof.state import State

ANYWHERE = re.compile(r"##(\[|vso\[|teamcity\[)", re.I)
PARTS = st.lists(st.sampled_from(["::error::", ":", "##[group]", "#", "##VSO[", "[", "\\", '"', "\n", "\t", " ", "a"]))


def obeyed(log: str) -> list[str]:
    """The lines that a build service would obey."""
    return [line for line in log.splitlines() if line.lstrip().startswith("::") or ANYWHERE.search(line)]


@given(PARTS)
def test_no_line_is_obeyed(parts: list[str]) -> None:
    log = io.StringIO()
    print("".join(parts), file=Inert(log))
    assert obeyed(log.getvalue()) == []


@given(PARTS, st.sampled_from([None, 2]))
def test_a_document_has_the_same_values(parts: list[str], indent: int | None) -> None:
    document = {"text": "".join(parts), "".join(parts): 1}
    log = io.StringIO()
    Inert(log).write(json.dumps(document, indent=indent) + "\n")
    assert json.loads(log.getvalue()) == document and obeyed(log.getvalue()) == []


@given(st.text())
def test_plain_text_is_written_as_it_is(text: str) -> None:
    log = io.StringIO()
    Inert(log).write(text)
    assert log.getvalue() == text or obeyed(text)


def test_a_file_whose_name_is_a_command(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error's line begins with the name, as the repository has it."""
    monkeypatch.chdir(tmp_path)
    name = "::error::##[group]x.toml"
    (tmp_path / name).write_text("goal = 1\n")
    said = cli("check", name, store=False)
    assert said.code == 2 and "x.toml: goal" in said.err and obeyed(said.out + said.err) == []
    said = cli("check", name, "--json", store=False)
    assert said.document["faults"][0]["place"].startswith(name) and obeyed(said.out + said.err) == []


def test_the_change_that_was_tried(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of the source stand in it, and those that are not changed begin with a space."""
    outcome = replace(store.play().outcome, status="max_steps")
    diff = "--- a/x.py\n+++ b/x.py\n ::error::told\n-# ##[group]\n+# ##vso[task.complete]\n"
    pairs = {"passed_changed": 2, "failed_unchanged": 2, "needed": 2}
    fields = {"verdict": "inconclusive", "pairs": pairs, "diff": diff, "reason": "::stop-commands::x"}
    tried = Tried()
    tried(State(), Observed(tool="try_change", input={}, request="", digest="", fields=fields))
    told = "\n".join(tried.lines(outcome))
    assert len(obeyed(told)) == 3, "there is something to obey"
    with inert():
        print(told)
    log = capsys.readouterr().out
    assert obeyed(log) == [] and "error::told" in log and "[group]" in log


def test_the_test_that_is_diagnosed(tmp_path: Path) -> None:
    """As a user starts it, in a process of its own: a red test's name stands in what is told from first to last."""
    (tmp_path / "test_x.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('one', [1], ids=['##[group]y'])\n"
        "def test_a(one):\n    assert one == 2, '::error::told ##[error]z'\n"
    )
    words = ("--root", tmp_path, "--max-steps", 1, "--containment", "none", "--trust-this-repository", "--json")
    said = program("diagnose", *words, "--store", tmp_path / "runs.sqlite3", "--python", sys.executable)
    assert said.document[0]["status"] == "max_steps"
    assert "[group]y" in said.err and "[group]y" in said.out and obeyed(said.out + said.err) == []
