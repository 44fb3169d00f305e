"""``run_test`` as a model asks for it: repeats, order, predecessors and seeds, on real runs of real runners."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path
from typing import Any

import pytest

from casework import FINAL, Played, Repository, action, contract, play
from rootproof.canonical import Json
from rootproof.contract import Scope
from rootproof.runners.interface import Runner
from rootproof.runners.node_test import NodeTest
from rootproof.runners.pytest import Pytest
from rootproof.runners.unittest import Unittest
from rootproof.runners.vitest import Vitest
from rootproof.sandbox.bare import Bare
from rootproof.tools.interface import Declined, Observation, Request
from rootproof.tools.run_test import RunTest

TURNS = """
    import pathlib, unittest

    class Case(unittest.TestCase):
        def test_turns(self):
            seen = pathlib.Path({seen!r})
            count = int(seen.read_text()) if seen.exists() else 0
            seen.write_text(str(count + 1))
            {body}

        def test_other(self):
            pass
"""
"""A test that can tell its runs apart, by a file outside the tree."""

ORDERED = """
    import unittest

    STATE = []

    class Case(unittest.TestCase):
        def test_a_victim(self):
            self.assertEqual(STATE, [])

        def test_b_bystander(self):
            pass

        def test_c_polluter(self):
            STATE.append("dirt")
