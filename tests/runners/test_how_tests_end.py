"""Tests that do not end as tests should, contained: the right status within the limits, and nothing is left alive."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import odd_tests
import pytest
from odd_tests import ENDS, RUNNERS

from rootproof.errors import ContainmentUnavailable
from rootproof.runners.interface import Runner
from rootproof.sandbox.choose import strongest
from rootproof.sandbox.interface import Sandbox

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
SYSTEM_PYTHON = Path("/usr/bin/python3")
ORDINARY = 1234
"""An id that nobody has."""


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return strongest("contained")
    except ContainmentUnavailable as refused:
        pytest.skip(f"no containment on this machine: {refused}")


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
@pytest.mark.parametrize("name", ENDS)
def test_the_right_status_within_the_limits(runner: Runner, sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o755)
    odd_tests.right(name, odd_tests.end(sandbox, runner, odd_tests.laid(tmp_path / "project"), name))


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    """An environment with pytest that every user can reach: the system's interpreter, and copies of what pytest is."""
    if not SYSTEM_PYTHON.exists():
        pytest.skip(f"no {SYSTEM_PYTHON}, which every user can reach")
    with tempfile.TemporaryDirectory(prefix="rootproof-everybody-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", place / "venv"], check=True, capture_output=True)
        (site,) = (place / "venv" / "lib").glob("python*/site-packages")
        for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
            for file in metadata.files(name) or ():
                if file.suffix != ".pyc" and ".." not in file.parts:
                    (site / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file.locate(), site / file)
        odd_tests.laid(place / "project")
        yield place


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    ("mechanism", "runner"),
    [
        ("bubblewrap", "pytest"),
        pytest.param("bubblewrap", "unittest", marks=pytest.mark.hostile_full),
        pytest.param("namespaces", "pytest", marks=pytest.mark.hostile_full),
        pytest.param("namespaces", "unittest", marks=pytest.mark.hostile_full),
    ],
)
def test_the_same_for_a_user_whom_the_machine_does_not_know(environment: Path, mechanism: str, runner: str) -> None:
    if mechanism == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    python = environment / "venv" / "bin" / "python"
    words = [python, HERE / "odd_tests.py", mechanism, runner, environment / "project", python]
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        words, env=env, capture_output=True, text=True, timeout=240, cwd="/", check=False,
        user=ORDINARY, group=ORDINARY, extra_groups=[],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for name, ended in json.loads(done.stdout).items():
        odd_tests.right(name, ended)
