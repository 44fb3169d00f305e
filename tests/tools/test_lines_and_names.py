"""One rule for what a line is, and names that can always be told apart: over texts and names of any kind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from casework import contract
from rootproof import pattern, text
from rootproof.contract import ALWAYS_DENIED
from rootproof.encoding import decode, is_binary
from rootproof.scope import Scope
from rootproof.tools.interface import Observation, Request
from rootproof.tools.read_file import ReadFile
from rootproof.tools.search_code import SearchCode

PIECES = [
    "T",
    "a",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\t",
    "é",
    "中",
    "\x00",
    "\U000e0041",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


@contextmanager
def tree(files: list[bytes]) -> Iterator[Scope]:
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(files):
            (Path(folder) / f"{number}.txt").write_bytes(data)
        yield Scope(Path(folder), contract().scope)


def read(scope: Scope, path: str, **lines: int) -> Observation:
    place = scope.locate(path)
    answer = ReadFile(scope, {}).run(Request("read_file", {"path": path, **lines}, {"path": place}))  # type: ignore[dict-item]
    assert isinstance(answer, Observation)
    return answer


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(TEXTS, ENCODINGS), min_size=1, max_size=8), st.sampled_from(["terms", "literal", "regex"]))
@example([("T\r\nT\rT\x0cT\u2028T\n\nT", "utf-8"), ("T\r\nT", "utf-16"), ("T\nT\n", "utf-8-sig")], "regex")
def test_reading_searching_and_the_rule_for_lines_agree(files: list[tuple[str, str]], mode: str) -> None:
    data = [(" " * 8_000 + body if "\x00" in body else body).encode(codec) for body, codec in files]
    with tree(data) as scope:
        asked = {"query": "T", "path": None, "mode": mode, "ignore_case": False, "max_results": 50}
        found = SearchCode(scope, {}).run(Request("search_code", asked, {}))
        assert isinstance(found, Observation)
        hits = {(hit["path"], hit["line"]): hit["text"] for hit in found.fields["hits"]}  # type: ignore[attr-defined]
        matching = 0
        for number, whole in enumerate(data):
            lines = text.lines(decode(whole).text)
            observed = read(scope, f"{number}.txt").fields
            shown = str(observed["content"]).split("\n") if lines else []
            assert observed["total_lines"] == observed["last_line"] == len(lines) == len(shown)
            for at, (line, seen) in enumerate(zip(lines, shown, strict=True), 1):
                assert len(line) > 2_000 or seen == text.visible(line)
                matching += "T" in line
                if (f"{number}.txt", at) in hits:
                    assert ("T" in line and len(line) > 500) or hits[f"{number}.txt", at] == text.visible(line)
        assert found.fields["matches"] == matching
        assert len(hits) == min(matching, 50) == found.fields["shown"]


@settings(max_examples=60, deadline=None)
@given(TEXTS.filter(bool), st.integers(1, 12), st.integers(0, 12))
def test_a_range_of_lines_is_that_part_of_the_whole(body: str, start: int, more: int) -> None:
    body = body.replace("\x00", "")
    lines = text.lines(body)
    if not 1 <= start <= len(lines):
        return
    with tree([body.encode()]) as scope:
        observed = read(scope, "0.txt", start=start, end=start + more)
        expected = lines[start - 1 : start + more]
        assert str(observed.fields["content"]).split("\n") == [text.visible(line) for line in expected]
        assert (observed.fields["first_line"], observed.fields["last_line"]) == (start, start + len(expected) - 1)
        assert observed.attachments["0.txt"] == body.encode()


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200) | TEXTS.map(str.encode),
    st.lists(st.sampled_from(["gbk", "big5", "latin-1", "nonsense"]), max_size=3),
)
@example(b"\xff\xfea\x00\x00\xd8", [])
@example(b"\xef\xbb\xbf\xff\xff", [])
@example(b"# coding: iso2022_jp\n\x1b$B0!\n", [])
def test_any_bytes_become_text_and_the_encoding_named_gives_it_again(data: bytes, listed: list[str]) -> None:
    decoded = decode(data, listed)
    assert data.decode(decoded.encoding, "backslashreplace") == decoded.text
    assert bool(decoded.bad) <= (not decoded.certain)
    decoded.text.encode()
    is_binary(data)


NAMES = st.text(
    st.sampled_from("ax\\/\u00e9\u0085\u00ad\u200b\udc85\udcff\x07\n \U000e0041\u0301"), min_size=1, max_size=6
)


@settings(max_examples=500, deadline=None)
@given(NAMES, NAMES)
@example("\x85", "\udc85")
@example("\\xff", "\udcff")
@example("\\u0085", "\x85")
def test_different_names_are_shown_differently(one: str, other: str) -> None:
    assert (text.show_path(one) == text.show_path(other)) == (one == other)
    text.show_path(one).encode()


def denied_by_the_letter(path: str) -> bool:
    """The rule as it is written: a pattern names the path, a folder above it, an end of it, or one part."""
    parts = path.split("/")
    whole = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    tails = ["/".join(parts[n:]) for n in range(len(parts))]
    return any(pattern.matches(one, name, folded=True) for one in ALWAYS_DENIED for name in (*whole, *tails, *parts))


SECRET_PARTS = (
    ".env .ENV.local a.env env .aws credentials .ssh id_rsa Id_Rsa.pub x.pem pem .git config .docker config.json"
)
PARTS = st.sampled_from([*SECRET_PARTS.split(), "src", "app.py", "my_token_1.TXT", "token.txt.py", "a\nb", "é"])


@settings(max_examples=400, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=5).map("/".join))
def test_secrets_are_denied_by_the_letter(path: str) -> None:
    if denied_by_the_letter(path):
        assert pattern.denied(path, ALWAYS_DENIED)
    assert not pattern.denied("src/environment.py", ALWAYS_DENIED)


def test_a_name_that_is_no_utf_8_has_one_form_everywhere(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("x = 1\n")
    scope = Scope(tmp_path, contract().scope)
    assert [text.show_path(name) for name in scope.files()] == list(scope.manifest()) == ["\\xff.py"]