"""
FILE = "tests/test_it.py"
VICTIM, BYSTANDER, POLLUTER = (f"{FILE}::Case::test_{name}" for name in ("a_victim", "b_bystander", "c_polluter"))
TURN = f"{FILE}::Case::test_turns"
REPRODUCED = {"id": "seen", "tool": "run_test", "where": {"test": TURN}, "expect": {"status": "failed"}}


def tool(repo: Repository, runner: Runner, *tests: str, **settings: Json) -> RunTest:
    return RunTest(repo.root, Scope(tests=tests), lambda test: runner, Bare(), settings)


def laid(folder: Path, text: str, **more: str) -> Repository:
    repo = Repository(folder)
    for name, content in {FILE: text, **more}.items():
        repo.file(name, textwrap.dedent(content).lstrip("\n"))
    return repo


def turning(folder: Path, body: str) -> Repository:
    return laid(folder, TURNS.format(seen=str(folder / "seen"), body=body))


def asked(repo: Repository, runner: Runner, test: str, *listed: str, room: int = 1000, **arguments: Json) -> Any:
    """The answer to one request, as the controller would make it."""
    request = Request("run_test", {"test": test, **arguments}, test_runs=room)
    return tool(repo, runner, *(listed or (test,))).run(request)


def seen(answer: Observation | Declined) -> dict[str, Any]:
    assert isinstance(answer, Observation), answer
    return dict(answer.fields)


def run(
    repo: Repository,
    says: list[Any],
    evidence: list[Any],
    tests: tuple[str, ...],
    secrets: tuple[str, ...] = (),
    **more: Any,
) -> Played:
    terms = contract(
        scope={"read": ["**"], "tests": list(tests)},
        tools={"run_test": {}},
        evidence=evidence,
        completion={"all": [evidence[0]["id"]]},
        **more,
    )
    return play(repo, terms, says, tools={"run_test": tool(repo, Unittest(), *tests)}, secrets=secrets)


def test_a_test_that_fails_each_second_time_is_flaky_and_no_evidence(tmp_path: Path) -> None:
    repo = turning(tmp_path, "self.assertEqual(count % 2, 0)")
    played = run(repo, [action("run_test", test=TURN, repeat=4), FINAL], [REPRODUCED], (TURN,))
    told = played.only("observed")
    assert told.fields["status"] == "flaky"
    assert (told.fields["runs"], told.fields["counts"]) == (4, {"failed": 2, "passed": 2})
    assert (told.fields["failure_rate"], told.usage.test_runs) == (0.5, 4)
    assert not {"message", "expected", "actual", "exception"} & set(told.fields)
    assert played.state.status == "max_steps"
    assert {name.split(":")[0] for name in told.attachments} == {"run 1", "run 2"}


def test_a_repeat_that_disagrees_withdraws_what_one_run_had_shown(tmp_path: Path) -> None:
    repo = turning(tmp_path, "self.assertEqual(count % 2, 1)")
    says = [action("run_test", test=TURN), action("run_test", test=TURN, repeat=2), FINAL]
    played = run(repo, says, [REPRODUCED], (TURN,))
    assert played.state.facts["seen", ""].standing == "conflict"
    assert played.state.status == "max_steps"


def test_runs_that_all_fail_alike_are_that_failure(tmp_path: Path) -> None:
    repo = turning(tmp_path, "self.assertEqual(object(), count * 0)")
    played = run(repo, [action("run_test", test=TURN, repeat=3), FINAL], [REPRODUCED], (TURN,))
    fields = played.only("observed").fields
    assert (fields["status"], fields["counts"], fields["exception"]) == ("failed", {"failed": 3}, "AssertionError")
    assert list(fields["signatures"].values()) == [3]
    assert "object object at 0x" in fields["message"]
    assert played.state.status == "success"


def test_failures_that_differ_are_mixed_and_have_no_message(tmp_path: Path) -> None:
    repo = turning(tmp_path, "self.assertEqual(count, 9)")
    fields = seen(asked(repo, Unittest(), TURN, repeat=2))
    assert (fields["status"], fields["failure_rate"]) == ("mixed", 1.0)
    assert "message" not in fields
    assert len(fields["signatures"]) == 2


def test_several_tests_that_end_otherwise_each_time_are_not_one_outcome(tmp_path: Path) -> None:
    fields = seen(asked(turning(tmp_path, "self.assertEqual(count % 2, 0)"), Unittest(), FILE, repeat=2))
    assert fields["status"] == "flaky"
    assert "outcomes" not in fields


def test_the_seed_can_be_what_decides(tmp_path: Path) -> None:
    body = "import os; self.assertEqual(os.environ['PYTHONHASHSEED'], '7')"
    repo = turning(tmp_path, body)
    assert seen(asked(repo, Unittest(), TURN, seed=7, repeat=2))["status"] == "passed"
    assert seen(asked(repo, Unittest(), TURN, seed=6, repeat=2, vary_seed=True))["status"] == "mixed"


def test_no_more_runs_than_the_budget_holds(tmp_path: Path) -> None:
    repo = turning(tmp_path, "pass")
    says = [action("run_test", test=TURN, repeat=3)] * 2
    played = run(repo, says, [REPRODUCED], (TURN,), budget={"max_steps": 4, "test_runs": 5})
    assert played.only("observed").usage.test_runs == 3
    assert "3 test runs are needed, 2 are left" in played.events("rejected")[0].reason
    random = asked(repo, Unittest(), TURN, FILE, room=3, repeat=3, order="random")
    assert isinstance(random, Declined), "the run that collects is one too"


def test_time_that_runs_out_leaves_a_repeat_incomplete(tmp_path: Path) -> None:
    repo = turning(tmp_path, "while True: pass")
    answer = tool(repo, Unittest(), TURN).run(Request("run_test", {"test": TURN, "repeat": 50}, seconds=1.0))
    assert isinstance(answer, Observation)
    assert (answer.fields["status"], answer.cut, answer.spent.test_runs) == ("incomplete", "timeout", 1)


@pytest.mark.parametrize("runner", [Pytest(), Unittest()], ids=["pytest", "unittest"])
class TestOrder:
    def test_after_others_in_the_order_asked_for(self, tmp_path: Path, runner: Runner) -> None:
        repo = laid(tmp_path, ORDERED)
        every = (VICTIM, BYSTANDER, POLLUTER)
        fields = seen(asked(repo, runner, VICTIM, *every, after=[BYSTANDER, POLLUTER]))
        assert (fields["status"], fields["after"]) == ("failed", [BYSTANDER, POLLUTER])
        assert list(fields["outcomes"]) == [BYSTANDER, POLLUTER, VICTIM]
        assert "['dirt'] != []" in fields["message"].replace("Lists differ: ", "")
        assert seen(asked(repo, runner, VICTIM, *every, after=[BYSTANDER]))["status"] == "passed"

    def test_with_its_file_only_its_own_outcome_counts(self, tmp_path: Path, runner: Runner) -> None:
        repo = laid(tmp_path, ORDERED.replace("STATE, []", "STATE, [0]"))
        assert seen(asked(repo, runner, BYSTANDER, FILE, order="file"))["status"] == "passed"
        assert seen(asked(repo, runner, VICTIM, FILE, order="file"))["status"] == "failed"
        assert seen(asked(repo, runner, f"{FILE}::Case::test_none", FILE, order="file"))["status"] == "not_found"

    def test_a_random_order_is_the_seeds(self, tmp_path: Path, runner: Runner) -> None:
        repo = laid(tmp_path, ORDERED)
        for seed, polluted in ((0, False), (1, True)):
            order = [VICTIM, BYSTANDER, POLLUTER]
            random.Random(seed).shuffle(order)
            answer = asked(repo, runner, VICTIM, FILE, order="random", seed=seed)
            assert list(seen(answer)["outcomes"]) == order
            assert seen(answer)["status"] == ("failed" if polluted else "passed")
            assert answer.spent.test_runs == 2


def test_an_order_that_was_not_kept_is_unknown(tmp_path: Path) -> None:
    turned = "def pytest_collection_finish(session):\n    session.items.reverse()\n"
    repo = laid(tmp_path, ORDERED, **{"conftest.py": turned})
    fields = seen(asked(repo, Pytest(), VICTIM, VICTIM, POLLUTER, after=[POLLUTER]))
    assert fields["status"] == "unknown"


def test_a_failure_after_others_is_not_the_failure_a_contract_asks_for(tmp_path: Path) -> None:
    tests = (VICTIM, POLLUTER)
    failed = {"tool": "run_test", "where": {"test": VICTIM}, "expect": {"status": "failed"}}
    alone = {**failed, "id": "alone"}
    named = {**failed, "id": "order", "expect": {"status": "failed", "after_contains": POLLUTER}}
    says = [action("run_test", test=VICTIM, after=[POLLUTER]), FINAL]
    played = run(laid(tmp_path, ORDERED), says, [alone, named], tests)
    assert ("order", "") in played.state.facts
    assert ("alone", "") not in played.state.facts
    assert played.state.status == "max_steps"
    told = played.state.facts["test_outcomes", VICTIM].value
    assert f"after {POLLUTER}" in str(told)


def test_a_predecessor_outside_the_contract_ends_the_run(tmp_path: Path) -> None:
    says = [action("run_test", test=VICTIM, after=[POLLUTER])]
    evidence = [{"id": "x", "tool": "run_test", "expect": {"status": "failed"}}]
    played = run(laid(tmp_path, ORDERED), says, evidence, (VICTIM,))
    assert played.only("blocked").code == "out_of_scope"
    assert not played.events("started")


@pytest.mark.parametrize(
    ("runner", "arguments", "reason"),
    [
        (NodeTest(), {"order": "random"}, "cannot be told an order"),
        (NodeTest(), {"after": ["a.mjs#two"]}, "cannot be told an order"),
        (NodeTest(), {"seed": 1}, "has no seed"),
        (Vitest(), {"after": ["a.mjs#two"]}, "cannot be told an order"),
        (Pytest(), {"order": "file"}, "the contract lists single tests"),
        (Pytest(), {"order": "file", "after": ["a.mjs#two"]}, "nothing else runs"),
        (Pytest(), {"after": ["a.mjs#one"]}, "nothing else runs"),
        (Pytest(), {"vary_seed": True}, "one run has one seed"),
    ],
)
def test_what_cannot_be_done_is_declined_before_anything_runs(
    tmp_path: Path, runner: Runner, arguments: dict[str, Json], reason: str
) -> None:
    answer = asked(Repository(tmp_path), runner, "a.mjs#one", **arguments)
    assert isinstance(answer, Declined)
    assert reason in answer.reason
    assert answer.spent.test_runs == 0


SECRET = "hunter2-hunter2-hunter2-hunter2"
HALF = 128 * 1024
"""Bytes that are kept of the beginning of a stream, and of its end."""


def test_secrets_are_masked_before_anything_is_cut(tmp_path: Path) -> None:
    """It lies across every edge at which a text is cut: of the message, the shown output, a kept stream's middle."""
    body = f"""
            import sys
            secret = "-".join(["2retnuh"[::-1]] * 4)
            sys.stdout.write("x" * {HALF - 12} + secret + "x" * {HALF} + secret + "x" * {HALF - 12})
            sys.stderr.write(secret + "y" * 2985)
            self.fail("z" * 1985 + secret + "z" * 5000 + secret + "z" * 1985)
    """
    repo = turning(tmp_path, body.strip())
    says = [action("run_test", test=TURN), FINAL]
    played = run(repo, says, [REPRODUCED], (TURN,), secrets=(SECRET,))
    observed = played.only("observed")
    assert observed.fields["status"] == "failed"
    assert observed.fields["message"].count("[masked]") == 2
    assert "truncated" in observed.flags
    played.nowhere(SECRET, "hunter", "unter2")
