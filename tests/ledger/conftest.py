"""One store of each kind, empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.places import Place, PostgresPlace, SqlitePlace


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return SqlitePlace(tmp_path / "runs.sqlite3")
    return PostgresPlace(request.getfixturevalue("server").database())
