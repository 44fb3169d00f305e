"""What a search finds does not depend on which of its children ends first."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rootproof.experiments.target.tally import Tally

LIMITS = {"stop_functions": 2, "stop_flips": 3, "patience": 4}


def told(outcomes: list[tuple[str, bool]], order: list[int], most: int | None = None) -> list[int]:
    """Which changes are told of, where children end in ``order``; a limit ends it after the first ``most``."""
    mutants = [{"id": number, "function": function} for number, (function, _) in enumerate(outcomes)]
    heard: list[dict[str, Any]] = []
    tally = Tally({"mutants": mutants, **LIMITS}, heard.append)
    for number in order[:most]:
        if tally.enough():
            break
        tally.take({"mutant": number, "clean": outcomes[number][1], "kept": 1})
    tally.close()
    return [record["mutant"] for record in heard]


OUTCOMES = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=12)


@given(OUTCOMES, st.data())
def test_the_order_in_which_children_end_changes_nothing(outcomes: list[tuple[str, bool]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(outcomes))))
    assert told(outcomes, order) == told(outcomes, list(range(len(outcomes))))


@given(OUTCOMES, st.data())
def test_what_ended_before_a_limit_is_told_unless_enough_was_found(
    outcomes: list[tuple[str, bool]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(outcomes))))
    most = data.draw(st.integers(0, len(outcomes)))
    heard = told(outcomes, order, most)
    assert set(heard) <= set(order[:most])
    if not any(clean for _, clean in outcomes):
        assert set(heard) == set(order[:most])


def test_a_second_function_that_flips_ends_it_and_nothing_behind_it_is_told() -> None:
    outcomes = [("a", True), ("b", True), ("c", True)]
    assert told(outcomes, [2, 1, 0]) == [0, 1]
