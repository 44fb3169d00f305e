"""Each test of the gate has a project and a store of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.cli import Cli
from gate.reference import Store
from gate.spoiled import Place

MEMORY = Path("/dev/shm")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The reference case's files, and an empty store: in memory where the machine has a place for it, for speed."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as runs:
        yield Store(tmp_path, Path(runs))


@pytest.fixture
def cli(store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line over the test's own store."""
    return Cli(store.path, capsys, monkeypatch)


@pytest.fixture
def place(tmp_path: Path, cli: Cli, store: Store) -> Place:
    return Place(tmp_path, cli, store.path)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
