"""Changes of several edits, made from what single ones did."""

from __future__ import annotations

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.combine import Tried, combined
from rootproof.experiments.mutants import Mutant, Verdict


def tried(line: int, note: str, status: str = "failed", same: bool = True, function: str = "a.py::f") -> Tried:
    edit = Edit("a.py", line, line, f"old {line}\n", f"{note} {line}\n", "operator", note)
    return Tried(Mutant(Change((edit,)), function, ("t",)), Verdict(0, status, "swap", same=same))


def lines(mutants: list[Mutant]) -> list[tuple[int, ...]]:
    return [tuple(edit.first for edit in mutant.change.edits) for mutant in mutants]


def test_one_slip_made_at_several_places_is_mended_at_all_of_them() -> None:
    found = combined([tried(3, "x for y"), tried(5, "x for y"), tried(9, "x for y"), tried(7, "other")], 10)
    assert lines(found) == [(3, 5, 9)]


def test_five_places_are_more_than_one_change() -> None:
    assert combined([tried(n, "x for y") for n in range(1, 6)], 10) == []


def test_an_edit_that_did_something_is_tried_beside_the_others_of_its_function() -> None:
    found = combined(
        [tried(3, "a"), tried(5, "b", same=False), tried(7, "c", "passed"), tried(9, "d", function="a.py::g")], 10
    )
    assert set(lines(found)) == {(3, 5), (5, 7), (3, 7)}
    assert lines(found)[0] == (5, 7), "two that did something come first"


def test_edits_of_one_line_are_not_put_together() -> None:
    assert combined([tried(3, "a", same=False), tried(3, "b", same=False)], 10) == []


def test_nothing_is_made_of_what_did_nothing_or_was_no_program() -> None:
    assert combined([tried(3, "a"), tried(5, "b")], 10) == []
    assert combined([tried(3, "a", "invalid", same=False), tried(5, "b")], 10) == []


def test_at_most_so_many() -> None:
    assert len(combined([tried(n, str(n), same=False) for n in range(1, 12)], 7)) == 7
