"""What a search tells of its flips: bounded, with no place left out silently."""

from __future__ import annotations

from typing import Any

import pytest

from rootproof.experiments.change import Change, Edit
from rootproof.experiments.mutants import Flip, Search
from rootproof.experiments.told import SHOWN, chosen, flip_words, left_out

CLEAN: dict[str, Any] = {"clean": True, "kept": 2, "broken": ()}
UNFINISHED: dict[str, Any] = {"clean": False, "kept": 0, "broken": ()}
BROKEN: dict[str, Any] = {"clean": False, "kept": 2, "broken": ("t.py::test_a",)}
ALONE: dict[str, Any] = {"clean": True, "kept": 0, "broken": ()}
"""The test passes, and no other test says anything of that place."""


def flip(place: int, said: dict[str, Any]) -> Flip:
    edit = Edit("shop.py", place, place, "x = 1\n", "x = 2\n")
    return Flip(Change((edit,)), f"shop.py::f{place}", how="swap", **said)


def search(*flips: Flip) -> Search:
    return Search((), flips, "failed", 0.1)


@pytest.mark.parametrize(
    ("said", "out"), [(CLEAN, 2), (UNFINISHED, 2), (BROKEN, 0), (ALONE, 0)], ids=["clean", "open", "broken", "alone"]
)
def test_places_for_which_there_is_no_room_are_counted(said: dict[str, Any], out: int) -> None:
    assert left_out(search(*(flip(place, said) for place in range(1, SHOWN + 3)))) == out


def test_a_place_is_not_left_out_for_more_flips_of_another() -> None:
    many = [flip(1, CLEAN) for _ in range(SHOWN + 5)]
    found = search(*many, flip(2, UNFINISHED))
    assert "shop.py::f2" in {each.function for each in chosen(found)}
    assert left_out(found) == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [(CLEAN, "2 neighbours kept"), (UNFINISHED, "not all of them known"), (BROKEN, "1 neighbours broken")],
)
def test_a_flip_in_words_says_what_is_known_of_its_neighbours(said: dict[str, Any], words: str) -> None:
    assert words in flip_words(flip(1, said))
