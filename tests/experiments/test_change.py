"""A change applies exactly where it was made for, and says so when it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.experiments.change import (
    Change,
    Edit,
    Refused,
    change_between,
    decoded,
    encoded,
    same_tree,
    split_lines,
)

SOURCES = {"a.py": b"one\ntwo\nthree\n", "b.py": b"x = 1"}


def test_replaces_inserts_and_deletes_in_one_change() -> None:
    change = Change(
        (
            Edit("a.py", 1, 0, "", "zero\n"),
            Edit("a.py", 2, 2, "two\n", "2\n2.5\n"),
            Edit("a.py", 3, 3, "three\n", ""),
            Edit("b.py", 1, 1, "x = 1", "x = 2"),
        )
    )
    assert change.apply(SOURCES) == {"a.py": b"zero\none\n2\n2.5\n", "b.py": b"x = 2"}
    assert change.size == 1 + 2 + 1 + 1


def test_drift_overlap_and_missing_files_are_refused_with_a_reason() -> None:
    assert "not what" in _reason(Change((Edit("a.py", 2, 2, "TWO\n", "2\n"),)))
    assert "not there" in _reason(Change((Edit("c.py", 1, 1, "x\n", "y\n"),)))
    overlapping = Change((Edit("a.py", 1, 2, "one\ntwo\n", "x\n"), Edit("a.py", 2, 2, "two\n", "y\n")))
    assert "overlap" in _reason(overlapping)
    assert "past the end" in _reason(Change((Edit("a.py", 9, 8, "", "x\n"),)))


def _reason(change: Change) -> str:
    result = change.apply(SOURCES)
    assert isinstance(result, Refused)
    return result.reason


def test_an_edit_whose_text_does_not_fit_its_span_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="as many lines"):
        Edit("a.py", 1, 2, "one\n", "x\n")


def test_digest_counts_what_is_done_and_not_who_did_it() -> None:
    one = Change((Edit("a.py", 1, 1, "one\n", "1\n", "compare", "note"),))
    assert one.digest == Change((Edit("a.py", 1, 1, "one\n", "1\n"),)).digest
    assert one.digest != Change((Edit("a.py", 1, 1, "one\n", "2\n"),)).digest


def test_diff_names_both_sides() -> None:
    diff = Change((Edit("b.py", 1, 1, "x = 1", "x = 2"),)).unified_diff(SOURCES)
    assert diff.startswith("--- a/b.py\n+++ b/b.py\n")
    assert "-x = 1\n\\ No newline at end of file\n+x = 2\n\\ No newline at end of file\n" in diff


def test_tree_equality_ignores_layout_alone() -> None:
    assert same_tree(b"x = (1)  # note\n", b"x = 1\n")
    assert not same_tree(b"x = 1\n", b"x = 2\n")
    assert not same_tree(b"x = (\n", b"x = (\n")


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\x0cd\n"]), max_size=8), st.lists(st.sampled_from(["a\n", "e\n"]))
)
def test_change_between_reproduces_the_second_text(old: list[str], new: list[str]) -> None:
    before, after = {"f": encoded("".join(old))}, {"f": encoded("".join(new))}
    change = change_between(before, after)
    if isinstance(change, Change):
        assert change.apply(before) == after


@given(st.binary(max_size=60))
def test_any_bytes_survive(data: bytes) -> None:
    assert encoded("".join(split_lines(decoded(data)))) == data
