"""Each test of the gate has a project and a store of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.reference import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The reference case's files, and an empty store beside them."""
    return Store(tmp_path)
