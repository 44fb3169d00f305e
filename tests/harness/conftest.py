"""Each test of the harness has a project, a tracker and a store of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.cli import Cli
from gate.conftest import MEMORY
from gate.conftest import shared as shared
from gate.reference import Store
from gate.test_durability import hindered as hindered
from harness.desk import Desk


@pytest.fixture
def runs() -> Iterator[Path]:
    """A folder in memory where the machine has a place for it, for speed."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> str:
    """The address of a new database where a test asks for one (``every_store``); else nothing: a file."""
    return request.getfixturevalue("server").database() if getattr(request, "param", "sqlite") == "postgres" else ""


@pytest.fixture
def desk(tmp_path: Path, runs: Path, kept: str) -> Desk:
    return Desk(tmp_path, runs, kept)


@pytest.fixture
def store(tmp_path: Path, runs: Path, kept: str) -> Store:
    """The reference case's files, and an empty store."""
    return Store(tmp_path, runs, kept)


@pytest.fixture
def cli(runs: Path, kept: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line over the test's own store."""
    return Cli(kept or runs / "runs.sqlite3", capsys, monkeypatch)
