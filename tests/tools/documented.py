"""The small project of docs/reference/command-models.md, the requests the page shows, and what came back."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from git_repository import git
from rootproof.assemble import Options, assemble, request_for
from rootproof.contract import read_document
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.scripted import Scripted
from rootproof.tools.interface import Observation
from small_project import small

SOURCE = """\
def count(basket):
    number = len(basket)
    return number + 1


def is_empty(basket):
    return count(basket) < 1
"""
TEST = """\
from basket import count, is_empty


def test_two():
    assert count(["tea", "jam"]) == 2


def test_text():
    assert isinstance(count([]), int)


def test_kind():
    assert is_empty(["tea"]) is False


def test_full():
    assert not is_empty(["tea", "jam"])
"""
TARGET = "test_basket.py::test_two"
REQUESTS: dict[str, dict[str, Any]] = {
    "trace_test": {"test": TARGET},
    "probe": {"test": TARGET, "path": "basket.py", "line": 3, "expressions": [{"expression": "number"}], "beside": "test_basket.py::test_text"},
    "search_changes": {"test": TARGET, "most": 40},
    "try_change": {"edits": [{"path": "basket.py", "start": 3, "end": 3, "text": "    return number"}]},
    "try_condition": {"kind": "environment", "variable": "TZ", "value": "UTC", "against": "Asia/Tokyo"},
    "history": {"what": "log", "path": "basket.py", "start": 3, "end": 3},
}  # fmt: skip
WHEN = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
    ("NAME", "Ann"), ("EMAIL", "ann@example.invalid"), ("DATE", "2025-03-01T12:00:00+00:00")
)}  # fmt: skip


def lay(root: Path) -> Path:
    """The project, with two commits whose names never change."""
    small(
        root, {"pytest.ini": "[pytest]\n", "test_basket.py": TEST, "basket.py": SOURCE.replace("number + 1", "number")}
    )
    environment = {**os.environ, **WHEN, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "count what is in a basket"]):
        git(root, *words, env=environment)
    (root / "basket.py").write_text(SOURCE)
    git(root, "commit", "-qam", "count the basket itself too", env=environment)
    return root


def answers(root: Path, *tools: str) -> dict[str, dict[str, Any]]:
    """What each tool really reports."""
    options = Options(model=Scripted([]), containment="none", trusted=True, interpreter=Path(sys.executable))
    case = assemble(read_document(terms(TARGET, "pytest", ["test_basket.py"], Numbers())), root, options)
    found = {}
    for tool in tools:
        seen = case.tools[tool].run(request_for(case, tool, REQUESTS[tool]))
        assert isinstance(seen, Observation), seen
        found[tool] = json.loads(json.dumps(dict(seen.fields)))
    return found
