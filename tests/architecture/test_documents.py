"""What the pages say can be done is done here: marked commands run, links lead somewhere, both languages agree.

A fenced ``console`` block after ``<!-- runs -->`` is executed line by line in an empty home, and what it prints must
be what the page shows, but for digests, times and run names. ``...`` on a line of its own stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from .house import ROOT

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/*/*.md")),
]
RUNS = re.compile(r"<!-- runs(?: (?P<where>[\w./-]+))? -->\n```console\n(?P<body>.*?)\n```", re.S)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#|mailto:)([^)#\s]+)")


@dataclass(frozen=True)
class Block:
    folder: str
    body: str


def blocks(page: Path) -> tuple[Block, ...]:
    return tuple(Block(found["where"] or ".", found["body"]) for found in RUNS.finditer(page.read_text("utf-8")))


def pages_that_run() -> list[Path]:
    """Pages with marked blocks; a page that shows just what an earlier one shows needs no run of its own."""
    first: dict[tuple[Block, ...], Path] = {}
    for page in PAGES:
        if blocks(page):
            first.setdefault(blocks(page), page)
    return list(first.values())


def steps(body: str) -> list[tuple[str, list[str]]]:
    """(command, the lines it prints) of a block."""
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def plain(text: str) -> str:
    """Text without what differs from run to run."""
    text = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", "RUN", text)
    text = re.sub(r"\b[0-9a-f]{12,64}\b", "DIGEST", text)
    text = re.sub(r"\d+(\.\d+)? (CPU )?s\b", "TIME", text)
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("note: "))


def shown_pattern(lines: list[str]) -> re.Pattern[str]:
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(plain(line)) + r"\n" for line in lines]
    return re.compile("".join(parts))


@pytest.mark.contained
@pytest.mark.parametrize("page", pages_that_run(), ids=lambda page: str(page.relative_to(ROOT)))
def test_marked_commands_do_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    """The blocks of a page run in their order and share a home."""
    home = tmp_path / "home"
    home.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "PATH": path, "LANG": "C.UTF-8"}
    for block in blocks(page):
        for command, lines in steps(block.body):
            done = subprocess.run(
                ["bash", "-c", command], cwd=ROOT / block.folder, env=environment, capture_output=True, timeout=120
            )
            printed = (done.stdout + done.stderr).decode("utf-8", "replace")
            said = plain(printed.replace(str(home / "data"), "~/.local/share"))
            assert done.returncode == 0 or "# ends" in command, f"{command}: {done.returncode}\n{said}"
            if lines:
                assert shown_pattern(lines).fullmatch(said + "\n"), f"{command} prints now:\n{printed}"


def test_some_commands_are_marked() -> None:
    assert len(blocks(ROOT / "README.md")) >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not missing


def test_both_readmes_have_the_same_shape() -> None:
    """As many headings of each level, the same commands, the same generated blocks."""
    one, other = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh-CN.md"))
    assert re.findall(r"^(#+) ", _prose(one), re.M) == re.findall(r"^(#+) ", _prose(other), re.M)
    assert re.findall(r"^\$ (\S+ \S+)", one, re.M) == re.findall(r"^\$ (\S+ \S+)", other, re.M)


def _prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.S)


def test_pages_name_no_folder_of_the_author() -> None:
    for page in PAGES:
        found = re.search(r"/work/|/home/\w+/|/Users/|localhost:\d{4}", page.read_text("utf-8"))
        assert not found, f"{page.relative_to(ROOT)}: {found and found.group()}"
