"""Captures: what is kept is bounded, what is counted and digested is everything."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from rootproof.sandbox.capture import Keeper, Pipe


@given(st.lists(st.binary(max_size=40)), st.integers(0, 50))
def test_head_and_tail_are_the_ends_of_what_was_written(pieces: list[bytes], cap: int) -> None:
    keeper = Keeper(cap)
    for piece in pieces:
        keeper.feed(piece)
    whole, kept = b"".join(pieces), keeper.done()
    assert kept.total == len(whole)
    assert kept.sha256 == hashlib.sha256(whole).hexdigest()
    assert len(kept.head) + len(kept.tail) == min(cap, len(whole))
    assert whole.startswith(kept.head) and whole.endswith(kept.tail)
    assert kept.dropped == len(whole) - min(cap, len(whole))


@given(st.lists(st.binary(max_size=40)), st.integers(0, 50))
def test_a_channel_keeps_its_beginning(pieces: list[bytes], cap: int) -> None:
    keeper = Keeper(cap, head_only=True)
    for piece in pieces:
        keeper.feed(piece)
    assert keeper.done().head == b"".join(pieces)[:cap]
    assert keeper.done().tail == b""


def test_a_cut_is_stated_with_its_size() -> None:
    keeper = Keeper(4)
    keeper.feed(b"abcdefgh")
    assert keeper.done().text() == "ab\n[... 4 bytes dropped ...]\ngh"


def test_draining_does_not_wait_for_a_writer_that_stays() -> None:
    pipe = Pipe(100)
    import os

    os.write(pipe.write, b"left")
    pipe.drain()
    assert pipe.keeper.done().head == b"left"
    pipe.close()
    pipe.close()
