"""The map of the scope: what is in, what is passed over, and never more than fits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from casework import Repository, action, contract, play
from rootproof.contract import Scope as Terms
from rootproof.scope import Scope
from rootproof.survey import Survey


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.file("src/app.py", "x = 1\n").file("src/web/page.py", "yy = 2\n").file("README.md", "hello\n")
    made.file("src/.env", "TOKEN=canary\n").file("node_modules/lib/index.js", "z\n").file(".git/config", "canary\n")
    return made.file("tests/test_app.py", "def test_a(): ...\n").link("src/link.py", "app.py").pipe("src/pipe")


def listed(repo: Repository, scope: dict[str, Any], **arguments: Any) -> Any:
    terms = contract(tools={"list_files": {}}, scope=scope)
    return play(repo, terms, [action("list_files", **arguments)])


def survey(repo: Repository, **terms: Any) -> Survey:
    return Scope(repo.root, Terms(**terms)).survey()


def test_everything_is_counted_in_its_own_place(repo: Repository) -> None:
    played = listed(repo, {"read": ["**/*.py", "**/.env", "**/pipe"], "tests": ["tests/test_app.py"]})
    fields = played.only("observed").fields
    assert [entry["path"] for entry in fields["entries"]] == ["src/app.py", "src/web/page.py", "tests/test_app.py"]
    assert (fields["files"], fields["bytes"], fields["shown"], fields["truncated"]) == (3, 31, 3, False)
    assert fields["folders"] == {"src": 2, "src/web": 1, "tests": 1}
    assert fields["skipped"] == {"sensitive": 1, "symlink": 1, "special": 1}
    played.nowhere("canary")


def test_a_test_that_may_be_run_and_not_read_is_listed_as_such(repo: Repository) -> None:
    observed = listed(repo, {"read": ["src/*.py"], "tests": ["tests/test_app.py::test_a"]}).only("observed")
    assert [(one["path"], one["readable"]) for one in observed.fields["entries"]] == [
        ("src/app.py", True),
        ("tests/test_app.py", False),
    ]
    assert "test only" in observed.excerpt


def test_a_folder_and_a_glob_narrow_the_list(repo: Repository) -> None:
    def names(**arguments: Any) -> list[str]:
        found = listed(repo, {"read": ["**"]}, **arguments).only("observed").fields
        return [entry["path"] for entry in found["entries"]]

    assert names(path="src/web") == ["src/web/page.py"]
    assert names(glob="*.md") == ["README.md"]
    assert names(path="src", glob="**/page.*") == ["src/web/page.py"]


def test_nothing_that_fits_is_said_in_words(repo: Repository) -> None:
    rejected = listed(repo, {"read": ["**"]}, glob="*.rs").events("rejected")[0]
    assert "there is no file in the scope that fits" in rejected.reason


def test_a_long_list_is_cut_and_its_total_is_exact(repo: Repository) -> None:
    for number in range(300):
        repo.file(f"many/{'n' * 60}{number:03}.txt", "")
    fields = listed(repo, {"read": ["many/**"]}, max_results=200).only("observed").fields
    assert fields["files"] == 300 and 0 < fields["shown"] < 200 and fields["truncated"] is True


def test_folders_of_tools_are_entered_only_where_a_glob_names_them(repo: Repository) -> None:
    assert not [path for path in survey(repo, read=("**",)).read if "node_modules" in path or ".git" in path]
    assert survey(repo, read=("node_modules/**",)).read == ("node_modules/lib/index.js",)
    named = survey(repo, read=(".git/**", ".git/config"))
    assert named.read == () and named.secret == (".git/config",)


def test_what_no_path_of_the_contract_names_is_not_counted(repo: Repository) -> None:
    assert survey(repo, read=("src/web/*.py",)) == Survey(read=("src/web/page.py",))
    assert survey(repo, read=("README.md",)) == Survey(read=("README.md",))
    assert survey(repo, read=("src/link.py", "nowhere.py", "src")) == Survey(links=("src/link.py",))


def test_an_exact_path_through_a_linked_folder_is_not_in_scope(repo: Repository) -> None:
    repo.link("shortcut", "src")
    assert survey(repo, read=("shortcut/app.py",)) == Survey(links=("shortcut/app.py",))


def test_a_folder_that_cannot_be_listed_is_named(repo: Repository) -> None:
    inner = os.open(repo.root, os.O_PATH)
    for _ in range(20):  # deeper than any path may be long
        os.mkdir("d" * 250, dir_fd=inner)
        outer, inner = inner, os.open("d" * 250, os.O_PATH, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    (closed,) = survey(repo, read=("**/*.py",)).closed
    assert closed.startswith("d" * 250)
    fields = play(repo, contract(), [action("search_code", query="zzz")]).only("observed").fields
    assert fields["complete"] is False and fields["skipped"]["closed_folders"] == 1
    assert "matches" not in fields and fields["found_so_far"] == 0
