"""One behaviour suite over every kind of model: who proposes changes nothing in policy, evidence and completion."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rootproof import protocol
from rootproof.models.cassette import Cassette, Recorder
from rootproof.models.command import Command
from rootproof.models.interface import Model
from rootproof.models.scripted import Scripted

from .fault_server import Server, anthropic, openai, serving
from .stage import FINAL, READ, RUN, SEARCH, TEST, Stage, kinds

HAS_PROVIDERS = find_spec("pydantic_ai") is not None
HAS_LOCAL = find_spec("xllamacpp") is not None and find_spec("gguf") is not None

Maker = Callable[[Path, Sequence[str]], Model]


def scripted(folder: Path, said: Sequence[str]) -> Model:
    return Scripted(list(said))


def command(folder: Path, said: Sequence[str]) -> Model:
    path = folder / "said.json"
    path.write_text(json.dumps(list(said)), encoding="utf-8")
    code = (
        "import json, sys; said = json.load(open(sys.argv[1], encoding='utf-8')); n = json.load(sys.stdin)['step']\n"
        "sys.stdout.reconfigure(encoding='utf-8'); sys.stdout.write(said[n - 1] if n <= len(said) else '')"
    )
    return Command([sys.executable, "-c", code, str(path)])


def cassette(folder: Path, said: Sequence[str]) -> Model:
    path = folder / "tape.jsonl"
    Stage(folder / "recorded").run(Recorder(Scripted(list(said)), path))
    return Cassette(path)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(params=["scripted", "command", "cassette", "openai", "anthropic"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Maker:
    plain: dict[str, Maker] = {"scripted": scripted, "command": command, "cassette": cassette}
    if request.param in plain:
        return plain[request.param]
    if not HAS_PROVIDERS:
        pytest.skip("needs the extra 'models' (pydantic-ai-slim)")
    server: Server = request.getfixturevalue("server")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789")
    answer = openai if request.param == "openai" else lambda text: anthropic({"type": "text", "text": text})

    def provided(folder: Path, said: Sequence[str]) -> Model:
        from rootproof.models import choose, provider

        server.will(*(answer(text) for text in [*said, ""]))
        return provider.named(choose.parse(f"{request.param}:m"))

    return provided


def outcome(stage: Stage, model: Model) -> tuple[Any, ...]:
    state = stage.run(model)
    facts = sorted((fact.name, str(fact.value), fact.standing) for fact in state.facts.values())
    return state.status, state.step, kinds(stage.events()), facts, {n: len(t.entered) for n, t in stage.tools.items()}


SCRIPTS: dict[str, tuple[Sequence[str], str]] = {
    "evidence, then final": (("I think it is the limit.", RUN, SEARCH, READ, FINAL), "success"),
    "final at every step": ((FINAL,) * 8, "max_steps"),
    "the same action again and again": ((READ,) * 8, "max_steps"),
    "prose twice": ((RUN, "So.", "It is done."), "failed"),
    "a tool that is not there": ((RUN, '{"type": "action", "tool": "deploy", "input": {}}'), "blocked"),
    "a test that is not there": ((RUN.replace("test_x", "test_y"),), "blocked"),
    "a secret": ((READ.replace("src/app.py", ".env"),), "blocked"),
    "outside": ((READ.replace("src/app.py", "../x"),), "blocked"),
    "an action that cannot be meant": (
        ('{"type": "action", "tool": "read_file", "input": {"path": 1}}',) * 3,
        "failed",
    ),
    "its own facts": (('{"type": "final", "facts": {"reproduced": true}}', FINAL) * 4, "max_steps"),
    "silence": (("", ""), "failed"),
    "other alphabets": (
        ("\u7ed3\u8bba", RUN, READ, '{"type": "final", "note": "\u5b8c\u6210 \\ud83d\\ude00"}'),
        "success",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_messages_have_the_same_end_whoever_sends_them(make: Maker, tmp_path: Path, name: str) -> None:
    said, status = SCRIPTS[name]
    expected = outcome(Stage(tmp_path / "expected"), Scripted(list(said)))
    (tmp_path / "model").mkdir()
    found = outcome(Stage(tmp_path / "found"), make(tmp_path / "model", said))
    assert found == expected and found[0] == status


def test_a_model_is_named_without_keys_and_addresses(make: Maker, tmp_path: Path) -> None:
    name = make(tmp_path, [FINAL]).name
    assert name and "sk-" not in name and "127.0.0.1" not in name and str(tmp_path) not in name


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not HAS_LOCAL:
        pytest.skip("needs the extra 'local' (xllamacpp) and the package gguf")
    from .tiny_gguf import write

    return write(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.mark.parametrize("seed", range(3))
def test_a_local_model_says_only_what_has_the_form_of_a_message_and_is_judged_all_the_same(
    tmp_path: Path, tiny: Path, seed: int
) -> None:
    from rootproof.models.local import Local, Settings

    settings = Settings(context=16384, temperature=1.5, seed=seed * 1000, max_tokens=1500)
    stage = Stage(tmp_path, budget={"max_steps": 5})
    state = stage.run(Local(tiny, settings))
    assert state.status != "success"
    assert {fact.name for fact in state.facts.values()} <= {"search_matches"}, "what noise cannot have found"
    assert state.spent.model_tokens > 1000
    replied = [event for event in stage.events() if event.type == "replied"]
    for event in replied:
        message = protocol.parse(event.text, event.finish)
        assert not isinstance(message, protocol.Malformed) or message.code == "truncated"
        assert not isinstance(message, protocol.Action) or message.tool in stage.tools
    for tool in stage.tools.values():
        assert all(request.input.get("test", TEST) == TEST for request in tool.entered)


def test_a_local_model_that_is_cut_is_a_parse_error(tmp_path: Path, tiny: Path) -> None:
    from rootproof.models.local import Local, Settings

    stage = Stage(tmp_path)
    state = stage.run(Local(tiny, Settings(context=16384, max_tokens=5)))
    assert state.status == "failed" and stage.tool_runs == 0 and "truncated" in state.refusal


def test_a_local_model_with_a_short_context_is_out_of_reach_not_a_crash(tmp_path: Path, tiny: Path) -> None:
    from rootproof.models.local import Local, Settings

    state = Stage(tmp_path).run(Local(tiny, Settings(context=512)))
    assert state.status == "interrupted" and "context" in state.reason
