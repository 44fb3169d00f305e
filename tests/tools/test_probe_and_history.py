"""`probe` shows values and runs nothing of the project for it; `history` asks git and starts nothing a repository names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_repository import git
from rootproof.assemble import Options, assemble, request_for
from rootproof.case import Case
from rootproof.contract import read_document
from rootproof.experiments.probe import NotProbed, plan_of
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.scripted import Scripted
from rootproof.tools.interface import Declined, Observation

SOURCE = """import pathlib


class Basket:
    kind = "plain"

    def __init__(self, items):
        self.items = items
        self.owner = {"name": "ann", "age": 3}

    @property
    def total(self):
        pathlib.Path("ran").write_text("code of the project ran")
        return sum(self.items)

    def __eq__(self, other):
        pathlib.Path("ran").write_text("code of the project ran")
        return True


def count(basket):
    number = len(basket.items)
    return number + 1
"""
TEST = """from basket import Basket, count


def test_red():
    assert count(Basket([1, 2])) == 2


def test_green():
    assert count(Basket([])) == 1
"""
RED = "test_basket.py::test_red"


def case_of(root: Path) -> Case:
    document = terms(RED, "pytest", ["test_basket.py"], Numbers())
    options = Options(model=Scripted(lambda view: {"type": "final"}), containment="none", trusted=True)
    return assemble(read_document(document), root, options)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "basket.py").write_text(SOURCE)
    (place / "test_basket.py").write_text(TEST)
    (place / "pytest.ini").write_text("[pytest]\n")
    return place


def ask(root: Path, tool: str, **given: Any) -> Observation | Declined:
    case = case_of(root)
    return case.tools[tool].run(request_for(case, tool, given))


def probed(root: Path, *expressions: str) -> dict[tuple[str, str], dict[str, Any]]:
    line = SOURCE.splitlines().index("    return number + 1") + 1
    asked = [{"expression": text} for text in expressions]
    found = ask(
        root, "probe", test=RED, path="basket.py", line=line, expressions=asked, beside="test_basket.py::test_green"
    )
    assert isinstance(found, Observation), found
    rows: Any = found.fields["values"]
    return {(row["status"], row["expression"]): row for row in rows}


def test_values_of_the_failing_and_the_passing_run_stand_side_by_side(root: Path) -> None:
    rows = probed(
        root, "number", "basket.items", "basket.owner['name']", "basket.items[0]", "number == 2", "basket.kind"
    )
    assert rows["failed", "number"]["values"] == ["2"] and rows["passed", "number"]["values"] == ["0"]
    assert rows["failed", "basket.items"]["values"] == ["[1, 2]"]
    assert rows["failed", "basket.owner['name']"]["last"] == "'ann'"
    assert rows["failed", "basket.kind"]["last"] == "'plain'"
    assert rows["failed", "number == 2"]["last"] == "True" and rows["passed", "number == 2"]["last"] == "False"
    assert rows["passed", "basket.items[0]"]["refused"] == "it has 0 items"


def test_a_copy_of_the_file_that_runs_first_hides_nothing(root: Path) -> None:
    (root / "copied.py").write_text(SOURCE)
    both = TEST.replace("def test_red():\n", "def test_red():\n    copied.count(Basket([7]))\n")
    (root / "test_basket.py").write_text("import copied\n" + both)
    rows = probed(root, "number")
    assert rows["failed", "number"]["values"] == ["2"]


def test_nothing_of_the_project_runs_to_look(root: Path) -> None:
    rows = probed(root, "basket.total", "basket == 3", "basket", "basket.count")
    assert "computed" in rows["failed", "basket.total"]["refused"]
    assert "compared" in rows["failed", "basket == 3"]["refused"]
    assert rows["failed", "basket"]["values"] == ["<Basket>"]
    assert rows["failed", "basket.count"]["refused"]
    assert not (root / "ran").exists()


@pytest.mark.parametrize(
    "text",
    ["f()", "a.b()", "a + b", "a[b]", "a[b()]", "[x for x in a]", "lambda: 1", "a if b else c", "3", "'x'", "1 == 1",
     "a < b < c", "a in b", "(yield)", "await a", "f'{a}'", "a := 1", "", "a b", "a[1:2]", "__import__('os')",
     ".".join("abcdefghijk"), "a" * 300],
)  # fmt: skip
def test_what_is_no_path_is_refused_with_a_reason(text: str) -> None:
    plan = plan_of(text)
    assert isinstance(plan, NotProbed) and plan.why


@given(st.text(max_size=60))
def test_any_text_is_a_plan_of_the_four_kinds_or_refused(text: str) -> None:
    plan = plan_of(text)
    if not isinstance(plan, NotProbed):
        words = json.dumps(plan)
        assert "name" in words

        def kinds(part: Any) -> set[str]:
            inner = [each for each in part[1:] if isinstance(each, list)]
            return {part[0]}.union(*(kinds(each) for each in inner))

        assert kinds(plan) <= {"name", "attr", "item", "compare", "const"}


def test_an_expression_that_is_no_path_is_declined(root: Path) -> None:
    found = ask(root, "probe", test=RED, path="basket.py", line=22, expressions=[{"expression": "count(1)"}])
    assert isinstance(found, Declined) and "calls" in found.reason


HOSTILE = """[core]
\tfsmonitor = touch fsmonitor-ran; false
\tpager = touch pager-ran
\thooksPath = hooks
\tsshCommand = touch ssh-ran
[diff]
\texternal = touch external-ran
[diff "evil"]
\ttextconv = touch textconv-ran; cat
\tcommand = touch command-ran
[filter "evil"]
\tclean = touch clean-ran; cat
\tsmudge = touch smudge-ran; cat
\tprocess = touch process-ran
[alias]
\tlog = !touch alias-ran
[include]
\tpath = ../more.config
[log]
\tshowSignature = true
[gpg]
\tprogram = touch gpg-ran
"""


@pytest.fixture
def repository(root: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "basket.py").write_text(SOURCE.replace("number + 1", "number + 2"))
    git(root, "commit", "-q", "-a", "-m", "off by one more \x1b[31m")
    (root / "basket.py").write_text(SOURCE)
    (root / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    (root / ".git" / "config").write_text(HOSTILE)
    (root / "more.config").write_text("[core]\n\tpager = touch included-ran\n")
    hooks = root / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).write_text("#!/bin/sh\ntouch hook-ran\n")
        (hooks / name).chmod(0o755)
    return root


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"what": "log"}, "off by one more"),
        ({"what": "log", "start": 22, "end": 24}, "number + 2"),
        ({"what": "blame", "start": 22, "end": 24}, "number"),
        ({"what": "diff"}, "+    return number + 1"),
        ({"what": "diff", "revision": "HEAD~1"}, ""),
    ],
)
def test_history_of_a_span_and_nothing_that_the_repository_names_runs(
    given: dict[str, Any], wanted: str, repository: Path
) -> None:
    before = sorted(path for path in repository.rglob("*"))
    found = ask(repository, "history", path="basket.py", **given)
    assert isinstance(found, Observation), found
    assert found.fields["problem"] == "", found.fields
    assert wanted in str(found.fields["text"]) and "\x1b" not in str(found.fields)
    assert sorted(path for path in repository.rglob("*")) == before
    assert "ran" not in str(found.fields["text"]).replace('ran")', "")


@pytest.mark.parametrize("revision", ["--output=x", "HEAD@{1}", "main", "HEAD~1:../x", "$(id)"])
def test_what_is_no_revision_is_declined(revision: str, repository: Path) -> None:
    found = ask(repository, "history", what="diff", path="basket.py", revision=revision)
    assert isinstance(found, Declined) and "revision" in found.reason


def test_without_a_repository_it_says_so(root: Path) -> None:
    found = ask(root, "history", what="log", path="basket.py")
    assert isinstance(found, Declined) and "repository" in found.reason
