"""The requests of docs/reference/command-models.md are admissible, and the cheap ones answer what the page shows."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from documented import REQUESTS, SOURCE, TEST, answers, lay

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command-models.md").read_text()


def shown() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """By tool: the message on the page and the answer under it."""
    blocks = [json.loads(text) for text in re.findall(r"```json\n(.*?)\n```", PAGE, re.DOTALL)]
    return {asked["tool"]: (asked, told) for asked, told in zip(blocks[::2], blocks[1::2], strict=True)}


def test_the_page_shows_the_project_and_every_request() -> None:
    assert SOURCE in PAGE and TEST in PAGE
    messages = {tool: asked for tool, (asked, _) in shown().items()}
    assert messages == {t: {"type": "action", "tool": t, "input": given} for t, given in REQUESTS.items()}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(("trace_test", "probe", "history"), id="cheap"),
        pytest.param(("search_changes", "try_change", "try_condition"), id="dear", marks=pytest.mark.suites),
    ],
)
def test_the_answers_are_those_of_the_page(tools: tuple[str, ...], tmp_path: Path) -> None:
    for tool, fields in answers(lay(tmp_path / "shop"), *tools).items():
        told = shown()[tool][1]
        assert {name: fields[name] for name in told if name != "flips"} == {
            n: v for n, v in told.items() if n != "flips"
        }
        assert all(flip in fields["flips"] for flip in told.get("flips", ()))
