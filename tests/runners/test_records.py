"""The private channel read from outside: forged, repeated, late, lost and malformed records are never a pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.runners.interface import Session, TestRequest
from rootproof.runners.outcome import Dialect, session
from rootproof.runners.records import read, visible
from rootproof.sandbox.interface import Capture, Completed

TEST = "a.py::t"
REQUEST = TestRequest((TEST,), nonce="mark")


def phase(name: str, outcome: str = "passed", **more: object) -> dict[str, object]:
    return {"kind": "phase", "id": TEST, "phase": name, "outcome": outcome, "seconds": 0.1, **more}


START: dict[str, object] = {"kind": "start", "versions": {}, "flags": []}
COLLECTED: dict[str, object] = {"kind": "collected", "ids": [TEST]}
BEGIN: dict[str, object] = {"kind": "begin", "id": TEST}
FINISH: dict[str, object] = {"kind": "finish", "exit": 0}
END: dict[str, object] = {"kind": "end", "exit": 0}
PASSED = [START, COLLECTED, BEGIN, phase("setup"), phase("call"), phase("teardown"), FINISH, END]


def encoded(records: Sequence[dict[str, object]], nonce: str = "mark") -> bytes:
    lines = [json.dumps({"nonce": nonce, "seq": place, **record}) for place, record in enumerate(records)]
    return "".join(line + "\n" for line in lines).encode()


def judge(channel: bytes, exit_code: int = 0, dropped: int = 0) -> Session:
    capture = Capture(channel, b"", len(channel) + dropped)
    completed = Completed(exit_code, None, None, Capture(), Capture(), capture, 1.0, 1.0, "none", "bare", Path("/"))
    return session(read(capture, "mark"), REQUEST, completed, Dialect())


def test_the_plain_story_is_a_pass() -> None:
    told = judge(encoded(PASSED))
    assert (told.status, told.finished, told.problem) == ("passed", True, "")


def without(place: int) -> list[dict[str, object]]:
    return [*PASSED[:place], *PASSED[place + 1 :]]


@pytest.mark.parametrize(
    ("records", "status"),
    [
        (without(0), "incomplete"),
        (without(1), "unknown"),
        (without(2), "unknown"),
        (without(3), "unknown"),
        (without(4), "incomplete"),
        (without(5), "incomplete"),
        (without(6), "incomplete"),
        (without(7), "passed"),
        ([*PASSED, END], "unknown"),
        ([*PASSED[:7], phase("call"), END], "unknown"),
        ([*PASSED[:5], phase("call", "failed"), *PASSED[5:]], "unknown"),
        ([*PASSED[:3], BEGIN, *PASSED[3:]], "unknown"),
        ([START, *PASSED], "unknown"),
        ([*PASSED[:7], FINISH, END], "unknown"),
        ([*PASSED[:4], phase("call", "odd"), *PASSED[5:]], "unknown"),
        ([*PASSED[:4], phase("odd"), *PASSED[4:]], "unknown"),
        ([*PASSED[:4], {**phase("call"), "seconds": "1"}, *PASSED[5:]], "unknown"),
        ([*PASSED[:4], phase("call", failure=[]), *PASSED[5:]], "unknown"),
        ([*PASSED[:6], {"kind": "finish", "exit": 1}, END], "unknown"),
        ([*PASSED[:7], {"kind": "end", "exit": 1}], "unknown"),
        ([*PASSED[:4], phase("call", "failed", failure={"exception": "E", "message": "m"}), *PASSED[5:]], "unknown"),
        ([{"kind": "odd"}, *PASSED], "unknown"),
    ],
)  # fmt: skip
def test_every_missing_repeated_late_or_odd_record(records: list[dict[str, object]], status: str) -> None:
    told = judge(encoded(records))
    assert told.status == status, told
    if status == "unknown":
        assert all(result.status == "unknown" for result in told.results)


@pytest.mark.parametrize(
    "channel",
    [
        encoded(PASSED, nonce="other"),
        encoded(PASSED)[:-1] + b"x\n",
        encoded(PASSED).replace(b'"seq": 3', b'"seq": 4'),
        encoded(PASSED) + b"PASSED a.py::t\n",
        encoded(PASSED) + b"\n",
        encoded(PASSED).replace(b'"exit": 0', b'"exit": 0, "exit": 0'),
        encoded(PASSED).replace(b"0.1", b"NaN"),
        encoded(PASSED).replace(b"0.1", b"1e999"),
        encoded(PASSED).replace(b"0.1", b"9" * 400),
        encoded(PASSED).replace(b"passed", b"pa\xffssed"),
    ],
)
def test_forged_and_malformed_lines(channel: bytes) -> None:
    assert judge(channel).status == "unknown"


def test_an_overflowed_channel_is_unknown() -> None:
    assert judge(encoded(PASSED), dropped=1).status == "unknown"


def test_a_last_line_cut_short_says_that_the_writer_died() -> None:
    told = judge(encoded(PASSED[:5])[:-4])
    assert told.status == "incomplete"
    assert told.unreported == (TEST,)


@pytest.mark.parametrize("code", [1, 2, 3, 5, 120])
def test_an_exit_code_that_disagrees(code: int) -> None:
    assert judge(encoded(PASSED), exit_code=code).status == "unknown"
    agreed = [*PASSED[:6], {"kind": "finish", "exit": code}]
    assert judge(encoded(agreed), exit_code=code).status == "unknown"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_pass(channel: bytes) -> None:
    assert judge(channel).status != "passed"


@given(st.data())
def test_no_damage_to_one_byte_turns_a_failure_into_a_pass(data: st.DataObject) -> None:
    failed = [*PASSED[:4], phase("call", "failed"), PASSED[5], {"kind": "finish", "exit": 1}]
    channel = bytearray(encoded(failed))
    channel[data.draw(st.integers(0, len(channel) - 1))] = data.draw(st.integers(0, 255))
    assert judge(bytes(channel), exit_code=1).status != "passed"


@given(st.lists(st.sampled_from(PASSED), max_size=10))
def test_any_shuffle_is_no_pass_unless_whole(records: list[dict[str, object]]) -> None:
    told = judge(encoded(records))
    if told.status == "passed":
        kinds = [record["kind"] for record in records]
        assert kinds.count("phase") == 3 and kinds.count("finish") == 1


@given(st.text())
def test_shown_text_holds_no_control_character(text: str) -> None:
    assert not [c for c in visible(text) if c not in "\n\t" and (ord(c) < 32 or 127 <= ord(c) < 160)]
