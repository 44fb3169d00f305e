"""Failures that no code explains, diagnosed by the detective: the right kind or honestly undetermined, no false cause.

``make test`` runs a member of four kinds, drawn by a seed, and leaves the search out; ``make test-suites`` runs all
kinds in full, so that a search may find changes that turn them green by luck.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diagnosis.cases_without_a_code_cause import MAKERS, Made
from report.form import faults
from rootproof import assemble, verify
from rootproof.assemble import Options, load_document, run
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.detective.policy import Detective
from rootproof.outcome import Outcome
from rootproof.report.as_html import html
from rootproof.report.as_markdown import markdown
from rootproof.report.build import Ledger, build
from small_project import Small, small

SEED, EACH = 20_404, 4
QUICK = ("order", "environment: variable", "flaky: chance", "wrong test")
"""Run by ``make test``."""
CASES = [
    *(pytest.param(name, SEED % EACH, False, id=f"{name}-{SEED % EACH}-no-search") for name in QUICK),
    *(
        pytest.param(name, number, True, id=f"{name}-{number}", marks=pytest.mark.suites)
        for name in MAKERS
        for number in range(EACH)
    ),
]
MUST_BE_FOUND = ("order", "environment: zone", "environment: language", "environment: variable")
"""Here nothing is left to chance."""


@pytest.fixture(scope="module")
def ends() -> Iterator[Counter[str]]:
    found: Counter[str] = Counter()
    yield found
    print("without a cause in the code: " + ", ".join(f"{n} {what}" for what, n in sorted(found.items())))


def diagnosed(project: Small, made: Made, store: Path, searching: bool) -> Outcome:
    numbers = Numbers(seconds=3600.0, cpu_seconds=3600.0, test_runs=1_500)
    document = terms(made.target, "pytest", project.site().test_files, numbers)
    document["tools"]["search_changes"]["seconds"] = 20
    if not searching:
        del document["tools"]["search_changes"]
    options = Options(store=store, model=Detective(), containment="none", trusted=True)
    return run(load_document(document, project.root, "test"), options)


def concluded(outcome: Outcome, store: Path) -> str:
    """The kind of the conclusion; ``none`` where there is none."""
    if outcome.status != "success":
        assert outcome.answer is None
        return "none"
    opened = assemble.open_store(store, read_only=True)
    state: Any = assemble.replayed(opened, outcome.run)
    kinds = [kind for kind in ("order", "environment", "flaky") if state.fact(kind, state.subject)]
    return kinds[0] if kinds else "code"


def test_the_report_of_an_order_can_be_checked_again_and_an_edit_is_refuted(tmp_path: Path) -> None:
    made = MAKERS["order"](random.Random(SEED))
    project, store = small(tmp_path / "project", made.files), tmp_path / "runs.db"
    outcome = diagnosed(project, made, store, searching=False)
    opened = assemble.open_store(store, read_only=True)
    report = json.loads(json.dumps(build(Ledger(outcome.run, tuple(opened.events(outcome.run)), opened.blob))))
    assert not faults(report)
    cause = report["derived"]["cause"]
    assert cause["kind"] == "order" and cause["predecessors"] == ["test_case.py::test_that_leaves_something"]
    assert "the order of the tests" in markdown(report) and "test_that_leaves_something" in html(report)
    options = Options(containment="none", trusted=True)
    again = verify.verify(report, project.root, options)
    assert again.answer == "confirmed" and "made again here" in again.checked[-1], again
    edited = copy.deepcopy(report)
    edited["derived"]["cause"]["predecessors"] = ["test_case.py::test_other_0"]
    assert verify.verify(edited, project.root, options).answer == "refuted"
    source = next(name for name in made.files if name.endswith(".py") and "test" not in name)
    (project.root / source).write_text("def double(value):\n    return 2 * value\n")
    assert verify.verify(report, project.root, options).answer == "stale"


def test_there_are_enough_cases() -> None:
    print(f"without a cause in the code: {len(MAKERS)} kinds, {len(MAKERS) * EACH} cases")
    assert len(MAKERS) * EACH >= 30


@pytest.mark.parametrize(("name", "number", "searching"), CASES)
def test_the_right_kind_or_undetermined(
    name: str, number: int, searching: bool, tmp_path: Path, ends: Counter[str]
) -> None:
    made = MAKERS[name](random.Random(SEED + number))
    project = small(tmp_path / "project", made.files)
    store = tmp_path / "runs.db"
    outcome = diagnosed(project, made, store, searching)
    kind = concluded(outcome, store)
    ends[f"{name} -> {kind}"] += 1
    assert kind in (made.kind, "none"), (outcome.answer, outcome.reason)
    assert kind == made.kind or name not in MUST_BE_FOUND, (outcome.status, outcome.reason, outcome.missing)
