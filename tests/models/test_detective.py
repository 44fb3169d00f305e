"""The detective's stages, driven by views as it would be shown them."""

from __future__ import annotations

import json
from typing import Any

from rootproof.models.detective.leads import lead
from rootproof.models.detective.memory import Memory
from rootproof.models.detective.policy import Detective
from rootproof.models.interface import View

TARGET = "tests/test_a.py::test_x"
TOOLS = {name: {"settings": {"target": TARGET}} for name in ("trace_test", "search_changes", "try_change", "read_file")}


def edit(line: int, text: str = "new\n", path: str = "a.py") -> dict[str, Any]:
    return {"path": path, "start": line, "end": line, "text": text}


def flip(line: int, function: str = "a.py::f", clean: bool = True) -> dict[str, Any]:
    return {"edits": [edit(line)], "function": function, "clean": clean, "note": "a note", "kept": 3}


class Talk:
    """One conversation with a detective."""

    def __init__(self) -> None:
        self.model = Detective()

    def __call__(self, last: dict[str, Any] | None = None, missing: tuple[str, ...] = ("read — x",)) -> dict[str, Any]:
        view = {"tools": TOOLS, "missing": list(missing), "last": last, "facts": {}}
        found: dict[str, Any] = json.loads(self.model.propose(View(json.dumps(view), 0)).text)
        return found


def searched(*flips: dict[str, Any], tries: int = 40) -> dict[str, Any]:
    return {"tool": "search_changes", "result": {"flips": list(flips), "tries": tries}}


def judged(verdict: str, line: int, rule: str = "neighbours_broken") -> dict[str, Any]:
    spans = [{"path": "a.py", "first": line, "last": line, "function": "f"}]
    return {"tool": "try_change", "result": {"verdict": verdict, "rule": rule, "spans": spans}}


def test_it_traces_then_searches_then_reads_round_the_change_then_tries_it() -> None:
    talk = Talk()
    assert talk()["tool"] == "trace_test"
    assert talk({"tool": "trace_test", "result": {"status": "failed", "functions": []}})["tool"] == "search_changes"
    read = talk(searched(flip(374)))
    assert read["tool"] == "read_file" and read["input"]["start"] <= 373 and read["input"]["end"] >= 375
    tried = talk()
    assert tried["tool"] == "try_change" and tried["input"]["edits"] == [edit(374)]
    assert tried["input"]["target"] == TARGET


def test_a_change_that_did_not_hold_is_followed_by_the_next_and_then_by_a_wider_search() -> None:
    talk = Talk()
    talk()
    talk()
    talk(searched(flip(3), flip(5)))
    assert talk()["input"]["edits"] == [edit(3)]
    assert talk(judged("refuted", 3))["input"]["edits"] == [edit(5)]
    wider = talk(judged("refuted", 5))
    assert wider["tool"] == "search_changes" and wider["input"]["most"] > 300


def test_what_breaks_a_neighbour_is_not_tried() -> None:
    talk = Talk()
    talk()
    talk()
    assert talk(searched(flip(3, clean=False)))["tool"] == "search_changes"


def test_a_supported_change_whose_other_side_was_not_read_is_asked_for_once_more() -> None:
    talk = Talk()
    talk()
    talk()
    talk(searched(flip(3)))
    talk()
    spans = [{"path": "b.py", "first": 90, "last": 90, "function": "g"}]
    supported = {"tool": "try_change", "result": {"verdict": "supported", "rule": "confirmed", "spans": spans}}
    read = talk(supported)
    assert read["tool"] == "read_file" and read["input"]["path"] == "b.py"
    assert talk()["tool"] == "try_change"
    assert talk(supported)["tool"] != "try_change", "not for ever"


def test_it_asks_to_stop_when_nothing_is_missing() -> None:
    assert Talk()(missing=())["type"] == "final"


def leading(**trace: Any) -> str:
    memory = Memory()
    memory.trace = {"status": "failed", "functions": [{}], "frames": [["src/a.py", 3, "f"]], **trace}
    return lead(memory)


def test_leads_say_where_to_look() -> None:
    own = [["tests/test_a.py", 3, "test_x"]]
    assert "fixture" in leading(phase="setup", frames=own, exception="KeyError", message="'a'")
    missing = leading(phase="call", frames=own, exception="AttributeError", message="module 'a' has no attribute 'b'")
    assert "not there" in missing and "has no attribute 'b'" in missing
    assert "passed when it was traced" in leading(status="passed")
    assert "runs none" in leading(functions=[])
    assert "nothing could be tried" in leading()


def test_leads_after_a_search() -> None:
    memory = Memory()
    memory.trace = {"status": "failed", "functions": [{}], "frames": [["src/a.py", 3, "f"]]}
    memory.tries = 40
    assert "none of 40" in lead(memory)
    memory.flips = [flip(3, clean=False)]
    assert "breaks a passing test" in lead(memory)
    memory.flips = [flip(3)]
    memory.verdicts = [("f", "neighbours_broken")]
    assert "neighbours_broken" in lead(memory)
