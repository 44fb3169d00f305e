"""The failure signature: equal for equal failures, different for different messages, idempotent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.runners.interface import Failure
from rootproof.signature import MAX_LINE, line, normalised, of

SAME = [
    ("<Thing object at 0x7f3a2b9c1d50>", "<Thing object at 0x7fffeeddccbb>"),
    ("made at 2024-03-01T10:00:00.123Z", "made at 2026-11-30 23:59:01+02:00"),
    ("at 10:15:02 sharp", "at 09:01:59.250 sharp"),
    ("stamp 1700000000", "stamp 1712345678.25"),
    ("stamp 1700000000123", "stamp 1712345678999"),
    ("no /tmp/pytest-of-ann/pytest-3/test_a0/out.txt", "no /tmp/pytest-of-bob/pytest-41/test_a0/out.txt"),
    ("no '/var/folders/zz/x1/T/tmpab12cd34'", "no '/var/folders/qq/y2/T/tmpzz98yy76'"),
    ("tmpab12cd3_ is gone", "tmpzzzz9999 is gone"),
    ("user 7c9e6679-7425-40de-944b-e07fc1f90ae7", "user 16fd2706-8baf-433b-82eb-8c7fada847da"),
    ("key 507f1f77bcf86cd799439011", "key 65a1b2c3d4e5f60718293a4b"),
    ("pid 4242 died", "pid 17 died"),
    ("process 4242 died", "process 99999 died"),
    ("in Thread-7", "in Thread-12"),
    ("127.0.0.1:40123 refused", "127.0.0.1:59999 refused"),
    ("port 45555 is taken", "port 33333 is taken"),
    ("took 0.12s", "took 13.4s"),
    ("after 120 ms", "after 7 ms"),
    ("src/shop/login.py:41: gone", "src/shop/login.py:57: gone"),
    ("at file.test.ts:3:14", "at file.test.ts:9:2"),
    ('File "a.py", line 12', 'File "a.py", line 99'),
    ("{'left', 'right', 3} is odd", "{3, 'right', 'left'} is odd"),
    ("trailing   \nspace", "trailing\nspace"),
]

DIFFERENT = [
    ("assert '/' == '/settings'", "assert '/' == '/home'"),
    ("assert 3 == 4", "assert 3 == 5"),
    ("expected 2 items, got 3", "expected 2 items, got 4"),
    ("127.0.0.1:5432 refused", "127.0.0.1:6379 refused"),
    ("2024-01-31 is no working day", "2024-02-01 is no working day"),
    ("no /etc/app.conf", "no /etc/other.conf"),
    ("<Thing object at 0x7f3a2b9c1d50>", "<Other object at 0x7f3a2b9c1d50>"),
    ("code 0x1f", "code 0x2f"),
    ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    ("{'a', 'b'}", "{'a', 'c'}"),
    ("version 1.2.3", "version 1.2.4"),
]

WORDS = st.text(alphabet="ghijklmnopqrsuvwxyz =!<>'()[]{}", max_size=60)
"""No digit, slash or colon: nothing a rule could touch, save white space at the end."""


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_differs_from_run_to_run_is_left_out(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_the_failure_is_about_stays(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


FRAGMENTS = [part for pair in (*SAME, *DIFFERENT) for part in pair]


@given(
    st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from(FRAGMENTS), st.from_regex(r"[0-9a-fx:.\-/tmp{}, ]{1,20}")),
        max_size=8,
    )
)
def test_twice_is_once(parts: list[str]) -> None:
    once = normalised("".join(parts))
    assert normalised(once) == once


@given(WORDS, WORDS)
def test_plain_words_are_told_apart(one: str, other: str) -> None:
    assert (normalised(one) == normalised(other)) == (one.rstrip(" ") == other.rstrip(" "))


@given(st.text(max_size=80), st.sampled_from(SAME))
def test_equal_failures_stay_equal_inside_a_longer_message(words: str, pair: tuple[str, str]) -> None:
    one, other = pair
    assert normalised(f"{words}\n{one}\n{words}") == normalised(f"{words}\n{other}\n{words}")


def test_the_rendering_of_a_difference_does_not_count() -> None:
    one = Failure(
        "AssertionError", "own words\nassert {'a', 'b'} == set()\n  Extra items in the left set:\n  'a'\n  'b'"
    )
    other = Failure(
        "AssertionError", "own words\nassert {'b', 'a'} == set()\n  Extra items in the left set:\n  'b'\n  'a'"
    )
    assert of(one) == of(other)
    assert of(one) != of(Failure("AssertionError", "own words\nassert {'a', 'c'} == set()"))
    assert of(Failure("ValueError", "assert\none")) != of(Failure("ValueError", "assert\ntwo"))


@given(st.text(max_size=40))
def test_type_and_phase_are_part_of_it(message: str) -> None:
    plain = of(Failure("ValueError", message))
    assert plain == of(Failure("ValueError", message))
    assert plain.digest != of(Failure("KeyError", message)).digest
    assert plain.digest != of(Failure("ValueError", message, phase="setup")).digest


def test_unittest_renders_a_set_in_the_order_of_the_hash_seed() -> None:
    one = Failure("AssertionError", "Items in the first set but not the second:\n'a'\n'b'")
    other = Failure("AssertionError", "Items in the first set but not the second:\n'b'\n'a'")
    assert of(one) == of(other)
    assert of(one) != of(Failure("AssertionError", "Items in the first set but not the second:\n'a'\n'c'"))


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_the_line_is_one_bounded_line_and_the_end_counts(one: str, other: str) -> None:
    told = line(Failure("ValueError", one), "failed")
    assert len(told) <= MAX_LINE + 30
    assert len(told.splitlines()) == 1
    same = " ".join(normalised(one).split()) == " ".join(normalised(other).split())
    assert same or told != line(Failure("ValueError", other), "failed")


def test_the_line_without_fields_is_the_status() -> None:
    assert line(None, "error") == "[error]"
    long = "word " * 400
    assert line(Failure("E", long + "a"), "failed") != line(Failure("E", long + "b"), "failed")
