"""Formulas, ties and the move after a search."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rootproof.experiments.rerank import Heard, moved
from rootproof.experiments.spectrum import FORMULAS, Counts, is_test_file, mean_ranks, ochiai
from rootproof.experiments.suspects import split_words


def test_ochiai_prefers_what_passing_tests_do_not_run() -> None:
    assert ochiai(Counts(1, 1, 0, 5)) == 1.0
    assert ochiai(Counts(1, 1, 3, 5)) == 0.5
    assert ochiai(Counts(0, 1, 3, 5)) == 0.0


@given(st.sampled_from(sorted(FORMULAS)), st.integers(0, 50), st.integers(0, 50))
def test_every_formula_falls_with_passing_runs(name: str, fewer: int, more: int) -> None:
    low, high = sorted((fewer, more))
    formula = FORMULAS[name]
    assert formula(Counts(1, 1, low, 50)) >= formula(Counts(1, 1, high, 50))


@given(st.dictionaries(st.integers(), st.sampled_from([0.0, 0.5, 1.0]), max_size=12))
def test_ties_share_their_mean_rank_and_ranks_add_up(scores: dict[int, float]) -> None:
    ranks = mean_ranks(scores)
    count = len(scores)
    assert sum(ranks.values()) == count * (count + 1) / 2
    assert all((scores[a] == scores[b]) == (ranks[a] == ranks[b]) for a in scores for b in scores)


def test_a_flip_that_kept_more_neighbours_counts_more() -> None:
    kept_many, _ = moved(0.5, "", Heard(tried=5, moved=2, clean=1, kept=20, hollow=False))
    kept_one, _ = moved(0.5, "", Heard(tried=5, moved=2, clean=1, kept=1, hollow=False))
    kept_none, _ = moved(0.5, "", Heard(tried=5, moved=2, clean=1, kept=0, hollow=False))
    broken, _ = moved(0.5, "", Heard(tried=5, moved=2, broken=1))
    deaf, why = moved(0.5, "", Heard(tried=9))
    assert kept_many > kept_one > kept_none > broken > 0.5 > deaf
    assert "none of 9 changes" in why


def test_tests_are_told_by_their_names() -> None:
    assert all(map(is_test_file, ("tests/a.py", "pkg/testing/x.py", "test_a.py", "a_test.py", "conftest.py")))
    assert not any(map(is_test_file, ("src/contest.py", "attest/a.py", "latest.py")))


def test_words_of_identifiers() -> None:
    assert split_words("test_HTTPServer_isDone") == {"test", "http", "server", "done"}
