"""The hostile suite: nothing that a repository's code does may reach outside, judged from outside."""

from __future__ import annotations

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
    assert len(judge.OWN.names()) == len(set(judge.OWN.names())) >= 52


@pytest.mark.hostile_full
@pytest.mark.parametrize("suite", ["own", "shared"])
@pytest.mark.parametrize("view", ["read-only", "writable"])
@pytest.mark.parametrize("mechanism", sorted(judge.MECHANISMS))
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_every_attempt_is_contained(user: str, mechanism: str, view: str, suite: str) -> None:
    if suite == "shared" and judge.shared_suite() is None:
        pytest.skip("no shared attack repository beside the project")
    if (user == "root") != (os.geteuid() == 0) and os.geteuid() != 0:
        pytest.skip("needs root to run as root")
    if user == "root" and (mechanism, view) == ("bubblewrap", "writable"):
        pytest.skip("bwrap has no writable view for root; namespaces has")
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
    if "ContainmentUnavailable" in done.stderr or "Permission denied" in done.stderr.partition("rootproof")[0]:
        pytest.skip(f"{mechanism} does not work here as {user}: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        yield json.loads(line)
