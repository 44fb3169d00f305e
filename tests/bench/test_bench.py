"""What a benchmark reads out of a run and out of a peer, and what is kept for the next one."""

from __future__ import annotations

import json
from pathlib import Path

from rootproof.apps.bench import peers, run
from rootproof.apps.bench.contenders import Terms, read_outcome, with_places, with_suspects
from rootproof.apps.bench.manifest import Case, Sdist, Truth
from rootproof.apps.bench.score import Answer, as_json, rates, score, summary
from rootproof.experiments.sources import Sources
from rootproof.sandbox.bare import Bare

SOURCE = '''class Box:
    """A box."""

    size = 3

    def fill(self):
        def inner():
            return 1

        return inner()
'''
ROW = {"path": "a.py", "function": "f", "first": 1, "last": 2, "rank": 1.0, "why": "x"}


def outcome(place: str) -> bytes:
    facts = {"cause_lies_in": {"value": place}, "cause_grade": {"value": "A"}, "confirmed": {"value": True}}
    return json.dumps([{"status": "success", "reason": "every criterion is met", "facts": facts}]).encode()


def case(*truth: Truth) -> Case:
    sdist = Sdist("1", "a-1.tar.gz", "")
    return Case("one", "a", "a", sdist, sdist, (), ("tests/test_a.py::test_x",), (), (), "", truth)


def test_the_conclusion_is_read_from_the_facts() -> None:
    answer = read_outcome(Answer("one", "detective", False), outcome("a.py::f; b.py::g"), "")
    assert answer.ran and answer.status == "success" and answer.grade == "A"
    assert answer.concluded == (("a.py", "f"), ("b.py", "g"))


def test_what_said_nothing_did_not_run() -> None:
    answer = read_outcome(Answer("one", "detective", False), b"", "error: no\n")
    assert not answer.ran and "error: no" in answer.why


def test_a_conclusion_in_a_class_body_or_an_inner_function_counts_as_the_manifest_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    for line, name, truth in ((4, "Box.size", "Box"), (8, "Box.fill", "Box.fill.<locals>.inner")):
        answer = read_outcome(Answer("one", "detective", False), outcome(f"a.py::{name}"), "")
        spans = [{"path": "a.py", "first": line, "last": line, "function": name}]
        seen = [("try_change", {"verdict": "supported", "place": f"a.py::{name}", "spans": spans})]
        answer = with_places(answer, seen, Sources(tmp_path))
        assert score(case(Truth("a.py", truth, "replace", (line,))), answer).right


def test_the_last_suspects_shown_count() -> None:
    first = {"functions": [ROW], "statements": [ROW]}
    later = {"functions": [{**ROW, "function": "g"}], "statements": [ROW], "tries": 7}
    answer = with_suspects(Answer("one", "detective", True), [("trace_test", first), ("search_changes", later)])
    assert [place.function for place in answer.functions] == ["g"] and answer.mutants == 7


def test_a_function_of_a_peer_is_no_class_that_ends_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    places = peers._places({"a.py::fill::6::10": 0.5}, "function", Sources(tmp_path))
    assert [place.function for place in places] == ["Box.fill"]


def test_results_of_a_peer_are_kept_for_every_model(tmp_path: Path) -> None:
    bench = run.Bench("detective", tmp_path, tmp_path, Bare(), Terms(10, 1), peers=("fauxpy",))
    bench.results.parent.mkdir()
    for place, name in ((bench.results, "detective"), (bench.peer_results, "fauxpy")):
        place.write_text(json.dumps(as_json(Answer("one", name, True))) + "\n" + "{torn")
    assert {answer.contender for answer in run.run(bench, [case()])} == {"detective", "fauxpy"}


def test_the_summary_has_the_agreed_names() -> None:
    truth = Truth("a.py", "f", "replace", (1,))
    answers = [
        Answer("one", "d", True, status="success", grade="A", concluded=(("a.py", "f"),), verified=True),
        Answer("two", "d", True, status="success", grade="B", concluded=(("a.py", "g"),), verified=False),
        Answer("three", "d", True),
        Answer("four", "d", False),
    ]
    found = {**summary([score(case(truth), answer) for answer in answers]), **rates(answers)}
    counts = ("cases", "ran", "accepted", "grade_a", "right", "wrong", "wrong_grade_a", "abstained", "verified")
    assert [found[name] for name in counts] == [4, 3, 2, 1, 1, 1, 0, 1, 1]
    assert found["verified_of"] == 2 and "cpu_s_median" in found
    assert all(f"{level}_at_{k}" in found for level in ("function", "statement") for k in (1, 3, 5, 10))
