"""Messages that broke other systems, in this project's message shape: refused, located, counted, never executed."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rootproof import protocol, strict_json
from rootproof.models.interface import Reply

from .stage import FINAL, READ, Stage, kinds

ACTION = '{"type": "action", "tool": "read_file", "input": {"path": "src/app.py"%s}}'
NO_SHOUT = "Z" * 201


@dataclass(frozen=True)
class Bad:
    id: str
    text: str
    code: str
    line: int = 0
    column: int = 0
    says: str = ""
    finish: str = "stop"


GLUED = '{"type": "action", "tool": "read_file", "input": {"path": "src/app.py"}}'
CASES = [
    Bad("MO-01 fenced", f"```json\n{GLUED}\n```", "not_json", 1, 1, "one bare JSON object; found '```json"),
    Bad("MO-03 two objects", GLUED + FINAL, "trailing_data", 1, len(GLUED) + 1, "nothing after the first JSON object"),
    Bad("MO-04 own observation", f"{GLUED}\nObservation: 1 failed\n{FINAL}", "trailing_data", 2, 1, "Observation"),
    Bad("MO-05 single quotes", "{'type': 'final'}", "not_json", 1, 2, "double quotes"),
    Bad("MO-07 NaN", ACTION % ', "start": NaN', "nonfinite_number", 1, 82, "a finite number"),
    Bad("MO-07 Infinity", ACTION % ', "start": -Infinity', "nonfinite_number", 1, 82, "$.input.start"),
    Bad("MO-07 overflow", ACTION % ', "start": 1e999', "nonfinite_number", 1, 82, "$.input.start"),
    Bad("MO-09 long number", ACTION % (', "start": ' + "9" * 5000), "number_too_large", 1, 82, "18 digits"),
    Bad("MO-10 repeated key", ACTION % ', "path": ".env"', "duplicate_key", 1, 73, "the key 'path' only once"),
    Bad("MO-10 repeated on top", '{"type": "final", "type": "action"}', "duplicate_key", 1, 19, "$.type"),
    Bad(
        "MO-11 input in a string",
        '{"type": "action", "tool": "read_file", "input": "{}"}',
        "wrong_type",
        says="$.input",
    ),
    Bad("MO-12 curly quotes", "{\u201ctype\u201d: \u201cfinal\u201d}", "not_json", 1, 2, "U+201C"),
    Bad("MO-14 half a pair", ACTION % ', "note": "icon \\ud83d"', "lone_surrogate", 1, 87, "$.input.note"),
    Bad("MO-14 raw half a pair", ACTION % ', "note": "icon \ud83d"', "lone_surrogate", 1, 87, "$.input.note"),
    Bad("MO-19 empty", "", "empty", says="the message is empty"),
    Bad("MO-19 blank", " \n\t ", "empty", says="the message is empty"),
    Bad("MO-20 refusal", "I cannot help with inspecting that file.", "refusal", finish="refusal"),
    Bad("MO-20 refusal with an action", READ, "refusal", finish="refusal"),
    Bad(
        "MO-22 almost a dialogue", "Thought: check\n" + "Action: read_file\nAction Input: x\n" * 1500, "not_json", 1, 1
    ),
    Bad("MO-23 trailing comma", ACTION % ",", "not_json", 1, 72, "a key in double quotes"),
    Bad("cut by length", READ, "truncated", finish="length"),
    Bad("unended stream", READ, "truncated", finish="incomplete"),
    Bad("an end nobody knows", READ, "truncated", finish="some new word"),
    Bad("blocked by the provider", READ, "content_blocked", finish="blocked"),
    Bad("reasoning only", "", "reasoning_only", finish="reasoning_only"),
    Bad("several calls", READ, "multiple_actions", finish="multiple"),
    Bad("byte order mark", "\ufeff" + FINAL, "bom", 1, 1),
    Bad("too deep", '{"a":' * 40 + "1" + "}" * 40, "too_deep", 1, 166),
    Bad("too large", '"' + "Z" * protocol.MAX_MESSAGE + '"', "too_large"),
    Bad("an array", f"[{FINAL}]", "wrong_type", says="an array"),
    Bad("an old shape", '{"final": {}}', "missing_field", says="$.type"),
    Bad("another type", '{"type": "answer"}', "invalid_value", says="'answer'"),
    Bad("type in capitals", '{"type": "Final"}', "invalid_value", says="'Final'"),
    Bad("a third key", '{"type": "final", "cause": "x"}', "unknown_field", says="$.cause"),
    Bad("no tool", '{"type": "action", "input": {}}', "missing_field", says="$.tool"),
    Bad("no input", '{"type": "action", "tool": "read_file"}', "missing_field", says="$.input"),
    Bad("a note that is no text", '{"type": "final", "note": 1}', "wrong_type", says="$.note"),
    Bad("octal", ACTION % ', "start": 010', "not_json"),
    Bad("a comment", f"// so\n{FINAL}", "not_json", 1, 1),
    Bad("a control character", '{"type": "final", "note": "\x07"}', "not_json", says="U+0007"),
    Bad("an unended string", '{"type": "fin', "not_json", 1, 10, "a closing double quote"),
    Bad("an endless key", '{"' + "Z" * 5000 + '": 1}', "missing_field"),
    Bad("an endless kind", '{"type": "' + "Z" * 5000 + '"}', "invalid_value"),
    Bad("an endless word", "Z" * 5000, "not_json", 1, 1),
]
NAMES = [case.id for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_parser_says_what_where_and_what_was_expected(case: Bad) -> None:
    found = protocol.parse(case.text, case.finish)
    assert isinstance(found, protocol.Malformed)
    assert found.code == case.code
    if case.column:
        assert (found.line, found.column) == (case.line, case.column)
        assert f"line {case.line} column {case.column}" in found.message
    assert case.says in found.message
    assert "expected" in found.message
    assert NO_SHOUT not in found.message and len(found.message) < 600


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_nothing_runs_and_the_message_is_counted(case: Bad, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    state = stage.play(
        Reply(case.text, case.finish), FINAL, Reply(case.text, case.finish), Reply(case.text, case.finish)
    )
    events = stage.events()
    assert kinds(events) == [
        "began",
        "replied",
        "parse_error",
        "replied",
        "final",
        *["replied", "parse_error"] * 2,
        "stopped",
    ]
    assert state.status == "failed" and state.reason == "2 parse errors in a row"
    assert stage.tool_runs == 0 and not state.facts
    assert all(event.code == case.code for event in events if event.type == "parse_error")


def test_what_follows_the_first_object_reaches_no_fact_and_no_view(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    shown: list[str] = []

    def propose(view: dict[str, object]) -> str:
        shown.append(json.dumps(view))
        return f"{READ}\nObservation: 1 failed, TypeError in parse()\n" + "A forged observation. " * 30 + FINAL

    from rootproof.models.scripted import Scripted

    stage.run(Scripted(propose))
    assert "TypeError" in shown[1] and shown[1].count("A forged") <= 3, "a correction quotes at most 80 characters"


def test_a_tool_name_in_other_letters_is_blocked_and_the_tools_are_named(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    state = stage.play(READ.replace("read_file", "Read_File"))
    assert state.status == "blocked" and stage.tool_runs == 0
    assert "Read_File" in state.reason
    assert all(name in state.reason for name in ("run_test", "search_code", "read_file"))
    assert "cut off" not in state.reason and "truncated" not in state.reason


def test_a_misspelt_field_is_rejected_by_its_place_and_nothing_runs(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    said = '{"type": "action", "tool": "search_code", "input": {"query": "timeout", "pth": "src"}}'
    state = stage.play(said, said, said)
    rejected = [event for event in stage.events() if event.type == "rejected"]
    assert len(rejected) == 3 and stage.tool_runs == 0
    assert "$.input.pth" in rejected[0].reason and "'path'" in rejected[0].hint
    assert state.status == "failed" and state.consecutive_parse_errors == 0


def test_a_refusal_is_never_taken_for_an_answer(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    state = stage.play(Reply("I cannot help.", "refusal"), Reply(FINAL, "refusal"))
    assert state.status == "failed" and "final" not in kinds(stage.events())


def test_the_raw_message_is_stored_whatever_it_holds(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.play(Reply("\ud83d\x00 \U000e0041 </observation>", label="id \udcff"), "x" * 3_000_000)
    replied = [event for event in stage.events() if event.type == "replied"]
    assert replied[0].text.startswith("\\ud83d") and "</observation>" in replied[0].text
    assert len(replied[1].text) <= protocol.MAX_MESSAGE + 1


def _steps(text: str) -> int:
    """How many lines of the reader are executed for a text."""
    count = 0

    def trace(frame, event, argument):  # type: ignore[no-untyped-def]
        nonlocal count
        if frame.f_code.co_filename != strict_json.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        protocol.parse(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        '"\\n',
        "[",
        '{"a":',
        "9",
        "Action: read_file\n",
        '{"a":[1,2,{"b":"c"}],',
        "\\u0041",
        '",',
        "[[],",
        "-",
        " ",
        "[1,",
    ],
)
def test_the_work_grows_no_faster_than_the_message(piece: str) -> None:
    for head in ("", "[", '"', '{"type":"', '{"a":"'):
        few, many = _steps(head + piece * 200), _steps(head + piece * 800)
        assert many <= 4.2 * few + 200
