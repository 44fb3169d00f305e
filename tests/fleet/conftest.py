"""The fleet's tests share one Postgres, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postgres import Cluster, cluster


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    with cluster() as running:
        yield running
