"""An ordinary test suite is not broken by containment: it passes contained as it passes bare, for root and for users."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from sandbox_ground import PYTHON, READABLE, SYSTEM_PYTHON, digest, working

from git_repository import git
from ordinary_user import NOBODY_HAS, give, only_root, said_as
from rootproof.sandbox.interface import Command, Limits

HERE = Path(__file__).parent


@pytest.fixture
def suite(tree: Path) -> Path:
    """A repository with the suite and its history."""
    shutil.copy(HERE / "ordinary_suite.py", tree)
    (tree / "fixture.txt").write_text("as committed")
    (tree / "data" / "deep").mkdir(parents=True)
    (tree / "data" / "deep" / "file").write_text("x")
    if shutil.which("git"):
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            git(tree, *words)
    return tree


def test_ordinary_suite_passes_under_every_mechanism(changing, suite):
    before = digest(suite)
    limits = Limits(seconds=120, cpu_seconds=120)
    argv = (PYTHON, "ordinary_suite.py", "-v")
    done = changing.run(Command(argv, suite, suite, readable=READABLE, writable=True, limits=limits))
    assert (done.exit_code, done.limit) == (0, None), done.stdout.text() + done.stderr.text()
    assert "Ran 15 tests" in done.stderr.text()
    assert digest(suite) == before


@only_root
@pytest.mark.skipif(PYTHON != SYSTEM_PYTHON, reason=f"no {SYSTEM_PYTHON}, which every user can reach")
@pytest.mark.parametrize("mechanism", ["bubblewrap", "namespaces"])
def test_ordinary_suite_passes_for_a_user_whom_the_machine_does_not_know(mechanism, suite):
    working(mechanism)
    give(suite, NOBODY_HAS)
    before = digest(suite)
    told = said_as(NOBODY_HAS, [PYTHON, HERE / "as_another.py", mechanism, suite])
    assert (told["exit"], told["limit"], told["level"]) == (0, None, "contained"), told["said"]
    assert "Ran 15 tests" in told["said"]
    assert digest(suite) == before


def test_two_runs_see_the_same_tree(changing, suite):
    """What one run wrote is not there for the next."""
    text = "import os;print(sorted(os.listdir()));open('left','w')"
    readable = (Path(sys.prefix), Path(sys.base_prefix))
    command = Command((sys.executable, "-c", text), suite, suite, readable=readable, writable=True)
    first, second = changing.run(command), changing.run(command)
    assert first.exit_code == 0
    assert first.stdout.sha256 == second.stdout.sha256
