"""No side effect happens twice in a fleet, whoever is killed or frozen, and whenever.

Judged from outside, by the book of the office that opens the tickets. Workers are struck before the effect, between the
effect and its event, before it for longer than their lease lasts, and after an undoing; besides at random moments.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.monkey import at_work
from fleet.office import KINDS, Desks, OfficeFleet, counted, desks
from fleet.test_chaos import whole
from postgres import Cluster
from rootproof.decisions import Decision, decide
from rootproof.stores import open_store


def decided(found: OfficeFleet) -> None:
    """A person decides about every job, once all wait for one; and the batch goes on."""
    for each in found.told():
        assert each["status"] == "waiting", each
        answer = "refuse" if each["job"].startswith("refused") else "approve"
        decide(each["run"], Decision(answer, "Ada", "as agreed"), found.kept[1])
    found.give_again()
    found.look(lambda board: board.left(found.batch))


def disturb(found: OfficeFleet, made: Desks, kills: int, restart: Callable[[], None] | None) -> None:
    """Kill at random, mourn those who were struck, wake the sleepers, until every job has its outcome."""
    total = len(KINDS) * _each(made)
    for number in range(total + 1):
        while not found.done(number, patient=False):
            found.mourn()
            found.see_to_sleepers(made.office.struck("asleep"))
        if number and number % max(total // (kills + 1), 1) == 0 and found.kills < 2 * kills:
            found.kill()
            if restart is not None and found.kills == kills + 1:
                restart()
    assert len(made.office.struck("asleep")) == _each(made)


def _each(made: Desks) -> int:
    return len(made.jobs.read_text().splitlines()) // len(KINDS)


def chaos(made: Desks, flag: str, kept: str, kills: int, restart: Callable[[], None] | None = None) -> None:
    each = _each(made)
    with at_work(OfficeFleet(made, (flag, kept), each, ends=(0, 4, 6)), 3) as found:
        for _ in range(kills):
            found.kill()
        decided(found)
        for _ in range(3):
            found.hire()
        disturb(found, made, kills, restart)
        told = found.told()
    assert counted(told) == {
        (kind, "max_steps" if kind in ("undone", "refused") else "success"): each for kind in KINDS
    }
    judge(made, each)
    store = open_store(kept, read_only=True)
    for one in told:
        whole(store, one)
    store.close()


def judge(made: Desks, each: int) -> None:
    """What the office knows."""
    titles = [f"{kind} {number}" for kind in KINDS for number in range(each)]
    wanted = {title: ("closed", 1) if title.startswith("undone") else ("open", 0) for title in titles}
    wanted = {title: state for title, state in wanted.items() if not title.startswith("refused")}
    tickets = made.office.all()
    assert {title: (state, changes) for title, state, changes in tickets} == wanted
    assert len(tickets) == len(wanted), "one ticket a job"
    for title, arrived in made.office.arrived().items():
        assert sum(arrived) == 1, title
        if not title.startswith("asleep"):  # one that slept was overtaken, and asked under the same key
            assert arrived == [1], f"{title}: what has happened was asked for again"


def test_six_jobs_on_one_machine(tmp_path: Path) -> None:
    made = desks(tmp_path / "ground", 1)
    chaos(made, "--store", str(made.store), 1)


@pytest.mark.chaos
def test_six_jobs_over_a_server(tmp_path: Path, server: Cluster) -> None:
    made = desks(tmp_path / "ground", 1)
    chaos(made, "--queue", server.database(), 1, server.restart)


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sixty_jobs(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    made = desks(tmp_path / "ground", 10)
    if kind == "sqlite":
        chaos(made, "--store", str(made.store), 8)
    else:
        server: Cluster = request.getfixturevalue("server")
        chaos(made, "--queue", server.database(), 8, server.restart)
