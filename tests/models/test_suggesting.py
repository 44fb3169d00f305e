from __future__ import annotations

import json
from pathlib import Path

from rootproof import proposers
from rootproof.models import prompt, requests
from rootproof.models.grammar import grammar
from rootproof.models.interface import View
from rootproof.models.scripted import Scripted
from rootproof.models.suggesting import KEY, Suggesting, suggested

from .stage import READ, RUN, Stage


def test_whole_requests_that_the_contract_allows_are_listed_and_the_beginning_stays(tmp_path: Path) -> None:
    view = Stage(tmp_path).first_view()
    shown = suggested(view)
    assert shown.text[: view.fixed] == view.text[: view.fixed]
    assert json.loads(shown.text)[KEY] == [json.loads(READ), json.loads(RUN)]


def test_final_is_listed_only_when_nothing_is_missing(tmp_path: Path) -> None:
    view = Stage(tmp_path).view_after(RUN, READ)
    assert json.loads(view.text)["missing"] == []
    assert {"type": "final"} in json.loads(suggested(view).text)[KEY]


def test_a_run_with_suggestions_is_marked_and_one_without_has_none(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    seen: list[bool] = []
    model = Scripted(lambda view: seen.append(KEY in view) or "")  # type: ignore[func-returns-value]
    stage.run(Suggesting(model))
    assert all(seen) and stage.events()[0].model == "scripted+suggestions"
    stage.run(model)
    assert not seen[-1] and stage.events()[0].model == "scripted"


def test_edits_are_never_suggested_and_a_full_view_gets_none() -> None:
    seen = {"tools": {"try_change": {"input": {}}, "look": {"input": {}}}, "missing": ["x"]}
    assert json.loads(suggested(View(json.dumps(seen))).text)[KEY] == [{"type": "action", "tool": "look", "input": {}}]
    full = View(json.dumps({**seen, "text": "x" * 11_900}))
    assert len(suggested(full).text) <= 12_000


def test_globs_name_no_single_thing() -> None:
    seen = {"tools": {"read_file": {"input": {"path": "root-relative path: d"}}}, "readable": ["src/**"]}
    assert [offer.words() for offer in requests.offers(seen)] == ["read_file (asks for path)", "final: ask to stop"]


def test_the_wrappers_keep_what_the_model_says_of_itself(tmp_path: Path) -> None:
    class Hosted(Scripted):
        notice = "everything leaves"
        prompt = "digest"
        needs_token_limit = True

    model = proposers.open_model(Hosted([]), tmp_path / "tape.jsonl", suggest=True)
    assert proposers.notice(model) == "everything leaves" and proposers.prompt(model) == "digest"
    assert getattr(model, "needs_token_limit", False) and model.name == "scripted+suggestions"


def test_the_prompt_explains_trying_a_change_and_is_known_by_its_digest() -> None:
    words = prompt.text()
    assert "try_change" in words and "throw-away copy" in words and '{"type": "final"}' in words
    assert len(prompt.digest()) == 64 and len(words) < 3_500


def test_the_grammar_names_tools_and_fields_and_no_value_of_the_contract(tmp_path: Path) -> None:
    text = grammar(json.loads(Stage(tmp_path).first_view().text))
    assert "run_test" in text and "query" in text
    assert "test_a" not in text and "app.py" not in text
