"""Providers against a real HTTP server on this machine that speaks both wire formats and fails on demand."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from rootproof import protocol
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.models import choose, prompt, smaller
from rootproof.models.interface import View

from .fault_server import Answer, Server, anthropic, anthropic_call, error, openai, serving
from .stage import FINAL, READ, RUN, Stage

pytest.importorskip("pydantic_ai", reason="needs the extra 'models' (pydantic-ai-slim)")

from rootproof.models import provider

KEY = "sk-canary-0123456789abcdef"
DOC = Path(__file__).parents[2] / "docs/reference/providers.md"
WIRES = ("openai", "anthropic")
TOO_LONG = "prompt is too long: 250000 tokens > 200000 maximum"


def both(answer: Answer) -> dict[str, Answer]:
    return dict.fromkeys(WIRES, answer)


def call(message: str = "{}") -> dict[str, Any]:
    return {"id": "x:1", "type": "function", "function": {"name": "read_file", "arguments": message}}


HTML = {"Content-Type": "text/html"}
FAULTS: dict[str, dict[str, Answer]] = {
    "length": {
        "openai": openai(FINAL[:9], "length"),
        "anthropic": anthropic({"type": "text", "text": FINAL[:9]}, stop="max_tokens"),
    },
    "refusal": {"openai": openai(None, refusal="no"), "anthropic": anthropic(stop="refusal")},
    "empty": {"openai": openai(" \n"), "anthropic": anthropic()},
    "reasoning": {
        "openai": openai("", reasoning_content=FINAL),
        "anthropic": anthropic({"type": "thinking", "thinking": FINAL, "signature": "x"}),
    },
    "two calls": {
        "openai": openai(None, "tool_calls", tool_calls=[call(), call()]),
        "anthropic": anthropic(anthropic_call({}), anthropic_call({}), stop="tool_use"),
    },
    "blocked": {"openai": openai("", "content_filter")},
    "429": both(error(429, "rate_limit_exceeded")),
    "429 with time": both(error(429, "rate_limit_exceeded", Retry_After="2")),
    "429 for hours": both(error(429, "rate_limit_exceeded", Retry_After="7200")),
    "quota": {"openai": error(429, "insufficient_quota")},
    "500": both(error(500, "boom")),
    "529": both(error(529, "overloaded_error")),
    "401": both(error(401, f"invalid key {KEY}")),
    "404": both(error(404, "model_not_found")),
    "400": both(error(400, "bad")),
    "context": {
        "openai": error(400, "context_length_exceeded"),
        "anthropic": Answer(
            400, json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}})
        ),
    },
    "html": both(Answer(body="<!doctype html><title>sign in</title>", headers=HTML)),
    "html error": both(Answer(502, "<html>bad gateway</html>", HTML)),
    "stream": both(Answer(body=f"data: {FINAL}\n\n", headers={"Content-Type": "text/event-stream"})),
    "not json": both(Answer(body="hello")),
    "half json": both(Answer(body='{"id": "1", "choices": [{"mess')),
    "other json": both(Answer(body='{"a": 1}')),
    "no choices": {
        "openai": Answer(body='{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}'),
        "anthropic": Answer(body='{"id":"1","type":"message","role":"assistant","model":"m"}'),
    },
    "silence": both(Answer(does="silence")),
    "drip": both(Answer(does="drip")),
    "close": both(Answer(does="close")),
    "cut": {
        "openai": Answer(body=openai(FINAL).body, does="cut"),
        "anthropic": Answer(body=anthropic({"type": "text", "text": FINAL}).body, does="cut"),
    },
    "flood": both(Answer(does="flood")),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def keys(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for name in ("OPENAI_COMPATIBLE_API_KEY", "OLLAMA_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def model(spec: str, waits: list[float] | None = None, silence: float = 20.0, total: float = 30.0) -> provider.Provider:
    waits = [] if waits is None else waits
    return provider.named(choose.parse(spec), provider.Habits(silence=silence, total=total, sleep=waits.append))


def say(wire: str, message: str) -> Answer:
    if wire == "openai":
        return openai(message)
    return anthropic(anthropic_call(json.loads(message)), stop="tool_use")


LONG = "limit = retries\n" + "x = 1  # filler\n" * 400


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    """A view in the middle of a run, with earlier observations and a long last one."""
    return Stage(tmp_path_factory.mktemp("stage"), source=LONG).view_after(RUN, RUN, READ)


def table() -> list[tuple[str, str, int]]:
    rows = [line.split(" | ") for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    faults = [row for row in rows if len(row) == 4 and row[3].rstrip(" |").isdigit()]
    return [(row[0][2:], row[2], int(row[3].rstrip(" |"))) for row in faults]


def test_the_documented_table_is_the_list_of_faults() -> None:
    assert [row[0] for row in table()] == list(FAULTS)


CASES = [(wire, *row) for row in table() for wire in FAULTS[row[0]]]


@pytest.mark.parametrize(("wire", "fault", "outcome", "requests"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_each_fault_has_its_documented_outcome(
    server: Server, view: View, wire: str, fault: str, outcome: str, requests: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(FAULTS[fault][wire])
    slow = fault in ("silence", "drip")
    waits: list[float] = []
    asked = model(f"{wire}:m", waits, *((0.2, 0.3) if slow else ()))
    if outcome.isupper():
        with pytest.raises(ModelUnavailable) as caught:
            asked.propose(view)
        assert f"[{outcome.lower()}]" in str(caught.value) and "resume" in caught.value.remedy
        assert KEY not in str(caught.value) + caught.value.remedy and len(str(caught.value)) < 500
    else:
        reply = asked.propose(view)
        found = protocol.parse(reply.text, reply.finish)
        assert isinstance(found, protocol.Malformed) and found.code == outcome
        assert reply.tokens > 0
    assert len(server.asked) == requests
    retried = outcome.isupper() and requests == 4
    assert len(waits) == (3 if retried else 0) and sum(waits) <= 120
    assert caplog.text.count("try ") == len(waits) and KEY not in caplog.text


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_that_says_when_is_waited_for_as_long_as_it_says(server: Server, view: View, wire: str) -> None:
    moment = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True)
    for asked, least, most in (("2", 2, 2), (moment, 20, 30), ("nonsense", 1, 1.5)):
        waits: list[float] = []
        server.will(error(429, "rate_limit_exceeded", Retry_After=asked), say(wire, FINAL))
        assert json.loads(model(f"{wire}:m", waits).propose(view).text) == {"type": "final"}
        assert len(server.asked) == 2 and least <= waits[0] <= most


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_run_with_retries_takes_no_more_steps_than_one_without(
    server: Server, tmp_path: Path, wire: str
) -> None:
    stage = Stage(tmp_path)
    server.will(say(wire, RUN), error(500, "boom"), say(wire, READ), Answer(does="close"), say(wire, FINAL))
    state = stage.run(model(f"{wire}:m"))
    assert state.status == "success" and state.step == 3
    assert state.spent.model_tokens == 90 and len(server.asked) == 5


@pytest.mark.parametrize("wire", WIRES)
def test_out_of_reach_is_interrupted_and_nothing_secret_is_stored(server: Server, tmp_path: Path, wire: str) -> None:
    stage = Stage(tmp_path)
    server.will(say(wire, RUN), error(401, f"wrong key {KEY}"))
    state = stage.run(model(f"{wire}:m"))
    assert state.status == "interrupted" and state.step == 1 and "reproduced" in str(state.facts)
    stored = (tmp_path / "runs.sqlite3").read_bytes() + (tmp_path / "runs.sqlite3-wal").read_bytes()
    assert KEY.encode() not in stored
    assert all(key.endswith(KEY) for key in server.keys), "the key went to the server alone"


def test_spent_tokens_end_a_run_before_the_next_call(server: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path, budget={"model_tokens": 50})
    server.will(openai(RUN))
    state = stage.run(model("openai:m"))
    assert state.status == "budget" and len(server.asked) == 2 and "model tokens" in state.reason


def test_a_server_that_counts_no_tokens_is_counted_by_characters(server: Server, view: View) -> None:
    body = json.loads(openai(FINAL).body)
    del body["usage"]
    server.will(Answer(body=json.dumps(body)))
    assert model("openai:m").propose(view).tokens > len(view.text) // 4


def test_a_view_that_is_too_long_is_made_smaller_and_stays_so(server: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path, source=LONG)
    over = FAULTS["context"]["openai"]
    server.will(openai(READ), over, over, openai(RUN), openai(FINAL))
    asked = model("openai:m")
    assert stage.run(asked).status == "success"
    sent = [len(json.dumps(request)) for request in server.asked]
    assert sent[1] > sent[2] > sent[3] and len(server.asked) == 5
    fixed = [str(request["messages"]).split("consecutive_parse_errors")[0][:2000] for request in server.asked]
    assert len(set(fixed)) == 1, "the fixed part is never made smaller"


@pytest.mark.parametrize("level", range(smaller.LEVELS + 1))
def test_a_smaller_view_is_one_json_object_with_the_same_beginning(view: View, level: int) -> None:
    small = smaller.smaller(view, level)
    assert small.text[: view.fixed] == view.text[: view.fixed] and small.fixed == view.fixed
    assert json.loads(small.text).keys() == json.loads(view.text).keys()
    assert len(small.text) <= len(view.text)


def test_a_server_that_rejects_the_schema_is_asked_in_words_from_then_on(server: Server, view: View) -> None:
    server.will(error(400, "response_format"), openai(FINAL), openai(FINAL))
    asked = model("openai:m")
    asked.propose(view)
    asked.propose(view)
    assert [("response_format" in request) for request in server.asked] == [True, False, False]


def test_what_is_sent_is_the_prompt_and_the_view_and_no_old_message(server: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    server.will(openai(RUN), openai(READ), openai(FINAL))
    stage.run(model("openai:m"))
    for step, request in enumerate(server.asked, 1):
        system, user = request["messages"]
        assert system["content"] == prompt.text()
        parts = user["content"]
        text = parts if isinstance(parts, str) else "".join(part["text"] for part in parts)
        assert json.loads(text)["step"] == step and len(text) <= 12_000


def test_an_anthropic_request_marks_what_can_be_cached(server: Server, view: View) -> None:
    server.will(say("anthropic", FINAL))
    model("anthropic:m").propose(view)
    fixed, moving = server.asked[0]["messages"][0]["content"]
    assert fixed["text"] == view.text[: view.fixed] and "cache_control" in fixed and "cache_control" not in moving
    assert server.asked[0]["tools"][0]["name"] == "reply"


@pytest.mark.parametrize("spec", ["openai-compatible:m@{url}/v1", "ollama:m@{url}/v1"])
def test_servers_of_ones_own_never_see_the_openai_key(server: Server, view: View, spec: str) -> None:
    server.will(openai(FINAL))
    server.keys.clear()
    asked = model(spec.format(url=server.url))
    assert asked.propose(view).text == FINAL
    assert KEY not in str(server.keys)
    assert asked.notice == "" and not asked.needs_token_limit and server.url not in asked.name


def test_a_hosted_model_says_what_leaves_the_machine_and_needs_a_limit_where_prices_are_unknown() -> None:
    asked = model("anthropic:nobody-knows-this-model")
    assert "excerpts of files" in asked.notice and "anthropic" in asked.notice and asked.needs_token_limit
    assert not model("anthropic:claude-sonnet-4-5").needs_token_limit
    away = model("openai-compatible:m@https://models.example/v1")
    assert "models.example" in away.notice and away.needs_token_limit


def test_a_missing_key_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for spec, name in (("anthropic:m", "ANTHROPIC_API_KEY"), ("openai:m", "OPENAI_API_KEY")):
        monkeypatch.delenv(name)
        monkeypatch.delenv(name.replace("API_KEY", "BASE_URL"))
        with pytest.raises(ModelError, match=name):
            model(spec)


def test_a_price_that_is_known_is_counted(server: Server, view: View) -> None:
    body = json.loads(openai(FINAL, tokens=1_000_010).body)
    body["model"] = "gpt-4o"
    server.will(Answer(body=json.dumps(body)))
    assert model("openai:gpt-4o").propose(view).cost > 1


def test_reasoning_is_never_parsed_and_twice_in_a_row_ends_the_run(server: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    server.will(openai("", reasoning_content=RUN))
    state = stage.run(model("openai:m"))
    assert state.status == "failed" and stage.tool_runs == 0
    assert "reasoning" in state.refusal


def test_a_reply_with_the_call_of_a_tool_is_judged_as_a_message(server: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    server.will(openai(None, "tool_calls", tool_calls=[call('{"path": ".env"}')]))
    state = stage.run(model("openai:m"))
    assert state.status == "failed" and stage.tool_runs == 0, "its arguments are no message of ours"


def test_logging_is_on_one_line_each(server: Server, view: View, caplog: pytest.LogCaptureFixture) -> None:
    server.will(error(500, "a\nb\x1b[2J"), openai(FINAL))
    with caplog.at_level(logging.WARNING):
        model("openai:m").propose(view)
    (record,) = [record for record in caplog.records if record.name.startswith("rootproof")]
    assert "\n" not in record.getMessage() and "\x1b" not in record.getMessage()
