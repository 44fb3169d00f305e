"""The example with a side effect, as the program that a reader starts: each command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tracker import Tracker

from gate.cli import Said, program
from harness import EXAMPLE
from harness.desk import TITLE


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def report(place: Path, *words: str) -> Said:
    command = [sys.executable, str(EXAMPLE / "report_defect.py"), "--store", "runs.sqlite3", *words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, env={**os.environ})
    return Said(done.returncode, done.stdout, done.stderr)


def test_a_ticket_is_opened_once_a_person_agrees(place: Path) -> None:
    waiting = report(place)
    assert (
        waiting.code == 6 and f'"title": "{TITLE}"' in waiting.out and "undone by: the ticket is closed" in waiting.out
    )
    tickets = Tracker(place / "tickets.sqlite3")
    assert tickets.all() == []
    store = place / "runs.sqlite3"
    assert program("approve", "last", "--by", "Ada", "--reason", "they are right", "--store", store).code == 0
    done = report(place, "--resume", "last")
    assert done.code == 0 and 'answer: The discount is "0.01"; ticket 1 asks to mend it.' in done.out
    assert tickets.all() == [(TITLE, "open", 0)]
    assert report(place, "--resume", "last").code == 0 and len(tickets.all()) == 1
    audited = program("audit", "last", "--store", store)
    assert audited.code == 0 and "Ada" in audited.out and "they are right" in audited.out


def test_where_the_run_ends_otherwise_the_ticket_is_closed_again(place: Path) -> None:
    assert report(place, "--steps", "2").code == 6
    store = place / "runs.sqlite3"
    assert program("approve", "last", "--by", "Ada", "--reason", "yes", "--store", store).code == 0
    done = report(place, "--resume", "last")
    assert done.code == 4 and "undo" in done.out and "ticket 1 closed" in done.out
    assert Tracker(place / "tickets.sqlite3").all() == [(TITLE, "closed", 1)]
