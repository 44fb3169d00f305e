"""The hostile suite: nothing that a repository's code does may reach outside, judged from outside."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import judge
import pytest

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.choose import strongest
from rootproof.sandbox.interface import Sandbox

SOURCES = Path(__file__).parents[2] / "src"
ORDINARY = 1234
"""An id that nobody has."""


@pytest.fixture(scope="module")
def best() -> Sandbox:
    try:
        return strongest("contained")
    except ContainmentUnavailable as refused:
        pytest.skip(f"no containment on this machine: {refused}")


@pytest.fixture(scope="module")
def arena() -> Iterator[judge.Arena]:
    with judge.arena() as place:
        yield place


@pytest.mark.hostile
@pytest.mark.parametrize("name", judge.OWN.names())
def test_attempt_is_contained_at_the_best_level_here(arena: judge.Arena, best: Sandbox, name: str) -> None:
    verdict = arena.judge(best, judge.OWN, name, writable=True)
    assert verdict.bad == [], verdict


def test_suite_covers_every_kind_of_attempt() -> None:
    assert len(judge.OWN.names()) == len(set(judge.OWN.names())) >= 53


def combinations() -> list[tuple[str, str, str, str]]:
    """(user, mechanism, view, suite) that there are here: root only if we are, the shared suite only beside the project."""
    users = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]
    suites = ["own"] + (["shared"] if judge.shared_suite() else [])
    every = itertools.product(users, sorted(judge.MECHANISMS), ["read-only", "writable"], suites)
    return [one for one in every if one[:3] != ("root", "bubblewrap", "writable")]  # bwrap has no such view for root


@pytest.mark.hostile_full
@pytest.mark.parametrize(("user", "mechanism", "view", "suite"), combinations())
def test_every_attempt_is_contained(user: str, mechanism: str, view: str, suite: str) -> None:
    verdicts = list(run_as(user, mechanism, view, suite))
    assert [verdict for verdict in verdicts if verdict["bad"]] == []
    assert len(verdicts) == len((judge.OWN if suite == "own" else judge.shared_suite()).names())


def run_as(user: str, mechanism: str, view: str, suite: str) -> Iterator[dict]:
    """The judge as a program of its own, run by that user with an interpreter it can reach."""
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    switch = (
        {"user": ORDINARY, "group": ORDINARY, "extra_groups": []} if user == "ordinary" and os.geteuid() == 0 else {}
    )
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if "HOSTILE_SUITE" in os.environ:
        env["HOSTILE_SUITE"] = os.environ["HOSTILE_SUITE"]
    words = [python, str(Path(judge.__file__)), mechanism, view, suite]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=600, cwd="/", **switch)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        yield json.loads(line)
