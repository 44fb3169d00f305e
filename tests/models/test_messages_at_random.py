"""100,000 random and mutated messages: the parser never fails, and only a well-formed action can execute."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof import protocol
from rootproof.models.interface import Reply
from rootproof.models.scripted import Scripted

from .stage import FINAL, READ, RUN, SEARCH, Stage

SEEDS = (
    READ,
    RUN,
    SEARCH,
    FINAL,
    '{"type": "action", "tool": "read_file", "input": {"path": "src/app.py", "start": 12}, "note": "a \\u00e9 b"}',
    '{"type": "final", "note": "\\ud83d\\ude00 done"}',
    '  {"type" : "action","tool":"x","input":{"a":[1,-2.5e3,true,null,{"b":[]}]}}\n',
)
BITS = (
    *'{}[]":,\\ \n\t0-.eE+/\'`',
    "\ufeff", "\u201c", "\ud83d", "\x00", "\u2028", "\U000e0041", "NaN", "Infinity", "1e999", "true", "null", "9" * 30,
    '"type"', '"final"', '"action"', '"tool"', '"input"', '"note"', '{"type": "final"}', "\\u", "\\ud800", "```json\n", "//",
)  # fmt: skip


def mutated(chance: random.Random) -> str:
    """One of the seeds after one to six small edits, or pieces glued together."""
    if chance.random() < 0.1:
        return "".join(chance.choice(BITS) for _ in range(chance.randrange(40)))
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        match chance.randrange(5):
            case 0:
                text = text[:at] + chance.choice(BITS) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + chance.choice(BITS) + text[at + 1 :]
            case 3:
                text = text[:to] + text[at : at + 30] + text[to:]
            case _:
                text = text[:at] if chance.random() < 0.2 else text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]
    return text


def strictly(text: str) -> Any:
    """What the standard reader makes of a text, with its laxness turned off; None where it is not one document."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("repeated key")
        return dict(pairs)

    def never(_: str) -> Any:
        raise ValueError("no number")

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=never)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


def agrees(text: str, found: protocol.Message) -> bool:
    """Whether an accepted message is what another reader sees in the same text, and a refusal is short and located."""
    if isinstance(found, protocol.Malformed):
        return bool(found.code) and len(found.message) < 600
    value = strictly(text)
    if isinstance(found, protocol.Final):
        return isinstance(value, dict) and value["type"] == "final" and not set(value) - {"type", "note"}
    return (
        isinstance(value, dict)
        and value["type"] == "action"
        and (value["tool"], value["input"]) == (found.tool, found.input)
        and not set(value) - {"type", "tool", "input", "note"}
    )


@pytest.mark.parametrize("seed", range(10))
def test_no_message_breaks_the_parser_and_acceptance_is_never_lax(seed: int) -> None:
    chance = random.Random(seed)
    accepted = 0
    for _ in range(10_000):
        text = mutated(chance)
        found = protocol.parse(text)
        assert agrees(text, found), repr(text)
        accepted += not isinstance(found, protocol.Malformed)
    assert 50 < accepted < 5_000, "the mutations lie on both sides of the border"


def test_whatever_the_strict_standard_reader_refuses_never_executes(tmp_path: Path) -> None:
    chance = random.Random("run")
    messages = [mutated(chance) for _ in range(400)]
    budget = {"max_steps": 1000, "max_consecutive_parse_errors": 1000, "max_consecutive_invalid_actions": 1000}
    stage = Stage(tmp_path, budget=budget)
    index = 0
    executed = 0
    while index < len(messages):
        state = stage.run(Scripted([*messages[index:], *[Reply("", "blocked")] * 1000]))
        index += max(state.step, 1)
        said = ""
        for event in stage.events():
            said = event.text if event.type == "replied" else said
            if event.type == "started":
                executed += 1
                value = strictly(said)
                assert (value["type"], value["tool"]) == ("action", event.tool), said
    assert executed == stage.tool_runs > 0


@given(st.text(max_size=300), st.sampled_from([*protocol.FINISHES, "never heard of"]))
def test_any_text_with_any_finish_is_judged(text: str, finish: str) -> None:
    found = protocol.parse(text, finish)
    assert agrees(text, found)
    assert protocol.FINISHES.get(finish) == "" or isinstance(found, protocol.Malformed)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.booleans())
def test_every_well_formed_action_is_read_as_it_was_written(
    tool: str, given_input: dict[str, Any], ascii_only: bool
) -> None:
    text = json.dumps({"type": "action", "tool": tool, "input": given_input}, ensure_ascii=ascii_only)
    found = protocol.parse(text)
    assert isinstance(found, protocol.Action)
    assert (found.tool, found.input) == (tool, given_input)
