"""Interrupted whatever it is at, a command leaves no process, no copy and a whole ledger; and the run goes on."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cancelled.ground import (
    HANGING_MODEL,
    RED,
    Ground,
    frozen,
    ground,
    heavy,
    interrupted,
    lingering,
    nothing_left,
    reaper,
    stored,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a child subreaper"),
    pytest.mark.contained,
]
INT, TERM = signal.SIGINT, signal.SIGTERM
INSTEAD = "def count(items):\n    return len(items)\n"


@pytest.fixture(autouse=True)
def orphans() -> Iterator[None]:
    with reaper():
        yield


@dataclass(frozen=True)
class At:
    """What a run is at: an action, when its test hangs, and how that is seen."""

    action: dict[str, Any]
    when: str = "always"
    reached: Callable[[set[int]], bool] = lingering
    before: tuple[dict[str, Any], ...] = ()
    lay: Callable[[Ground], None] = lambda made: None
    pause: float = 0.02


RUN = {"tool": "run_test", "input": {"test": RED}}
TRACE = {"tool": "trace_test", "input": {"test": RED}}
LOOK = {"test": RED, "path": "basket.py", "line": 3, "expressions": [{"expression": "number"}]}
EDIT = {"path": "basket.py", "start": 2, "end": 3, "text": "    return len(items)"}
STATES = {
    "a test": At(RUN),
    "a search": At({"tool": "search_code", "input": {"query": "number"}}, reached=frozen("rg"), lay=heavy, pause=0.001),
    "a trace": At(TRACE),
    "a search for changes": At({"tool": "search_changes", "input": {"test": RED}}, "changed", before=(TRACE,)),
    "a change": At({"tool": "try_change", "input": {"edits": [EDIT]}}, "changed"),
    "a probe": At({"tool": "probe", "input": LOOK}),
    "a condition": At({"tool": "try_condition", "input": {"kind": "flaky"}}),
}
MORE = {
    "basket.py": "\n\ndef full(items):\n    return count(items) > 9\n",
    "test_basket.py": """

def test_some():
    assert count([1]) > 0

def test_many():
    assert count(range(20)) > 5

def test_full():
    from basket import full
    assert full(range(20))
    assert not full([])
