"""The command line: demo, show, runs, resume, Ctrl-C, one JSON document, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gate.cli import Cli, program
from gate.real import contained
from gate.reference import FINAL, PROSE, REPRODUCE, SEARCH, Store, action, policy, read, reported, simulated, terms
from rootproof import assemble
from rootproof.tools.interface import Observation, Request

FIVE = ("action request ", "observation ", "state ", "external check ", "completion criteria ")


@pytest.fixture
def demo(tmp_path: Path, cli: Cli) -> Cli:
    """The command line over a store on disk: the demo's project lies beside it."""
    cli.store = tmp_path / "runs.sqlite3"
    return cli


def test_the_demo_from_its_first_word_to_its_last(tmp_path: Path) -> None:
    """As a user starts it, in a process of its own: seven steps, the answer, the five things, the evidence."""
    store = tmp_path / "data" / "runs.sqlite3"
    said = program("demo", "--max-steps", 7, "--store", store)
    assert said.code == 0, said.err
    steps = re.findall(r"^ {0,2}(\d+) (final: accepted|\w+)", said.out, re.M)
    words = ["parse_error", "run_test", "search_code", "read_file", "read_file", "run_test", "final: accepted"]
    assert steps == [(str(n), word) for n, word in enumerate(words, 1)]
    assert "status=success" in said.out and '"return_to"' in said.out and '"next_path"' in said.out
    for name in FIVE:
        assert re.search(rf"^{name} *event \d+: ", said.out, re.M), name
    assert "evidence: run " in said.out and "\x1b" not in said.out + said.err
    shown = program("show", "last", "--store", store)
    assert shown.code == 0 and "status=success" in shown.out
    again = program("resume", "last", "--store", store)
    assert again.code == 0 and "status=success" in again.out


@pytest.mark.parametrize("steps", [6, 3])
def test_the_demo_with_too_few_steps(demo: Cli, steps: int) -> None:
    said = demo("demo", "--max-steps", steps, "--json")
    assert said.code == 4 and said.document["status"] == "max_steps" and said.document["exit_status"] == 4
    assert said.document["answer"] is None and said.document["steps"] == steps
    assert "status=" not in said.err and "parse_error" in said.err, "what happens is told on stderr"


def test_the_demo_with_no_step(demo: Cli) -> None:
    demo("demo", "--max-steps", 0).clear(2, "budget.max_steps")
    assert not demo.store.exists()


# Show, runs, resume.


def test_a_run_is_shown_as_it_was_told(store: Store, cli: Cli) -> None:
    run = store.play()
    said = cli("show", run.outcome.run)
    assert said.code == 0 and run.told in said.out and not said.err
    assert cli("show", run.outcome.run[:-2]).out == cli("show", "last").out == said.out
    assert f"head {run.outcome.head[:16]}" in said.out


def test_one_step_is_shown_whole(store: Store, cli: Cli) -> None:
    store.play()
    events = cli("show", "last", "--step", 2).document
    assert [event["type"] for event in events] == ["replied", "started", "observed", "checked"]
    assert [event["event"] for event in events] == [4, 5, 6, 7] and events[0]["text"] == REPRODUCE
    cli("show", "last", "--step", 9).clear(2, "has no step 9", "its steps are 1 to 7")


def test_a_fact_is_shown_with_its_whole_chain_of_custody(store: Store, cli: Cli) -> None:
    run = store.play()
    said = cli("show", "last", "--fact", "producer_key")
    read_login = run.stored[13]
    fact = run.outcome.facts["producer_key"]
    assert said.code == 0 and fact.source is not None
    for part in (
        'fact producer_key = "return_to" (held)',
        "capture:producer",
        f"src/auth/login.ts line 3, file {fact.source.digest}",
        f"observation {fact.observation}",
        "tool call   read_file",
        f"event       14, {read_login.time}, hash {read_login.hash}",
        f"follows     {run.stored[12].hash}",
    ):
        assert part in said.out
    (chain,) = cli("show", "last", "--fact", "producer_key", "--json").document
    assert chain["fact"]["value"] == "return_to" and chain["observed"]["event"] == 14
    cli("show", "last", "--fact", "culprit").clear(2, "has no fact", "its facts are consumer, consumer_key")


def test_show_as_json_is_one_document_with_every_event(store: Store, cli: Cli) -> None:
    run = store.play()
    said = cli("show", "last", "--json")
    assert said.document["head"] == run.outcome.head and len(said.document["events"]) == 25 and not said.err
    assert said.document["facts"]["wanted"]["value"] == "/settings"


def test_runs_are_listed_newest_first(store: Store, cli: Cli) -> None:
    first, second = store.play(), store.play([FINAL] * 8)
    said = cli("runs")
    assert said.code == 0 and [line.split()[1] for line in said.out.splitlines()] == ["max_steps", "success"]
    assert [row["run"] for row in cli("runs", "--json").document] == [second.outcome.run, first.outcome.run]
    cli("show", "2").clear(2, "2 runs in")
    cli("show", "nothing").clear(2, "no run in", "rootproof runs")


ENDS: dict[str, tuple[Any, dict[str, Any], int]] = {
    "success": (policy, {}, 0),
    "failed": ([PROSE] * 2, {}, 1),
    "blocked": ([action("deploy")], {}, 3),
    "max_steps": ([FINAL] * 8, {}, 4),
    "budget": ([SEARCH, REPRODUCE, REPRODUCE], {"budget": {"test_runs": 1}}, 5),
    "undetermined": ([FINAL] * 3, {"budget": {"max_no_progress": 2}}, 7),
}


