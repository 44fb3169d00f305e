"""``rootproof diagnose``: from a repository with red tests to one confirmed cause, or an honest end, for each.

Assembly: it finds the targets, generates, saves and carries out one contract for each, and says what came of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rootproof import assemble, proposers, red
from rootproof.assemble import Options
from rootproof.contract import Policy
from rootproof.contract import Scope as Terms
from rootproof.errors import NotRunnable, UsageError
from rootproof.event import Event, Observed
from rootproof.experiments.progress import silent
from rootproof.investigations.root_cause import targets, terms
from rootproof.investigations.root_cause.targets import Found, Workshop
from rootproof.investigations.root_cause.terms import Numbers
from rootproof.models.offered import Offer, Offered
from rootproof.outcome import Outcome
from rootproof.sandbox.interface import Limits
from rootproof.scope import Scope
from rootproof.state import State

ORDER = (130, 6, 1, 3, 8, 5, 4, 7, 9)
"""Of several ends that are no success, the exit status is the first of these that occurs."""


@dataclass(frozen=True)
class Question:
    """What a user asks to have diagnosed."""

    root: Path
    tests: tuple[str, ...] = ()
    last_failed: bool = False
    runner: str = "auto"
    numbers: Numbers = field(default_factory=Numbers)
    grade: str = ""
    context: str = ""
    most_targets: int = 10
    report: Path | None = None
    """A JUnit report whose failing tests are asked about."""


@dataclass(frozen=True)
class Case:
    """One target with its contract, as it was saved."""

    target: str
    document: dict[str, Any]
    file: Path


def find(question: Question, options: Options, tell: Callable[[str], None]) -> tuple[Workshop, Found]:
    """The red tests.

    Raises:
        NotRunnable: there is nothing to diagnose, or it cannot run here, with what to do.
        UsageError: what is asked contradicts itself, a test id or a report cannot be used.
        ContainmentUnavailable: nothing here contains what would be run.
    """
    if question.report and (question.tests or question.last_failed):
        raise UsageError("--from names the tests already", "leave out the test ids and --last-failed")
    failing = red.failing_cases(question.report) if question.report else ()
    hint = next(iter(question.tests), "") or red.hint(failing, question.root)
    shop = workshop(question, options, hint)
    limits = Limits(seconds=question.numbers.seconds, cpu_seconds=question.numbers.cpu_seconds, memory_mb=4096)
    if question.report:
        found = red.from_report(shop, question.report, failing, limits, tell)
        return shop, red.still(shop, found, limits)
    if question.tests:
        return shop, red.still(shop, Found(question.tests, "named"), limits)
    files = targets.test_files(shop.root, shop.runner)
    noted = _noted(question, shop, files, limits, tell)
    if noted is not None:
        return shop, noted
    return shop, targets.by_running(shop, files, limits, (tell, options.tell or silent))


def workshop(question: Question, options: Options, hint: str) -> Workshop:
    """With what the repository's tests are run.

    Args:
        hint: a test, or the file of one; empty: none is known.

    Raises:
        NotRunnable: it is no folder, or no runner fits it.
        ContainmentUnavailable: nothing here contains what would be run.
    """
    if not question.root.is_dir():
        kind = "is no folder" if question.root.exists() else "does not exist"
        raise NotRunnable(f"{question.root} {kind}", "name the folder of the repository with --root")
    choice = assemble.choose_runner(question.runner, question.root, hint)
    sandbox = assemble.choose_sandbox(Policy(), question.root, options)
    hidden = Scope(question.root, Terms()).secrets()
    return Workshop(question.root.resolve(), choice.runner, sandbox, options.interpreter, hidden, choice.reason)


def _noted(
    question: Question, shop: Workshop, files: tuple[str, ...], limits: Limits, tell: Callable[[str], None]
) -> Found | None:
    """What the runner noted as last failed and is red still."""
    noted = targets.last_failed(shop.root, files, shop.runner.name)
    if noted is None:
        if question.last_failed:
            raise NotRunnable("the runner has noted no failed test", "run the tests once, or name one")
        return None
    try:
        return red.still(shop, noted, limits, twice=False)
    except NotRunnable:
        if question.last_failed:
            raise
        tell(f"nothing {noted.how} is red any more")
        return None


def cases(question: Question, shop: Workshop, found: Found, folder: Path) -> list[Case]:
    """One contract for each target, saved in ``folder`` before anything is tried."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, target in enumerate(found.tests[: question.most_targets], 1):
        document = document_for(replace(question, root=shop.root), target)
        document["scope"]["root"] = str(shop.root)
        place = folder / f"diagnosis-{number}.toml"
        place.write_text(terms.as_toml(document), "utf-8")
        made.append(Case(target, document, place))
    return made


def document_for(question: Question, target: str) -> dict[str, Any]:
    """The contract of one target, without a look at whether it is red.

    Raises:
        NotRunnable: no runner fits the repository.
    """
    runner = assemble.choose_runner(question.runner, question.root, target).runner  # of the test's own package
    files = targets.test_files(question.root, runner)
    return terms.terms(target, runner.name, files, question.numbers, question.grade, question.context)


@dataclass
class Confirmed:
    """Changes confirmed for one red test of a repository, kept to be offered to the others."""

    offers: list[Offer] = field(default_factory=list)
    _last: Observed | None = None
    """The last change that was supported in the run that is under way."""

    def __call__(self, state: State, event: Event) -> None:
        """Listen to one run."""
        if isinstance(event, Observed) and event.tool == "try_change" and event.fields.get("verdict") == "supported":
            self._last = event

    def settle(self, case: Case, outcome: Outcome) -> None:
        """Keep the change of a run that ended in success."""
        if outcome.status == "success" and self._last is not None:
            said = self._last.fields
            self.offers.append(Offer(case.target, said.get("change") or (), said.get("spans") or ()))
        self._last = None


def run(case: Case, options: Options, confirmed: Confirmed | None = None) -> Outcome:
    """Carry one saved contract out.

    Args:
        confirmed: what earlier runs over the same repository confirmed: offered first here, and added to.
    """
    loaded = assemble.load_contract(case.file)
    known = confirmed or Confirmed()
    if known.offers:
        options = replace(options, model=Offered(proposers.open_model(options.model), known.offers))
    options = replace(options, listeners=(*options.listeners, known))
    outcome = assemble.run(replace(loaded, origin=f"rootproof diagnose {case.target}"), options)
    known.settle(case, outcome)
    return outcome


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """0 only if every target is explained."""
    ends = {outcome.exit_status for outcome in outcomes}
    return next((status for status in ORDER if status in ends), 0)
