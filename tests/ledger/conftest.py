"""One store of each kind, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.places import Place, PostgresPlace, SqlitePlace
from postgres import Cluster, cluster


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return SqlitePlace(tmp_path / "runs.sqlite3")
    return PostgresPlace(request.getfixturevalue("server").database())
