"""Pruning keeps a store within a size or an age, says what it removed, and leaves what could still go on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gate.cli import Cli
from gate.reference import FINAL, Store, policy, read
from gate.test_damage import change
from gate.test_durability import cut
from harness.desk import Desk, every_store
from ledger.places import place_of
from rootproof import assemble
from rootproof.ledger import prune
from rootproof.ledger.prune import Keep


def runs(store: Store) -> list[str]:
    opened = assemble.open_store(store.path, read_only=True)
    try:
        return [row.run for row in reversed(opened.runs())]
    finally:
        opened.close()


def blobs(path: str | Path) -> int:
    return place_of(path).count("blobs")


@every_store
def test_old_runs_go_with_what_only_they_refer_to(store: Store, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    old = store.play(policy).outcome.run
    (store.root / "src/auth/login.ts").write_text((store.root / "src/auth/login.ts").read_text() + "// new\n")
    now = time.time
    monkeypatch.setattr("rootproof.ledger.prune.time.time", lambda: now() + 40 * 86400)
    assert blobs(store.path) == 2
    trial = cli("prune", "--older-than", "30d", "--dry-run")
    assert trial.code == 0 and f"would remove {old}" in trial.out and runs(store) == [old]
    said = cli("prune", "--older-than", "30d")
    assert said.code == 0 and f"removed {old}  success" in said.out and "removed 1 runs" in said.out
    assert runs(store) == [] and blobs(store.path) == 0
    monkeypatch.undo()
    new = store.play(policy).outcome.run
    assert cli("prune", "--older-than", "30d", "--json").document["removed"] == [] and runs(store) == [new]


@every_store
def test_stored_bytes_that_another_run_refers_to_stay(store: Store) -> None:
    first, second = store.play(policy).outcome.run, store.play(policy).outcome.run
    opened = assemble.open_store(store.path)
    with opened.bulk() as bulk:
        used = bulk.used()
    with_one = prune.prune(opened, Keep(bytes=used - 1))
    assert [one.run for one in with_one.removed] == [first] and with_one.after < with_one.before
    opened.close()
    assert blobs(store.path) == 2 and store.state(second).status == "success"
    store.stored(second)  # every stored byte is read against its digest


@every_store
def test_the_oldest_go_until_the_rest_fits(store: Store, cli: Cli) -> None:
    def large(number: int) -> str:
        (store.root / "src/auth/login.ts").write_text(f"session['return_to'] = validatedPath; // {number}\n" * 4000)
        return store.play(policy, read_file=read(content="x")).outcome.run

    names = [large(number) for number in range(4)]
    before = cli("prune", "--max-size", "1TB", "--dry-run", "--json").document
    assert before["removed"] == [] and before["before"] == before["after"]
    said = cli("prune", "--max-size", str(before["before"] // 2), "--json").document
    assert [one["run"] for one in said["removed"]] == names[: len(said["removed"])] and 1 <= len(said["removed"]) < 4
    assert said["after"] <= before["before"] // 2 and runs(store) == names[len(said["removed"]) :]
    if isinstance(store.path, Path):
        assert store.path.stat().st_size < before["before"], "the file is smaller too"


@every_store
def test_a_run_that_could_go_on_stays_unless_it_is_asked_for(desk: Desk, cli: Cli, store: Store) -> None:
    killed = cut(store, 9)
    waiting = desk.run().run
    done = store.play([FINAL]).outcome.run
    said = cli("prune", "--max-size", "0")
    assert f"removed {done}" in said.out and f"left {waiting}  waiting" in said.out and f"left {killed}" in said.out
    assert sorted(runs(store)) == sorted([waiting, killed])
    assert cli("prune", "--max-size", "0", "--unfinished").code == 0 and runs(store) == []


@every_store
def test_an_ended_run_with_something_left_to_undo_stays(desk: Desk, cli: Cli, store: Store) -> None:
    from harness.desk import two

    desk.tool.compensate = lambda key: (_ for _ in ()).throw(OSError("down"))  # type: ignore[method-assign]
    run = desk.run(two, desk.contract(1)).run
    desk.approve()
    assert desk.resume(say=two).status == "max_steps" and desk.state().effects.begun
    assert f"left {run}  max_steps" in cli("prune", "--max-size", "0").out and runs(store) == [run]


@every_store
def test_a_run_in_work_never_goes(store: Store) -> None:
    seen: list[str] = []

    def meddle(state: object, event: object) -> None:
        opened = assemble.open_store(store.path)
        report = prune.prune(opened, Keep(bytes=0, unfinished=True))
        seen.extend(one.status for one in report.stayed)
        assert not report.removed
        opened.close()

    from gate.reference import DOCUMENT, simulated

    assert assemble.run(store.load(DOCUMENT), store.options(policy, simulated(), meddle)).status == "success"
    assert seen and all(status.startswith("in work by ") for status in seen)


@every_store
def test_a_damaged_run_is_left_for_a_person_to_look_at(store: Store, cli: Cli) -> None:
    run = store.play([FINAL]).outcome.run
    other = store.play(policy).outcome.run
    change(store, "UPDATE events SET body = 'x' WHERE run = ? AND seq = 2", run)
    assert f"left {run}  ledger_damaged" in cli("prune", "--max-size", "0").out
    assert runs(store) == [run] and other not in runs(store)
    assert blobs(store.path) == 2, "an event that cannot be read may refer to any of them"
    assert cli("prune", "--max-size", "0", "--unfinished").code == 0 and runs(store) == []


@every_store
@pytest.mark.parametrize(
    "words",
    [[], ["--max-size", "many"], ["--older-than", "30"], ["--older-than", "-1d"], ["--max-size", "1" * 40]],
)
def test_what_cannot_be_meant_removes_nothing(store: Store, cli: Cli, words: list[str]) -> None:
    run = store.play([FINAL]).outcome.run
    assert cli("prune", *words).code == 2 and runs(store) == [run]


@every_store
def test_there_is_nothing_to_prune_where_there_is_no_store(cli: Cli, kept: str) -> None:
    for _ in range(2):  # looking made none
        cli("prune", "--max-size", "0").clear(2, "there is no store at")
    assert kept or not cli.store.exists()
