from __future__ import annotations

import json
from pathlib import Path

import pytest

from rootproof.controller import investigate
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.event import Resumed
from rootproof.ledger.interface import Entry
from rootproof.models.cassette import SCHEMA, Cassette, Recorder
from rootproof.models.interface import Reply, View
from rootproof.models.scripted import Scripted

from .stage import FINAL, READ, RUN, Stage, kinds

SAID = ("Well.", RUN, READ, FINAL)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "tape.jsonl"
    model = Recorder(Scripted([Reply(text, "stop", 7, 0.25) for text in SAID]), path)
    assert Stage(tmp_path / "recorded").run(model).status == "success"
    return path


def test_a_recording_replays_the_run_with_its_finishes_tokens_and_money(tmp_path: Path, tape: Path) -> None:
    stage = Stage(tmp_path / "replayed")
    state = stage.run(Cassette(tape))
    assert state.status == "success" and state.step == 4
    assert state.spent.model_tokens == 28 and state.spent.cost == 1.0


def test_a_changed_source_is_where_the_run_departs(tmp_path: Path, tape: Path) -> None:
    stage = Stage(tmp_path / "replayed", source="limit = retries  # now\n")
    state = stage.run(Cassette(tape))
    assert state.status == "interrupted" and "step 4 departs" in state.reason
    assert "$.last.text" in state.reason and "# now" in state.reason
    assert kinds(stage.events()).count("replied") == 3, "what was equal was replayed"


def test_a_changed_contract_departs_at_once_and_says_what_differs(tmp_path: Path, tape: Path) -> None:
    state = Stage(tmp_path / "replayed", goal="Another goal.").run(Cassette(tape))
    assert "step 1 departs from the recording: $.goal was" in state.reason


def test_time_durations_and_addresses_are_no_departure(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    first, second = Stage(tmp_path / "a"), Stage(tmp_path / "b")
    first.output = (
        "1 failed in 0.03s\n<Session object at 0x7f3a10b2c4d0>\n/tmp/rootproof-piqv3pe7/rootproof-cache-bpmqphz1"
    )
    second.output = (
        "1 failed in 12.71s\n<Session object at 0x7fffb91f0010>\n/tmp/rootproof-jy_h2u4c/rootproof-cache-2pwf965r"
    )
    first.run(Recorder(Scripted([RUN, READ, FINAL]), path))
    assert second.run(Cassette(path)).status == "success"


def test_a_longer_run_says_where_the_recording_ends(tmp_path: Path, tape: Path) -> None:
    lines = tape.read_text().splitlines(keepends=True)
    tape.write_text("".join(lines[:3]))
    state = Stage(tmp_path / "replayed").run(Cassette(tape))
    assert "ends after step 2" in state.reason


def test_an_interrupted_recording_goes_on_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"

    def fails(view: dict[str, object]) -> str:
        if view["step"] == 2:
            raise RuntimeError
        return RUN

    stage = Stage(tmp_path / "a")
    state = stage.run(Recorder(Scripted(fails), path))
    state = stage.ledger.append(state, Entry(Resumed(by="me")))
    investigate(stage.case(Recorder(Scripted([RUN, READ, FINAL]), path)), stage.ledger)
    assert Stage(tmp_path / "b").run(Cassette(path)).status == "success"


def test_a_lone_surrogate_in_a_reply_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    Recorder(Scripted(["\ud83d"]), path).propose(View('{"step": 1}'))
    assert Cassette(path).propose(View('{"step": 1}')).text == "\\ud83d"


HEAD = json.dumps({"schema": SCHEMA, "model": "m"}) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        "", "{}", "[]", "null\n", "\x00\xff", HEAD[:20], HEAD + "{", HEAD + "[]\n", HEAD + '{"step": 1}\n',
        HEAD + '{"step": true, "view": {}, "reply": {}}\n', HEAD + '{"step": 1, "view": {}, "reply": {"text": 1}}\n',
        HEAD.replace("cassette/1", "cassette/9"), "[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_recording_is_an_error_with_a_remedy(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(ModelError) as caught:
        Cassette(path)
    assert "bad.jsonl" in str(caught.value) and "--record" in caught.value.remedy


def test_a_recording_never_overwrites_another_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine\n")
    with pytest.raises(ModelError):
        Recorder(Scripted([]), path)
    assert path.read_text() == "mine\n"
    with pytest.raises(ModelError):
        Recorder(Scripted([]), tmp_path / "no" / "folder.jsonl")


def test_a_recording_is_private(tape: Path) -> None:
    assert tape.stat().st_mode & 0o077 == 0


def test_a_missing_view_is_out_of_reach(tape: Path) -> None:
    with pytest.raises(ModelUnavailable):
        Cassette(tape).propose(View('{"step": 1}'))
