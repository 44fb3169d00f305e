"""A rival that was not judged to its end counts: over budget, cut, lost, or found by search and never tried.

The nearest honest run beside each: a rival that was refuted or masked takes nothing away, nor does one that was open
and then judged to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lying.scripts import FINAL, PRICING, Script, change, fix, read
from masking.shop import EDGE, FILES
from rootproof import canonical
from rootproof.assemble import Options, load_document, run
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.scripted import Scripted
from rootproof.outcome import Outcome
from rootproof.runners.pytest import Pytest
from rootproof.sandbox.bare import Bare
from rootproof.scope import Scope
from rootproof.tools import search_changes
from rootproof.tools.interface import Declined, Observation, Request
from rootproof.tools.try_change import TryChange
from small_project import Small, small

OTHER = "    return amount - discount(amount + 1)"
"""A change of another function with which the target passes and every neighbour is kept."""
WRONG = "    return amount - discount(amount - 1)"
PLANTED = "    return 90"
SEARCH: dict[str, Any] = {"type": "action", "tool": "search_changes", "input": {"test": EDGE}}
Mend = Callable[[TryChange, Request], "Observation | Declined"]


def over_budget(real: TryChange, request: Request) -> Observation | Declined:
    """The real trial, with too few test runs left for it."""
    return real.run(replace(request, test_runs=3))


def lost(real: TryChange, request: Request) -> Observation | Declined:
    """What the controller records of a trial that was begun twice and whose end it never saw."""
    return Observation({"target": request.input["target"]}, "never seen", cut="crashed")


@dataclass
class Trials:
    """The real tool; each change is tried once for all tests. Some trials, by their number in a run, go otherwise."""

    real: TryChange
    otherwise: dict[int, Mend] = field(default_factory=dict)
    made: int = 0
    known: dict[str, Observation | Declined] = field(default_factory=dict)

    @property
    def spec(self) -> Any:
        return self.real.spec

    @property
    def sandbox(self) -> Any:
        return self.real.sandbox

    def run(self, request: Request) -> Observation | Declined:
        self.made += 1
        if self.made in self.otherwise:
            return self.otherwise[self.made](self.real, request)
        asked = canonical.digest(request.input["edits"])
        if asked not in self.known:
            self.known[asked] = self.real.run(request)
        return self.known[asked]


@dataclass(frozen=True)
class Searched:
    """A search that found one change."""

    text: str
    row: dict[str, Any]
    left_out: int = 0
    spec = search_changes.SPEC

    def run(self, request: Request) -> Observation:
        edits = [{"path": PRICING, "start": 21, "end": 21, "text": self.text + "\n"}]
        place = f"{PRICING}::to_pay"
        flip = {"edits": edits, "function": place, "places": [place], **self.row}
        told = {"clean": int(self.row["clean"]), "best": place, "flips": [flip], "left_out": self.left_out}
        rest: dict[str, Any] = {"functions": [], "statements": [], "by_status": {}, "problem": ""}
        return Observation({"test": EDGE, "baseline": "failed", "tries": 1, **told, **rest})


CLEAN = {"clean": True, "kept": 4, "broken": 0, "unfinished": False}
UNFINISHED = {"clean": False, "kept": 1, "broken": 0, "unfinished": True}
BROKEN = {"clean": False, "kept": 1, "broken": 1, "unfinished": False}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return small(tmp_path_factory.mktemp("rivals") / "shop", FILES)


@pytest.fixture(scope="module")
def trials(shop: Small) -> Trials:
    document = terms(EDGE, "pytest", shop.site().test_files, Numbers())
    scope = Scope(shop.root, load_document(document, shop.root, "test").contract.scope)
    return Trials(TryChange(scope, Pytest(), Bare(), {"target": EDGE}))


Play = Callable[..., Outcome]


@pytest.fixture
def play(shop: Small, trials: Trials, tmp_path: Path) -> Play:
    def played(script: Script, search: Searched | None = None, **otherwise: Mend) -> Outcome:
        def propose(view: dict[str, Any]) -> Any:
            return script[view["step"] - 1] if view["step"] <= len(script) else FINAL

        trials.otherwise, trials.made = {int(name[1:]): mend for name, mend in otherwise.items()}, 0
        numbers = Numbers(cpu_seconds=3600.0, seconds=3600.0)
        loaded = load_document(terms(EDGE, "pytest", shop.site().test_files, numbers), shop.root, "test")
        tools = {"try_change": trials, **({"search_changes": search} if search else {})}
        options = Options(
            store=tmp_path / "runs.db", model=Scripted(propose), containment="none", trusted=True, tools=tools
        )
        return run(loaded, options)

    return played


def other(text: str = OTHER) -> Any:
    return change(21, 21, text)


def named(outcome: Outcome) -> bool:
    """Whether the end says which place stands against the conclusion."""
    return any("to_pay" in text for text in outcome.missing)


def test_the_fix_alone_succeeds(play: Play) -> None:
    assert play([read(), fix(), FINAL]).status == "success"


@pytest.mark.parametrize("mend", [over_budget, lost])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_rival_that_was_not_judged_to_its_end_stands_against_it(mend: Mend, first: bool, play: Play) -> None:
    pair = [other(), fix()] if first else [fix(), other()]
    outcome = play([read(), *pair, FINAL, FINAL], **{"t1" if first else "t2": mend})
    assert outcome.status != "success" and outcome.answer is None
    assert any("a change elsewhere" in text for text in outcome.missing), outcome.missing
    assert mend is lost or named(outcome), outcome.missing


@pytest.mark.parametrize("row", [CLEAN, UNFINISHED], ids=["clean", "unfinished"])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_clean_change_found_by_search_and_never_tried_stands_against_it(
    row: dict[str, Any], first: bool, play: Play
) -> None:
    pair = [SEARCH, fix()] if first else [fix(), SEARCH]
    outcome = play([read(), *pair, FINAL, FINAL], Searched(OTHER, row))
    assert outcome.status != "success" and named(outcome), outcome.missing


def test_two_places_judged_to_the_end_are_ambiguous_and_the_other_is_named(play: Play) -> None:
    outcome = play([read(), fix(), other(), FINAL, FINAL])
    assert outcome.status != "success"
    assert any("confirmed as well" in text for text in outcome.missing), outcome.missing


def test_a_rival_found_by_search_is_settled_by_its_refutation(play: Play) -> None:
    outcome = play([read(), SEARCH, fix(), FINAL, other(WRONG), FINAL], Searched(WRONG, CLEAN))
    assert outcome.status == "success" and outcome.steps == 6


def test_an_open_rival_is_settled_by_its_refutation(play: Play) -> None:
    outcome = play([read(), fix(), other(WRONG), FINAL, other(WRONG), FINAL], t2=over_budget)
    assert outcome.status == "success" and outcome.steps == 6


@pytest.mark.parametrize("text", [WRONG, PLANTED], ids=["refuted", "masked"])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_refuted_or_masked_rival_takes_nothing_away(text: str, first: bool, play: Play) -> None:
    pair = [other(text), fix()] if first else [fix(), other(text)]
    assert play([read(), *pair, FINAL]).status == "success"


def test_a_flip_that_broke_a_neighbour_takes_nothing_away(play: Play) -> None:
    assert play([read(), SEARCH, fix(), FINAL], Searched(OTHER, BROKEN)).status == "success"


def test_a_search_that_had_no_room_for_every_place_stands_against_it(play: Play) -> None:
    outcome = play([read(), SEARCH, fix(), FINAL, FINAL], Searched(OTHER, BROKEN, left_out=1))
    assert outcome.status != "success"
    assert any("a change elsewhere" in text for text in outcome.missing), outcome.missing


def test_an_open_change_of_the_same_function_takes_nothing_away(play: Play) -> None:
    same = change(14, 14, "    if not amount < limits.LIMIT:")
    assert play([read(), same, fix(), FINAL], t1=over_budget).status == "success"
