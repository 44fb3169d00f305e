"""Keys in JavaScript and TypeScript: which texts are keys, which one line is the other side, and what stays planted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.experiments import script_source
from rootproof.experiments.change import Edit
from rootproof.experiments.literal import key
from rootproof.experiments.record import Span
from rootproof.experiments.script_tokens import KeyUse, key_uses, other_side

WRITER = b"export function enter(s, page) {\n  s['wanted'] = page\n}\n"
READER = "export const back = (s) =>\n  s['next'] ?? '/'\n"
EDIT = Edit("back.ts", 2, 2, "  s['next'] ?? '/'\n", "  s['wanted'] ?? '/'\n", "free")
CHANGED = {"back.ts": READER.replace("next", "wanted").encode()}


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("s['a'] = 1", [("a", True)]),
        ("x = s['a']", [("a", False)]),
        ("s?.['a'] === 1", [("a", False)]),
        ("s['a'] == 1; t()['b'] = 2", [("a", False), ("b", True)]),
        ("m.get('a'); m.set('b', 1)", [("a", False), ("b", True)]),
        ("delete s['a']", []),
        ("m.has('a')", []),
        ("const list = ['a']; return ['b']", []),
        ("f('a'); get('b')", []),
        ("// s['a'] = 1\n/* s['b'] */ 's[\\'c\\']'", []),
        ("({ 'a': 1, b: 2 })", []),
        ("", []),
    ],
)
def test_what_is_a_key(source: str, uses: list[tuple[str, bool]]) -> None:
    assert [(use.word, use.writes) for use in key_uses(source.encode())] == uses


def test_a_key_knows_its_line() -> None:
    assert list(key_uses(b"\n\nlet x =\n  s['a']\n")) == [KeyUse("a", 4, False)]


@given(st.binary(max_size=200))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    assert all(use.line >= 1 for use in key_uses(data))


def test_the_only_writer_of_the_key_is_the_other_side() -> None:
    sources = {"back.ts": READER.encode(), "enter.ts": WRITER, "more.ts": b"log(s['wanted'])\n"}
    assert other_side([EDIT], CHANGED, sources) == Span("enter.ts", 2, 2, "enter.ts")


def test_of_several_writers_none_is_the_other_side() -> None:
    sources = {"back.ts": READER.encode(), "enter.ts": WRITER, "other.ts": WRITER}
    assert other_side([EDIT], CHANGED, sources) is None


def test_a_key_that_was_read_before_gives_no_other_side() -> None:
    both = b"f(s['wanted'])\n"
    sources = {"back.ts": READER.encode() + both, "enter.ts": WRITER}
    changed = {"back.ts": CHANGED["back.ts"] + both}
    assert other_side([EDIT], changed, sources) is None


@pytest.mark.parametrize(
    ("new", "masked"),
    [
        ("  s['wanted'] ?? '/'\n", False),
        ("  'wanted'\n", True),
        ("  s['wanted'] ? 'wanted' : '/'\n", True),
        ("  f(['wanted'])\n", True),
        ("  ({ get: (x) => x }).get('wanted')\n", True),
        ("  new Proxy({}, { get: (of, name) => name })['wanted']\n", True),
        ("  Object.keys([{}].map((each) => (each['wanted'] = 1) && each)[0])[0]\n", True),
        ("  s['wanted'] ?? s['next'] ?? '/'\n", True),
    ],
)
def test_an_operand_is_planted_unless_it_is_nothing_but_the_other_sides_key(new: str, masked: bool) -> None:
    changed = READER.replace("  s['next'] ?? '/'\n", new).encode()
    found = list(script_source.broken(READER.encode(), changed, ["  s['wanted'] = page\n"], {key("wanted"): "wanted"}))
    assert [rule for rule, _, _ in found] == (["planted_value"] if masked else [])
    alone = list(script_source.broken(READER.encode(), changed, [], {key("wanted"): "wanted"}))
    assert [rule for rule, _, _ in alone] == ["planted_value"], "without the other side nothing is known"


def test_another_value_of_the_other_sides_line_stays_planted() -> None:
    changed = READER.replace("s['next'] ?? '/'", "s['wanted'] ?? '/settings'").encode()
    operands = {key("/settings"): "/settings"}
    found = script_source.broken(READER.encode(), changed, ["  s['wanted'] = '/settings'\n"], operands)
    assert [rule for rule, _, _ in found] == ["planted_value"]
