from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rootproof.controller import investigate
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.event import Resumed
from rootproof.ledger.interface import Entry
from rootproof.models import scripted
from rootproof.models.interface import Reply, View
from rootproof.models.scripted import Scripted

from .stage import FINAL, READ, RUN, Stage


def at(step: int) -> View:
    return View(f'{{"step": {step}}}')


def test_a_list_is_followed_by_the_step_of_the_view_and_ends_empty() -> None:
    model = Scripted(["a", {"type": "final"}])
    assert model.propose(at(2)) == Reply('{"type": "final"}')
    assert model.propose(at(1)) == Reply("a")
    assert model.propose(at(3)) == Reply("", "empty")


def test_a_function_gets_a_fresh_view_each_time_and_cannot_change_the_state(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    seen: list[Any] = []

    def propose(view: dict[str, Any]) -> str:
        seen.append(view["facts"].get("reproduced"))
        view["facts"]["reproduced"] = view["facts"]["found"] = "retries"
        view["criteria"].clear()
        view["max_steps"] = 10_000
        return FINAL

    state = stage.run(Scripted(propose))
    assert state.status == "max_steps" and not state.facts
    assert seen == [None] * 8


def test_a_function_that_fails_interrupts_the_run_and_it_can_be_resumed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def propose(view: dict[str, Any]) -> str:
        return RUN if view["step"] == 1 else str(1 // 0)

    state = stage.run(Scripted(propose))
    assert state.status == "interrupted" and "ZeroDivisionError" in state.reason
    state = stage.ledger.append(state, Entry(Resumed(by="me")))
    state = investigate(stage.case(Scripted([RUN, READ, FINAL])), stage.ledger)
    assert state.status == "success" and state.step == 3


@pytest.mark.parametrize("said", [None, 7, ["x"], {"a": object()}, {"a": {1, 2}}])
def test_what_is_no_message_is_no_reply(said: Any) -> None:
    with pytest.raises(ModelUnavailable):
        Scripted(lambda view: said).propose(at(1))


def test_a_file_of_messages_and_a_file_with_a_function(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('["a", {"type": "final"}]', encoding="utf-8")
    (tmp_path / "m.py").write_text("def propose(view):\n    return str(view['step'])\n", encoding="utf-8")
    assert scripted.from_file(tmp_path / "m.json").propose(at(1)).text == "a"
    assert scripted.from_file(tmp_path / "m.py").propose(at(5)).text == "5"
    assert not (tmp_path / "__pycache__").exists(), "loading leaves nothing in the folder"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b""),
        ("a.json", b"{}"),
        ("a.json", b"[1]"),
        ("a.json", b'["half'),
        ("a.json", b"\xff\xfe\x00"),
        ("a.json", b"[" * 100_000),
        ("a.py", b"def propose(:"),
        ("a.py", b"propose = 3"),
        ("a.py", b"raise RuntimeError('no')"),
        ("a.py", b"\x00"),
    ],
)
def test_a_bad_file_is_an_error_with_a_remedy(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        scripted.from_file(tmp_path / name)
    assert name in str(caught.value) and "propose" in caught.value.remedy


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path / "none.py", tmp_path):
        with pytest.raises(ModelError, match="is no file"):
            scripted.from_file(path)
