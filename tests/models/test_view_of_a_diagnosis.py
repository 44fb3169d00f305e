"""What a model is shown of a diagnosis: what the last step gave comes through, however long the names are."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from rootproof import frame, installed, view
from rootproof.event import Checked, Observed, Replied, Started
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models import command, scripted
from rootproof.models.detective.policy import Detective
from rootproof.models.interface import View
from rootproof.state import State, fold

LONG = "tests/test_syntax/extensions/test_highlighting.py::TestHighlightingOfCode::test_an_empty_block_is_left_alone"
FILES = [f"tests/test_syntax/extensions/test_number_{n}.py" for n in range(60)]


def shown(tool: str, fields: dict[str, Any], excerpt: str, folder: Path, target: str = LONG) -> View:
    """The view after one step of a diagnosis of ``target``."""
    files = [target.split("::")[0], *FILES]
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    contract = installed.load_document(terms(target, "pytest", files, Numbers()), folder, "test").contract
    state = State()
    asked: dict[str, Any] = {"tool": tool, "input": {}, "request": "r"}
    for event in (
        Replied(text="{}"),
        Started(**asked),
        Observed(**asked, digest="d", fields=fields, excerpt=excerpt),
        Checked(tool=tool),
    ):
        state = fold(state, event)
    return view.render(contract, frame.fixed(contract, installed.catalog().values()), state)


def flip(number: int) -> dict[str, Any]:
    text = (
        "                if block[0].text is None:\n                    continue\n                code = Highlighted(\n"
    )
    edits = [{"path": "package/extensions/highlighting.py", "start": number, "end": number, "text": text}]
    function = "package/extensions/highlighting.py::HighlightingTreeprocessor.run"
    return {
        "edits": edits,
        "function": function,
        "operator": "guard",
        "clean": True,
        "kept": 24,
        "broken": 0,
        "note": "n",
    }


def suspects() -> list[dict[str, Any]]:
    row = {"path": "package/extensions/highlighting.py", "function": "HighlightingTreeprocessor.run", "why": "w" * 120}
    return [{**row, "first": n, "last": n + 20, "rank": n} for n in range(12)]


def searched(folder: Path, target: str = LONG) -> View:
    fields = {"tries": 408, "flips": [flip(n) for n in range(12)], "functions": suspects(), "statements": suspects()}
    return shown("search_changes", fields, "words " * 800, folder, target)


@pytest.mark.parametrize("target", [LONG, f"tests/{'deep/' * 30}test_it.py::test_it"])
def test_the_detective_is_shown_the_changes_a_search_found(tmp_path: Path, target: str) -> None:
    asked = json.loads(Detective().propose(searched(tmp_path, target)).text)
    assert asked["tool"] == "trace_test" and asked["input"]["test"] == target
    model = Detective()
    model.propose(searched(tmp_path, target))
    asked = json.loads(model.propose(searched(tmp_path, target)).text)
    assert asked["tool"] == "read_file" and asked["input"]["path"] == "package/extensions/highlighting.py", asked


def test_a_list_that_was_cut_says_how_much_is_missing(tmp_path: Path) -> None:
    last = json.loads(searched(tmp_path).text)["last"]
    for name in ("flips", "functions", "statements"):
        rows = last["result"][name]
        assert rows and all(isinstance(row, dict) for row in rows) and last["not_shown"][name] == 12 - len(rows), name


def test_a_file_that_was_read_comes_through_for_some_dozens_of_lines(tmp_path: Path) -> None:
    lines = "\n".join(f"{n}: " + "x = 1  # a line of a file" for n in range(1, 400))
    seen = shown("read_file", {"path": "a.py", "total_lines": 399}, lines, tmp_path)
    last = json.loads(seen.text)["last"]
    assert len(seen.text) <= view.CEILING and len(last["text"]) >= 3_000


def test_every_key_of_a_view_is_documented(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs/reference/command-models.md"
    table = page.read_text(encoding="utf-8").partition("## What the view says")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == set(json.loads(searched(tmp_path).text))


def test_a_long_list_of_the_fixed_part_counts_what_it_leaves_out(tmp_path: Path) -> None:
    seen = json.loads(searched(tmp_path).text)
    *shown_files, more = seen["tests"]
    assert 0 < len(shown_files) < 20 and more == f"... and {len(FILES) + 1 - len(shown_files)} more"


def test_what_several_tools_have_set_alike_is_told_once(tmp_path: Path) -> None:
    seen = json.loads(searched(tmp_path).text)
    assert seen["settings"] == {"runner": "pytest", "target": LONG}
    assert all("target" not in tool.get("settings", {}) for tool in seen["tools"].values())
    assert seen["tools"]["search_code"]["settings"] == {"mode": "literal"}, "nobody else has it"
    assert "as set" in seen["tools"]["try_change"]["input"]["target"]
    needed = next(text for text in seen["missing"] if text.startswith("reproduced"))
    assert LONG not in needed and "try_change with verdict='supported'" in needed


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_models_among_the_examples_read_this_view(tmp_path: Path) -> None:
    seen = searched(tmp_path)
    notes = tmp_path / "notes.json"
    models = [
        scripted.from_file(EXAMPLES / "login-redirect/diagnose_policy.py"),
        command.from_line(f"{sys.executable} {EXAMPLES / 'models/greedy.py'} {notes}"),
    ]
    asked = [json.loads(model.propose(seen).text) for model in models]
    assert [(each["tool"], each["input"]["test"]) for each in asked] == [("run_test", LONG), ("trace_test", LONG)]
