"""Tests that do not end as tests should, contained: the right status within the limits, and nothing is left alive."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import odd_tests
import pytest
from odd_tests import ENDS, RUNNERS

from ordinary_user import NOBODY_HAS, only_root, said_as
from rootproof.errors import ContainmentUnavailable
from rootproof.runners.interface import Runner
from rootproof.sandbox.choose import strongest
from rootproof.sandbox.interface import Sandbox

HERE = Path(__file__).parent
SYSTEM_PYTHON = Path("/usr/bin/python3")


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


@only_root
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
    for name, ended in said_as(NOBODY_HAS, words).items():
        odd_tests.right(name, ended)
