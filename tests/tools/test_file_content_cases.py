"""Cases of kind file_content: what is shown is what the file holds, and where it is a guess it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from casework import FINAL, Played, Repository, action, contract, play
from rootproof import canonical


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def read(repo: Repository, path: str, settings: dict[str, object] | None = None, **lines: int) -> Played:
    terms = contract(tools={"read_file": settings or {}})
    return play(repo, terms, [action("read_file", path=path, **lines)])


def test_fi_01_gbk_is_read_as_the_run_was_told_and_called_a_guess(repo: Repository) -> None:
    data = "# 登录失败以后\nTIMEOUT = 30\n".encode("gbk")
    repo.file("src/login.py", data)
    observed = read(repo, "src/login.py", {"encodings": "utf-8, gbk"}).only("observed")
    assert observed.fields["encoding"] == "gbk" and observed.fields["encoding_certain"] is False
    assert "encoding_guessed" in observed.flags and "(a guess)" in observed.excerpt
    assert observed.fields["content"].split("\n") == ["# 登录失败以后", "TIMEOUT = 30"]
    assert observed.fields["digest"] == canonical.digest_bytes(data)


def test_fi_01_a_coding_line_is_certain_and_comes_before_the_list(repo: Repository) -> None:
    repo.file("src/login.py", "# -*- coding: big5 -*-\nNAME = '登入'\n".encode("big5"))
    observed = read(repo, "src/login.py", {"encodings": "gbk"}).only("observed")
    assert observed.fields["encoding"] == "big5" and observed.fields["encoding_certain"] is True
    assert observed.fields["content"].endswith("NAME = '登入'")


def test_fi_01_utf_8_is_never_guessed_to_be_something_else(repo: Repository) -> None:
    repo.file("src/login.py", "# 登录失败以后\n")
    fields = read(repo, "src/login.py", {"encodings": "gbk, latin-1"}).only("observed").fields
    assert fields["encoding"] == "utf-8" and fields["encoding_certain"] is True


def test_fi_01_a_file_that_lies_about_its_encoding_is_flagged(repo: Repository) -> None:
    repo.file("a.py", "# coding: ascii\nx = 'é'\n")
    observed = read(repo, "a.py").only("observed")
    assert observed.fields["encoding"] == "utf-8" and observed.fields["encoding_certain"] is False
    assert "encoding_declaration_wrong" in observed.flags


@pytest.mark.parametrize("name", ["unicode_escape", "utf-7", "rot13", "hex", "undefined", "idna", "hz", "no-such"])
def test_a_file_cannot_choose_an_encoding_that_runs_escapes_of_its_own(repo: Repository, name: str) -> None:
    repo.file("a.py", f"# coding: {name}\nx = '\\x41+AEE-'\n")
    fields = read(repo, "a.py").only("observed").fields
    assert fields["encoding"] == "utf-8" and fields["content"].endswith("x = '\\x41+AEE-'")


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_decides(repo: Repository, codec: str) -> None:
    repo.file("a.txt", "first é\nsecond\n".encode(codec))
    fields = read(repo, "a.txt").only("observed").fields
    assert (fields["encoding"], fields["encoding_certain"], fields["total_lines"]) == (codec, True, 2)
    assert fields["content"] == "first é\nsecond"


def test_a_capture_reads_a_file_in_the_encoding_it_was_shown_in(repo: Repository) -> None:
    repo.file("a.py", "# 注释\nWER = '登录'\n".encode("gbk"))
    item = {"id": "named", "tool": "read_file", "capture": "WER = '(?P<who>[^']*)'"}
    terms = contract(tools={"read_file": {"encodings": "gbk"}}, evidence=[item], completion={"all": ["who == '登录'"]})
    played = play(repo, terms, [action("read_file", path="a.py")])
    assert played.state.status == "success"
    fact = played.state.fact("who")
    assert fact is not None and fact.source is not None and fact.source.line == 2


def test_fi_03_one_bad_byte_is_shown_with_its_place(repo: Repository) -> None:
    repo.file("src/name.py", b'TITLE = "na\xefve"\nSIZE = 2\n')
    observed = read(repo, "src/name.py").only("observed")
    assert observed.fields["encoding"] == "utf-8" and observed.fields["encoding_certain"] is False
    assert observed.flags == ("undecodable_bytes",)
    assert observed.fields["bad_bytes"] == [{"line": 1, "offset": 11}]
    assert observed.fields["content"] == 'TITLE = "na\\xefve"\nSIZE = 2'


def test_fi_03_bad_bytes_on_later_lines_have_their_line_and_their_offset_in_the_file(repo: Repository) -> None:
    repo.file("a.txt", "é\n".encode() * 50 + b"x\xff\n" + b"\xfe" * 30)
    bad = read(repo, "a.txt").only("observed").fields["bad_bytes"]
    assert bad[:2] == [{"line": 51, "offset": 151}, {"line": 52, "offset": 153}] and len(bad) == 20


def search(repo: Repository, **arguments: object) -> Played:
    return play(repo, contract(), [action("search_code", **arguments)])


def test_fi_05_a_hit_in_a_minified_file_is_cut_around_the_match(repo: Repository) -> None:
    repo.generated("static/bundle.js", "", "let b=2;", 80_000, "target()")
    observed = search(repo, query="target").only("observed")
    (hit,) = observed.fields["hits"]
    assert hit["clipped"] is True and len(hit["text"].encode()) <= 512 and "target()" in hit["text"]
    assert hit["column"] == 640_001 and hit["line"] == 1
    assert observed.fields["truncated"] is False and observed.fields["matches"] == 1
    assert len(observed.excerpt) < 2_000


def test_fi_05_a_match_everywhere_in_a_long_line_is_one_bounded_hit(repo: Repository) -> None:
    repo.generated("a.txt", "", "\U000e0041", 400_000, "\n")
    observed = search(repo, query=r"\x{E0041}", mode="regex").only("observed")
    (hit,) = observed.fields["hits"]
    assert len(hit["text"].encode()) <= 512 and hit["clipped"] and "invisible_characters" in observed.flags


def test_fi_07_links_are_counted_and_not_followed(repo: Repository) -> None:
    repo.file("pkg/module.py", "target = 1\n").link("pkg/pkg", ".").link("pkg/loop", "loop")
    fields = search(repo, query="target").only("observed").fields
    assert fields["matches"] == 1 and fields["skipped"] == {"symlink": 2}


def test_fi_07_a_loop_of_links_as_a_path_is_refused_in_words(repo: Repository) -> None:
    repo.file("a.py", "x = 1\n").link("one", "two").link("two", "one")
    played = read(repo, "one/a.py")
    assert played.state.status in ("blocked", "max_steps", "failed") and not played.events("started")


def test_fi_08_an_edit_that_keeps_the_times_makes_the_fact_stale(repo: Repository) -> None:
    repo.file("src/limit.py", "RETRIES = 5\n")
    item = {"id": "limit", "tool": "read_file", "capture": r"RETRIES = (?P<retries>\d+)"}
    terms = contract(budget={"max_steps": 2}, evidence=[item], completion={"all": ["retries == '5'"]})

    def edit(view: dict[str, object]) -> dict[str, str]:
        repo.rewrite_same_time("src/limit.py", "RETRIES = 9\n")
        return FINAL

    played = play(repo, terms, [action("read_file", path="src/limit.py"), edit])
    judged = played.only("final")
    assert not judged.accepted and judged.stale == ("src/limit.py",)
    fact = played.state.fact("retries")
    assert fact is not None and fact.standing == "stale" and played.state.status == "max_steps"


def test_fi_08_an_edit_between_two_reads_gives_a_stale_observation_and_no_fact(repo: Repository) -> None:
    repo.file("src/limit.py", "RETRIES = 5\n")

    def edit(view: dict[str, object]) -> dict[str, object]:
        repo.rewrite_same_time("src/limit.py", "RETRIES = 9\n")
        return action("read_file", path="src/limit.py")

    played = play(repo, contract(), [edit])
    assert played.only("observed").stale == ("src/limit.py",)
    assert played.state.facts == {}


ODD = b"src/\xff\xfe.py"


def test_fi_10_a_name_that_is_not_utf_8_is_shown_reversibly(repo: Repository) -> None:
    repo.file(ODD, "target = 1\n").file("src/\\xff\\xfe.py", "target = 2\n")
    played = search(repo, query="target")
    observed = played.only("observed")
    shown = [hit["path"] for hit in observed.fields["hits"]]
    assert sorted(shown) == ["src/\\\\xff\\\\xfe.py", "src/\\xff\\xfe.py"]
    assert "unaddressable_paths" in observed.flags
    assert set(played.only("began").scope) == set(shown)


@pytest.mark.parametrize("name", ["src/a\nb.py", "src/\x1b[31mred.py", "src/-rf", "--pre=x", "src/ ", "-"])
def test_fi_10_names_that_hold_controls_or_look_like_options_do_no_harm(repo: Repository, name: str) -> None:
    repo.file(name, "target = 1\n")
    observed = search(repo, query="target").only("observed")
    assert observed.fields["matches"] == 1 and len(observed.excerpt.split("\n")) == 2
    assert "\x1b" not in observed.excerpt


def test_fi_11_names_that_look_the_same_are_both_listed_and_told_apart(repo: Repository) -> None:
    repo.file("src/\u00e9.py", "target = 'one'\n").file("src/e\u0301.py", "target = 'two'\n")
    observed = search(repo, query="target").only("observed")
    assert observed.fields["matches"] == 2 and "lookalike_paths" in observed.flags
    assert {hit["spelled"] for hit in observed.fields["hits"]} == {"src/\\xe9.py", "src/e\\u0301.py"}
    assert "e\\u0301" in observed.excerpt


def test_fi_12_a_last_line_without_its_newline_is_a_line(repo: Repository) -> None:
    repo.file("a.py", "one = 1\ntwo = 2")
    observed = read(repo, "a.py").only("observed")
    assert observed.fields["total_lines"] == 2 and observed.flags == ("no_final_newline",)
    assert observed.fields["content"].split("\n")[1] == "two = 2"


def test_fi_12_an_empty_file_is_a_success_without_lines(repo: Repository) -> None:
    repo.file("empty.py", "")
    played = read(repo, "empty.py")
    fields = played.only("observed").fields
    assert (fields["total_lines"], fields["first_line"], fields["last_line"], fields["content"]) == (0, 0, 0, "")
    assert [fact.name for fact in played.state.facts.values()] == ["files_read"]


def test_fi_12_a_range_beyond_the_end_is_refused_with_the_true_length(repo: Repository) -> None:
    repo.file("a.py", "one = 1\ntwo = 2")
    rejected = read(repo, "a.py", start=3).events("rejected")[0]
    assert "2 lines" in rejected.reason and "1 to 2" in rejected.hint


def test_fi_12_an_end_beyond_the_end_means_to_the_end(repo: Repository) -> None:
    repo.file("a.py", "one = 1\ntwo = 2")
    fields = read(repo, "a.py", start=2, end=90).only("observed").fields
    assert (fields["first_line"], fields["last_line"], fields["content"]) == (2, 2, "two = 2")