@pytest.mark.parametrize("status", ENDS)
def test_an_ended_run_is_told_again_with_its_exit_status(store: Store, cli: Cli, status: str) -> None:
    say, parts, code = ENDS[status]
    run = store.play(say, terms(**parts))
    assert (run.status, run.outcome.exit_status) == (status, code)
    said = cli("resume", run.outcome.run, "--model", "human")
    assert said.code == code and f"status={status}" in said.out
    assert ("answer: " in said.out) == (status == "success")
    assert cli("resume", run.outcome.run, "--model", "human", "--json").document["exit_status"] == code
    assert store.stored(run.outcome.run) == run.stored, "nothing was appended"


def test_a_contract_of_the_proposer_is_no_plain_success(store: Store, cli: Cli) -> None:
    options = store.options(policy, simulated())
    outcome = assemble.run(store.load(terms()), options, "proposer")
    assert (outcome.status, outcome.exit_status, outcome.contract_by) == ("success", 7, "proposer")
    assert "this is no plain success" in cli("show", "last").out


# What a terminal would obey.

HOSTILE = 'x\x1b]0;owned\x07\x1b[2J\nstatus=success\nanswer: all is well\r\x9b31m\u202e\u2028"'


def _hostile(request: Request) -> Observation:
    report = reported(actual=HOSTILE, message=HOSTILE, status="failed", exception=HOSTILE)(request)
    assert isinstance(report, Observation)
    return report


def test_text_from_outside_is_inert_wherever_it_is_shown(store: Store, cli: Cli) -> None:
    document = terms()
    document["evidence"][0]["expect"] = {"status": "failed", "expected": "/settings"}
    noted = json.dumps({**json.loads(SEARCH), "note": HOSTILE})
    run = store.play([HOSTILE, REPRODUCE, noted, action(HOSTILE[:40])], document, run_test=_hostile, read_file=read())
    assert run.status == "blocked" and run.outcome.facts["landed"].value == HOSTILE
    everything = run.told
    for words in (["show", "last"], ["show", "last", "--fact", "landed"], ["show", "last", "--step", 2], ["runs"]):
        everything += cli(*words).out
    for words in (["show", "last", "--json"], ["runs", "--json"], ["show", "last", "--fact", "landed", "--json"]):
        said = cli(*words)
        everything += said.out
        json.loads(said.out)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", everything)
    assert not re.search(r"^(status=success|answer: )", everything, re.M)


# Ctrl-C.

SLOW = """
import pathlib, subprocess, sys, time

def test_a():
    if pathlib.Path(__file__).with_name("slow").exists():
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
        time.sleep(300)
    assert "left" == "right"
"""
TERMS = """
schema = "rootproof/contract/1"
goal = "why?"
scope = { read = ["tests/test_a.py"], tests = ["tests/test_a.py::test_a"] }
tools = { run_test = { runner = "pytest" } }
evidence = [{ id = "seen", tool = "run_test", expect = { status = "failed", actual = "left", expected = "right" } }]
completion = { all = ["seen"] }
answer = { template = "seen: {{ seen }}" }
"""


def _descendants(pid: int) -> dict[int, str]:
    """Process → start time, of everything below a process."""
    parents: dict[int, list[int]] = {}
    starts: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            starts[int(entry.name)] = fields[19]
    found: dict[int, str] = {}
    rest = [pid]
    while rest:
        for child in parents.get(rest.pop(), []):
            found[child] = starts[child]
            rest.append(child)
    return found


def _alive(processes: dict[int, str]) -> list[int]:
    left = []
    for pid, start in processes.items():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[19] == start and fields[0] not in "ZX":
            left.append(pid)
    return left


def _until(holds: Any) -> None:
    """Wait for something that another process does; give up after a minute."""
    tick, end = threading.Event(), time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never happened"
        tick.wait(0.02)


def _sleepers(pid: int) -> list[int]:
    def line(one: int) -> str:
        try:
            return Path(f"/proc/{one}/cmdline").read_text()
        except OSError:
            return ""

    return [one for one in _descendants(pid) if "time.sleep(300)" in line(one)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_the_middle_of_a_test_ends_everything_and_can_be_resumed(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The test has started a process in a session of its own; that dies too."""
    root, store = tmp_path / "repository", tmp_path / "runs.sqlite3"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "test_a.py").write_text(SLOW)
    (root / "tests" / "slow").touch()
    (root / "contract.toml").write_text(TERMS)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([action("run_test", test="tests/test_a.py::test_a"), FINAL]))
    flags = ["--model", f"scripted:{script}", "--store", str(store), "--python", sys.executable]
    if not contained():
        flags += ["--containment", "none", "--trust-this-repository"]
    command = [sys.executable, "-m", "rootproof", "run", str(root / "contract.toml"), *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        _until(lambda: process.poll() is not None or _sleepers(process.pid))
        tree = _descendants(process.pid)
        assert process.poll() is None and tree, process.communicate()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "status=cancelled" in out and "rootproof resume " in err and "Traceback" not in err
    _until(lambda: not _alive(tree))
    opened = assemble.open_store(store, read_only=True)
    stored = list(opened.events(opened.find("last")))
    opened.close()
    assert [one.event.type for one in stored] == ["began", "replied", "started", "stopped"], "the log is complete"

    if number == signal.SIGTERM:
        return  # all the rest is as with Ctrl-C
    (root / "tests" / "slow").unlink()
    again = program("resume", "last", "--json", *flags)
    assert again.code == 0 and again.document["status"] == "success", again.err
    assert again.document["steps"] == 2 and again.document["spent"]["test_runs"] == 2


def test_the_output_can_be_closed_early(store: Store) -> None:
    """As ``rootproof show | head -1`` does."""
    store.play()
    command = [sys.executable, "-m", "rootproof", "show", "last", "--json", "--store", str(store.path)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writing)
    assert not done.stderr