""",
}
"""What a change of the project must keep."""
ALSO = [("a test", INT), ("a search", TERM)]
"""Cheap enough to be gone on with each time; all the others are so under the marker."""
QUICK = [("a trace", TERM), ("a search for changes", INT), ("a change", TERM), ("a probe", INT), ("a condition", TERM)]
EVERY = [(name, how) for name in STATES for how in (INT, TERM) if (name, how) not in ALSO]


def each(*cases: tuple[str, signal.Signals]) -> list[Any]:
    return [pytest.param(*case, id=f"{case[0]}-{case[1].name}") for case in cases]


def cancelled(made: Ground, said: str) -> list[Any]:
    """The events, with a whole chain, of a run that was cancelled."""
    events = stored(made)
    assert (events[-1].type, events[-1].status) == ("stopped", "cancelled"), said
    nothing_left(made)
    return events


def at(state: At, how: signal.Signals, folder: Path, *, onward: bool) -> None:
    """Interrupt a run at its action; then, ``onward``, let it go on, with nothing that hangs any more."""
    made = ground(folder, len(state.before) + 1)
    made.hang(state.when)
    state.lay(made)
    model = made.model(*state.before, state.action)
    process = made.begin("run", made.contract, "--model", model, "--python", sys.executable)
    said = interrupted(process, how, state.reached, state.pause)
    assert process.returncode == 130, said
    events = cancelled(made, said)
    assert [one.type for one in events][-2] == "started" and events[-2].tool == state.action["tool"]
    if not onward:
        return
    made.hang("")
    code, said = made.finish("resume", "last", "--model", model, "--python", sys.executable)
    assert code == 4, said
    again = stored(made)
    assert [one.type for one in again[: len(events)]] == [one.type for one in events]
    seen = [one for one in again if one.type == "observed" and one.tool == state.action["tool"]]
    assert len(seen) == 1 and not seen[0].cut and again[-1].status == "max_steps"
    nothing_left(made)


@pytest.mark.parametrize(("name", "how"), each(*QUICK))
def test_within_a_tool(name: str, how: signal.Signals, tmp_path: Path) -> None:
    at(STATES[name], how, tmp_path, onward=False)


@pytest.mark.parametrize(("name", "how"), each(*ALSO))
def test_within_a_tool_and_onward(name: str, how: signal.Signals, tmp_path: Path) -> None:
    at(STATES[name], how, tmp_path, onward=True)


@pytest.mark.chaos
@pytest.mark.parametrize(("name", "how"), each(*EVERY))
def test_within_every_tool_and_onward(name: str, how: signal.Signals, tmp_path: Path) -> None:
    at(STATES[name], how, tmp_path, onward=True)


def test_while_the_model_is_asked(tmp_path: Path) -> None:
    made = ground(tmp_path, 1)
    (tmp_path / "hanging.py").write_text(HANGING_MODEL)
    model = f"command:{sys.executable} {tmp_path / 'hanging.py'}"
    process = made.begin("run", made.contract, "--model", model, "--python", sys.executable)
    said = interrupted(process, TERM, lingering)
    assert process.returncode == 130, said
    assert [one.type for one in cancelled(made, said)] == ["began", "stopped"]
    code, said = made.finish("resume", "last", "--model", made.model(RUN), "--python", sys.executable)
    assert code == 4 and [one.tool for one in stored(made) if one.type == "observed"] == ["run_test"], said


def test_while_diagnose_runs_the_suite(tmp_path: Path) -> None:
    """No run has begun: nothing is stored, and the same command begins anew."""
    made = ground(tmp_path, 1)
    made.hang("always")
    words = ["diagnose", "--root", made.root, "--python", sys.executable]
    process = made.begin(*words)
    said = interrupted(process, INT, lingering)
    assert process.returncode == 130 and "Traceback" not in said, said
    nothing_left(made)
    made.hang("")
    code, said = made.finish(*words, "--max-steps", "1")
    assert code == 4 and RED in said, said


def jobs(made: Ground) -> list[object]:
    file = made.folder / "jobs.jsonl"
    file.write_text(json.dumps({"contract": "contract.toml", "id": "one"}) + "\n")
    model = made.model(RUN)
    return ["batch", file, "--model", model, "--trust-these-contracts", "--python", sys.executable]


def test_a_batch_with_its_workers(tmp_path: Path) -> None:
    made = ground(tmp_path, 1)
    made.hang("always")
    words = jobs(made)
    process = made.begin(*words, "--workers", "2")
    said = interrupted(process, INT, lingering)
    assert process.returncode == 130 and "the same command goes on" in said, said
    cancelled(made, said)
    made.hang("")
    code, said = made.finish(*words, "--workers", "1")
    assert code == 4 and [one.type for one in stored(made)].count("observed") == 1, said


@pytest.mark.chaos
def test_a_worker(tmp_path: Path) -> None:
    made = ground(tmp_path, 1)
    made.hang("always")
    words = jobs(made)
    giving = made.begin(*words, "--workers", "0")
    assert giving.stdout is not None and giving.stdout.readline()
    process = made.begin("worker", "--model", made.model(RUN), "--python", sys.executable)
    said = interrupted(process, TERM, lingering)
    assert process.returncode == 0, said
    cancelled(made, said)
    made.hang("")
    worker = made.begin("worker", "--model", made.model(RUN), "--python", sys.executable)
    assert giving.wait(60) == 4
    worker.terminate()
    assert worker.wait(30) == 0


@pytest.mark.chaos
def test_while_a_report_is_checked(tmp_path: Path) -> None:
    """What was accepted stays so, and the same command checks it anew."""
    made = ground(tmp_path, 4)
    for name, more in MORE.items():
        (made.root / name).write_text((made.root / name).read_text() + more)
    read = {"tool": "read_file", "input": {"path": "basket.py", "start": 1, "end": 10}}
    change = {"tool": "try_change", "input": {"edits": [EDIT]}}
    code, said = made.finish("run", made.contract, "--model", made.model(RUN, read, change), "--python", sys.executable)
    assert code == 0, said
    report = made.folder / "report.json"
    code, said = made.finish("report", "last", "--out", report)
    assert code == 0, said
    words = ["verify", report, "--python", sys.executable]
    made.hang("always")
    process = made.begin(*words)
    said = interrupted(process, INT, lingering)
    assert process.returncode == 130 and "Traceback" not in said, said
    nothing_left(made)
    made.hang("")
    code, said = made.finish(*words)
    assert code == 0 and "confirmed" in said, said
