"""Workers killed with -9 at random moments, one frozen past its lease and thawed, Postgres restarted twice.

Every job has exactly one outcome, with the facts of the undisturbed one; no ledger is damaged; nothing is done twice
whose result was stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet.monkey import LEASE, Fleet, fleet
from fleet.small import Ground, ground, program
from postgres import Cluster
from rootproof import assemble
from rootproof.outcome import Outcome
from rootproof.stores import open_store

REPOSITORIES = 4


def undisturbed(made: Ground) -> dict[str, Outcome]:
    """The outcome of each repository's job, run alone."""
    found = {}
    for number in range(REPOSITORIES):
        loaded = assemble.load_contract(made.folder / f"repo{number}" / "contract.toml")
        options = assemble.Options(store=made.folder / "alone.sqlite3", model=made.model)
        found[f"repo{number}"] = assemble.run(loaded, options)
    return found


def disturb(found: Fleet, count: int, kills: int, restart: Callable[[], None] | None) -> None:
    """Kills spread over the batch, a freeze, and two restarts of the server, between outcomes, whenever they are."""
    frozen, restarts = False, 0
    for number in range(1, kills + 1):
        found.done(count * number // (kills + 2))
        found.kill()
        if restart is not None and restarts < 2 and number * 3 >= kills * (restarts + 1):
            restart()
            restarts += 1
        if not frozen and number * 2 >= kills:
            found.freeze()
            frozen = True
    assert frozen and (restart is None or restarts == 2)


def prove(made: Ground, told: list[dict[str, Any]], kept: str, count: int) -> None:
    """One outcome a job, the same as undisturbed; every ledger whole."""
    alone = undisturbed(made)
    assert sorted(each["number"] for each in told) == [*range(1, count + 1)]
    assert Counter(each["status"] for each in told) == {"success": count}
    store = open_store(kept, read_only=True)
    assert len(store.runs()) == count, "one run a job, whoever worked on it"
    for each in told:
        same = alone[f"repo{(each['number'] - 1) % REPOSITORIES}"]
        assert each["answer"] == same.answer
        assert each["facts"] == {name: fact.value for name, fact in sorted(same.facts.items())}
        whole(store, each)
    store.close()


def whole(store: Any, told: dict[str, Any]) -> None:
    """A ledger proves itself, ends as was told, was written by one epoch after another, and stored nothing twice."""
    run = told["run"]
    store.check_blobs(run)
    state = assemble.replayed(store, run)
    events = list(store.events(run))
    assert (state.status, store.head(run)) == (told["status"], told["head"])
    epochs = [one.epoch for one in events]
    assert epochs == sorted(epochs)
    accepted = [one for one in events if one.event.type == "final" and one.event.accepted]
    assert len(accepted) == (told["status"] == "success")
    observed = Counter(one.event.request for one in events if one.event.type == "observed" and not one.event.cut)
    assert set(observed.values()) == {1}, "an observation that was stored is not made again"


def chaos(made: Ground, flag: str, kept: str, count: int, kills: int, restart: Callable[[], None] | None) -> Fleet:
    with fleet(made, flag, kept, seed=count) as found:
        disturb(found, count, kills, restart)
        found.kill_teller()
        prove(made, found.told(), kept, count)
        assert found.kills == kills
        return found


def test_twenty_jobs_on_one_machine(tmp_path: Path) -> None:
    made = ground(tmp_path / "ground", 20, REPOSITORIES, seconds=0.15)
    chaos(made, "--store", str(made.store), 20, 2, None)


def test_twenty_jobs_over_a_server(tmp_path: Path, server: Cluster) -> None:
    made = ground(tmp_path / "ground", 20, REPOSITORIES, seconds=0.15)
    chaos(made, "--queue", server.database(), 20, 2, server.restart)


@pytest.mark.chaos
def test_two_hundred_jobs_on_one_machine(tmp_path: Path) -> None:
    made = ground(tmp_path / "ground", 200, REPOSITORIES, seconds=0.1)
    found = chaos(made, "--store", str(made.store), 200, 12, None)
    assert max(found.takeovers) <= LEASE + 5


@pytest.mark.chaos
def test_two_hundred_jobs_over_a_server(tmp_path: Path, server: Cluster) -> None:
    made = ground(tmp_path / "ground", 200, REPOSITORIES, seconds=0.1)
    found = chaos(made, "--queue", server.database(), 200, 12, server.restart)
    assert max(found.takeovers) <= LEASE + 5


def test_two_workers_with_folders_of_their_own_share_a_batch(tmp_path: Path, server: Cluster) -> None:
    """Killing either loses nothing; both did some of it; a batch told again is the same batch."""
    made = ground(tmp_path / "ground", 12, REPOSITORIES, seconds=0.1)
    url = server.database()
    with fleet(made, "--queue", url, workers=2) as found:
        found.done(4)
        found.kill()
        told = found.told()
        assert len(told) == 12
    again = program("batch", "status", "--store", url)
    out, _ = again.communicate(timeout=60)
    assert again.returncode == 0 and "12/12  12 success" in out
