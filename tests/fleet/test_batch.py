"""``rootproof batch`` as a user meets it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from fleet.monkey import fleet
from fleet.small import Ground, ground, program
from gate.cli import Cli
from rootproof.apps.fleet.batch import bar, exit_status
from rootproof.apps.fleet.job import Terms, as_json, from_json, read_jobs


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(tmp_path / "ground" / "store" / "runs.sqlite3", capsys, monkeypatch)


@pytest.fixture
def made(tmp_path: Path) -> Ground:
    return ground(tmp_path / "ground", 3)


def test_every_faulty_line_is_named_and_nothing_is_run(made: Ground, cli: Cli) -> None:
    lines = [
        '{"contract": "repo0/contract.toml"}',
        "not json",
        '{"contract": "repo0/contract.toml", "contract": "x"}',
        '["a list"]',
        '{"contract": "nowhere.toml"}',
        '{"contract": "repo0/contract.toml", "diagnose": "t"}',
        '{"contract": "repo0/contract.toml", "priority": 101}',
        '{"contract": "repo0/contract.toml", "priority": true, "colour": "red"}',
        '{"contract": "repo0/contract.toml", "model": "command:touch owned"}',
        '{"diagnose": "tests/x.py::y", "repository": "nowhere"}',
        '{"contract": "repo0/contract.toml", "id": "same"}',
        '{"contract": "repo0/contract.toml", "id": "same"}',
    ]
    made.jobs.write_text("\n".join(lines))
    said = cli("batch", made.jobs, "--model", made.model)
    faulty = [f"line {number}:" for number in range(2, 11)]
    said.clear(2, *faulty, "two jobs are called", "was named on the command line".replace("was", "is not one that was"))
    assert "line 1:" not in said.err and "line 11" not in said.err
    assert not cli.store.exists()


@pytest.mark.parametrize(("text", "words"), [("", "has no job"), ("\n\n", "has no job")])
def test_a_file_without_jobs(made: Ground, cli: Cli, text: str, words: str) -> None:
    made.jobs.write_text(text)
    cli("batch", made.jobs).clear(2, words)
    cli("batch", made.folder / "none.jsonl").clear(2, "cannot be read")
    cli("batch", made.jobs, "--model", "human").clear(2, "no person can be asked")
    cli("batch", "status").clear(2, "there is no store at")
    assert not cli.store.exists()


def test_a_queue_that_is_no_server_is_named(made: Ground, cli: Cli) -> None:
    for words in (["batch", made.jobs], ["worker"]):
        cli(*words, "--queue", "runs.sqlite3", "--model", made.model, store=False).clear(
            2, "a queue is a Postgres server"
        )
    cli("batch", made.jobs, "--model", made.model, "--per-provider", "x=0").clear(2, "--per-provider is KIND=N")
    cli("batch", made.jobs, "b").clear(2, "a batch is begun by its file alone")


def test_a_red_test_is_a_job_with_a_contract_that_we_write(made: Ground) -> None:
    place = made.folder / "shop"
    (place / "tests").mkdir(parents=True)
    (place / "pyproject.toml").write_text("[project]\nname = 'shop'\nversion = '1'\n[tool.pytest.ini_options]\n")
    (place / "tests" / "test_it.py").write_text("def test_it():\n    assert 1 == 2\n")
    made.give([{"diagnose": "tests/test_it.py::test_it", "repository": "shop", "priority": 3}])
    (job,) = read_jobs(made.jobs, Terms(("detective",)))
    assert (job.id, job.model, job.priority, job.by, job.root) == ("1", "detective", 3, "proposer", str(place))
    assert (
        job.load().contract.scope.tests == ("tests/test_it.py",) and "tests/test_it.py::test_it" in job.document["goal"]
    )
    assert from_json(as_json(job)) == job


def test_outcomes_come_as_lines_and_the_same_command_tells_the_same_batch(made: Ground, cli: Cli) -> None:
    words = ["batch", made.jobs, "--workers", "1", "--model", made.model, "--store", cli.store, "--json"]
    process = program(*words)
    out, err = process.communicate(timeout=60)
    told = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 7, "whoever wrote the jobs wrote the contracts: no plain success"
    assert "--trust-these-contracts" in err
    assert {each["job"]: each["contract_by"] for each in told} == {f"job-{n}": "proposer" for n in range(3)}
    again = program(*words)
    assert sorted(again.communicate(timeout=60)[0].splitlines()) == sorted(out.splitlines())
    said = cli("batch", "status", "--json")
    assert said.document["counts"] == {"success": 3} and len(said.document["outcomes"]) == 3
    assert "[########################################] 3/3  3 success" in cli("batch", "status").out
    run = told[0]["run"]
    assert "no plain success" in cli("show", run).out


def test_a_batch_that_is_stopped_goes_on_and_one_that_is_cancelled_does_not(tmp_path: Path, cli: Cli) -> None:
    """Ctrl-C gives jobs back; ``batch cancel`` ends them, also those that are running."""
    made = ground(tmp_path / "ground", 6, seconds=0.3)
    with fleet(made, "--store", str(made.store), workers=1) as found:
        found.done(1)
        (worker,) = found.workers
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
        assert found.look(lambda board: board.counts(found.batch)).get("running", 0) == 0, "it gave back what it had"
        found.hire()
        found.done(2)
        found.look(lambda board: board.counts(found.batch).get("running"))
        assert cli("batch", "cancel").code == 0
        assert found.teller.wait(60) == 130
        counts = found.look(lambda board: board.counts(found.batch))
        assert set(counts) == {"success", "cancelled"} and sum(counts.values()) == 6
        assert found.workers[-1].wait(30) == 0, "nothing is left to be done"
    cancelled = [each for each in cli("batch", "status", "--json").document["outcomes"] if "head" in each]
    assert all(each["exit_status"] in (0, 130) for each in cancelled)


def test_the_bar_and_the_exit_status() -> None:
    assert bar({"waiting": 2, "running": 1, "success": 1}, 4) == "[#>..] 1/4  1 running, 1 success, 2 waiting"
    assert bar({}, 4) == "[....] 0/0  "
    assert (exit_status([0, 0]), exit_status([0, 7, 1]), exit_status([0, 70])) == (0, 1, 70)
