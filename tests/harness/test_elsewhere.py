"""Resumed on another machine, by another version, under something else: each has an outcome, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.cli import Cli
from gate.reference import DOCUMENT, FINAL, REGRESSION, Store, policy, simulated
from gate.spoiled import nobody
from gate.test_damage import change, rows
from gate.test_durability import Hindered, cut
from harness.desk import TITLE, Desk, propose
from rootproof import assemble, canonical
from rootproof.contract_file import Loaded
from rootproof.difference import MOST, differences
from rootproof.errors import ResumeRefused, StoreBusy, StoreFull, UsageError
from rootproof.ledger import chain
from rootproof.models.scripted import Scripted

TOML = f"""
schema = "rootproof/contract/1"
goal = "Find out why."
[scope]
read = ["src/auth/login.ts"]
tests = ["{REGRESSION}"]
[budget]
max_steps = 3
[tools.run_test]
runner = "vitest"
[[evidence]]
id = "reproduced"
tool = "run_test"
expect = {{ status = "failed" }}
[completion]
all = ["reproduced"]
"""


def moved(store: Store, folder: Path) -> tuple[Path, Path]:
    """Store and repository at other places, and nothing where they were."""
    file = folder / "store" / store.path.name
    shutil.copytree(store.path.parent, file.parent)
    root = Path(shutil.copytree(store.root, folder / "repository"))
    shutil.rmtree(store.root)
    for one in store.path.parent.iterdir():
        one.unlink()
    return file, root


@pytest.mark.parametrize("seq", [1, 5, 9, 17])
def test_a_run_goes_on_on_another_machine(store: Store, tmp_path: Path, seq: int) -> None:
    run = cut(store, seq)
    file, root = moved(store, tmp_path / "other")
    options = assemble.Options(store=file, model=Scripted(policy), tools=simulated())
    with pytest.raises(UsageError, match="the repository is not at"):
        assemble.resume(run, options)
    ended = assemble.resume(run, replace(options, root=root))
    assert ended.status == "success" and ended.steps == 7 and ended.answer is not None


def test_another_machine_waits_for_the_lease_of_one_that_may_still_live(store: Store) -> None:
    """Nobody here can see whether a process of another machine lives; so its lease decides."""
    run = cut(store, 9)
    change(store, "UPDATE runs SET owner = 'elsewhere pid 1 since 7', until = ?", time.time() + 1000)
    with pytest.raises(StoreBusy, match="elsewhere pid 1"):
        store.resume(run)
    assert len(store.stored(run)) == 9
    change(store, "UPDATE runs SET until = ?", time.time() - 1)
    assert store.resume(run).status == "success"


def test_the_repository_is_another_one_there(store: Store, tmp_path: Path) -> None:
    """The store came along, but with it a tree of another state: no fact of before stands."""
    run = cut(store, 15)
    file, root = moved(store, tmp_path / "other")
    (root / "src/auth/login.ts").write_text("session['return_to'] = validatedPath // another\n")
    options = assemble.Options(store=file, model=Scripted(lambda view: FINAL), tools=simulated(), root=root)
    ended = assemble.resume(run, options)
    assert ended.status == "max_steps" and "producer_key" not in ended.facts


def older(store: Store, run: str) -> None:
    """The run as a version would have written it that knew nothing of approvals, masking and contract files."""
    found, _ = rows(store, run)
    prior = chain.genesis(run)
    for row in found:
        body = json.loads(row.body)
        if row.seq == 1:
            del body["contract"]["policy"]["approval_seconds"]
            body.pop("masking", None)
            body["contract_digest"] = canonical.digest(body["contract"])
        data = canonical.to_bytes(body)
        prior = chain.link(prior, row.seq, row.epoch, row.time, data)
        change(store, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", data, prior, row.seq)
    change(store, "UPDATE runs SET head_hash = ?", prior)


@pytest.mark.parametrize("seq", [1, 9, 25])
def test_a_store_of_an_older_version_is_shown_audited_and_gone_on_with(store: Store, cli: Cli, seq: int) -> None:
    run = cut(store, seq) if seq < 25 else store.play().outcome.run
    older(store, run)
    assert cli("show", run).code == 0 and cli("audit", run).code == 0 and cli("runs").code == 0
    ended = store.resume(run)
    assert ended.status == "success" and ended.outcome.steps == 7
    assert ended.outcome.contract_digest == ended.state.began.contract_digest  # type: ignore[union-attr]


@pytest.mark.parametrize("value", ["x", "", "-1", "1e3", "9" * 40])
def test_a_store_whose_version_is_no_number_is_damaged(store: Store, cli: Cli, value: str) -> None:
    run = store.play([FINAL]).outcome.run
    change(store, "UPDATE meta SET value = ? WHERE key = 'schema'", value)
    cli("show", run).clear(1, "names no schema")
    cli("resume", run).clear(1, "names no schema")


# Under a contract that has changed.


def started(store: Store) -> tuple[Loaded, str]:
    """A run from a file, cancelled after its first step."""
    file = store.root / "contract.toml"
    file.write_text(TOML)

    def interrupt(state: object, event: object) -> None:
        if event.type == "replied":  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    loaded = assemble.load_contract(file)
    return loaded, assemble.run(loaded, store.options([FINAL] * 9, simulated(), interrupt)).run


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("max_steps = 3", "max_steps = 300", "budget.max_steps: 3 then, 300 now"),
        ('status = "failed"', 'status = "passed"', 'evidence[0].expect.status: "failed" then, "passed" now'),
        ("[budget]", "nonsense = [\n[budget]", "does not load any more"),
        ('runner = "vitest"', 'runner = "pytest"', 'tools.run_test.runner: "vitest" then, "pytest" now'),
    ],
)
def test_resume_under_a_changed_contract_is_refused_with_the_difference(
    store: Store, cli: Cli, old: str, new: str, words: str
) -> None:
    loaded, run = started(store)
    assert loaded.file is not None
    loaded.file.write_text(TOML.replace(old, new))
    with pytest.raises(ResumeRefused) as raised:
        store.resume(run, [FINAL] * 9)
    assert words in str(raised.value) and raised.value.exit_status == 2
    assert cli("show", run).code == 0 and cli("audit", run).code == 0
    loaded.file.write_text(TOML + "\n# a comment changes nothing\n")
    assert store.resume(run, [FINAL] * 9).status == "max_steps"


def test_a_contract_that_is_not_here_is_the_one_that_the_run_carries(store: Store) -> None:
    loaded, run = started(store)
    assert loaded.file is not None
    loaded.file.unlink()
    assert store.resume(run, [FINAL] * 9).status == "max_steps"


def test_differences_are_named_by_place_and_bounded() -> None:
    assert differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}], "c": 1}) == [
        "a[1].b: 2 then, 3 now",
        "c: nothing then, 1 now",
    ]
    assert differences({"a": 1}, {"a": True}) == ["a: 1 then, True now"] and differences({"a": [1]}, {"a": [1]}) == []
    many = differences({str(n): n for n in range(100)}, {})
    assert len(many) == MOST + 1 and many[-1] == f"and {100 - MOST} more places"


# Decisions and side effects, where the store or another process is in the way.


def test_two_processes_that_resume_an_approved_run_open_one_ticket(desk: Desk) -> None:
    run = desk.run().run
    desk.approve()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = desk.resume(run).exit_status
            except StoreBusy:
                code = 8
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes.count(0) >= 1 and set(codes) <= {0, 8}
    assert desk.tracker.all() == [(TITLE, "open", 0)] and desk.types(run).count("observed") == 2


def test_a_decision_that_cannot_be_stored_is_no_decision(
    desk: Desk, cli: Cli, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    run = desk.run().run
    monkeypatch.setattr("rootproof.ledger.sqlite.BUSY_SECONDS", 0.05)
    lock = sqlite3.connect(desk.path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    cli("approve", run, "--by", "A", "--reason", "b").clear(8, "is locked by another process")
    lock.close()
    for one in desk.path.parent.iterdir():
        shutil.copy(one, shared)
    for place in (*shared.iterdir(), shared):
        place.chmod(0o555 if place.is_dir() else 0o444)
    cli.store = shared / desk.path.name
    with nobody():
        cli("approve", run, "--by", "A", "--reason", "b").clear(8, "writable")
    assert desk.types(run)[-1] == "approval_requested"
    assert desk.approve(run).status == "waiting" and desk.resume(run, propose).status == "success"


@pytest.mark.parametrize(("seq", "tickets"), [(7, 0), (10, 0), (11, 1)])
def test_a_full_store_loses_no_effect_and_repeats_none(
    desk: Desk, hindered: type[Hindered], seq: int, tickets: int
) -> None:
    """Full when approval is asked for, when the effect is to begin, and when it has happened."""

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")

    def say(view: dict[str, Any]) -> Any:
        said = propose(view)
        return {**said, "input": {**said["input"], "body": "x" * 4000}} if "title" in said.get("input", {}) else said

    hindered.seq, hindered.hinder = seq, staticmethod(fill)  # type: ignore[assignment]
    with pytest.raises(StoreFull):
        desk.run(say)
        desk.approve()
        desk.resume(say=say)
    hindered.seq = 0
    assert len(desk.stored()) == seq - 1 and len(desk.tracker.all()) == tickets
    assert desk.to_the_end(say).status == "success" and desk.tracker.all() == [(TITLE, "open", 0)]
    assert desk.tool.entered == 1


def test_the_reference_document_has_a_default_for_what_older_ones_lack(store: Store) -> None:
    assert store.load(DOCUMENT).contract.policy.approval_seconds == 86_400
