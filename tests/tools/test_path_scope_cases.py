"""Cases of kind path_scope: a request may reach what the contract lists, and nothing else, however it is written."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from pydantic import ValidationError

from casework import FINAL, Repository, action, contract, play
from rootproof.contract import Scope as Terms
from rootproof.place import Outside
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, ToolSpec

SECRET = "canary-outside"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.file("$OUT/private.txt", f"{SECRET}\n")
    return made.file("src/service.py", "PORT = 8080\n")


def blocked(repo: Repository, message: dict[str, object], code: str) -> None:
    """The request ends the run with this code; no tool was entered and nothing of the secret is anywhere."""
    played = play(repo, contract(), [message])
    assert played.state.status == "blocked"
    assert played.only("blocked").code == code
    assert not played.events("started") and not played.events("observed")
    played.nowhere(SECRET)


def test_ps_01_a_link_inside_that_leads_outside_is_blocked(repo: Repository) -> None:
    repo.link("docs/guide.txt", "$OUT/private.txt")
    blocked(repo, action("read_file", path="docs/guide.txt"), "out_of_scope")


def test_ps_01_a_linked_folder_that_leads_outside_is_blocked(repo: Repository) -> None:
    repo.link("docs", "$OUT/")
    blocked(repo, action("read_file", path="docs/private.txt"), "out_of_scope")


def test_ps_01_a_link_swapped_in_after_the_check_is_not_followed(repo: Repository) -> None:
    scope = Scope(repo.root, contract().scope)
    place = scope.locate("src/service.py")
    assert not isinstance(place, Outside)
    repo.path("src/service.py").unlink()
    repo.link("src/service.py", "$OUT/private.txt")
    with pytest.raises(OSError):
        scope.read(place)


def test_ps_01_a_folder_swapped_for_a_link_after_the_check_is_not_followed(repo: Repository) -> None:
    repo.file("$OUT/service.py", SECRET)
    scope = Scope(repo.root, contract().scope)
    place = scope.locate("src/service.py")
    assert not isinstance(place, Outside)
    (repo.root / "src").rename(repo.root / "old")
    repo.link("src", "$OUT/")
    with pytest.raises(OSError):
        scope.read(place)


def test_a_link_inside_that_stays_inside_is_its_target(repo: Repository) -> None:
    repo.link("current.py", "src/service.py")
    played = play(repo, contract(), [action("read_file", path="current.py")])
    assert played.only("observed").fields["path"] == "src/service.py"


@pytest.mark.parametrize(
    "path", ["../../../../etc/hostname", "src/../../outside/private.txt", "/etc/passwd", "src/../.."]
)
def test_ps_03_steps_upwards_are_blocked(repo: Repository, path: str) -> None:
    blocked(repo, action("read_file", path=path), "out_of_scope")


def test_ps_03_no_root_is_no_contract() -> None:
    with pytest.raises(ValidationError):
        contract(scope={"root": "", "read": ["**"]})


def test_ps_03_a_contract_that_lists_nothing_allows_nothing(repo: Repository) -> None:
    played = play(repo, contract(scope={"read": []}), [action("read_file", path="src/service.py")])
    assert played.only("blocked").code == "out_of_scope"


@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/stdin", "/sys/kernel/notes", "//proc/self/environ"])
def test_ps_04_the_process_environment_is_not_readable(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("RP_CANARY", SECRET)
    blocked(repo, action("read_file", path=path), "out_of_scope")


@pytest.mark.parametrize("path", ["proc/self/environ", "/proc/self/environ", "./tmp/../proc/1/environ", "dev/mem"])
def test_ps_04_system_files_are_out_even_where_the_root_is_the_whole_disk(path: str) -> None:
    place = Scope(Path("/"), Terms(read=("**",))).locate(path)
    assert isinstance(place, Outside) and place.code == "out_of_scope"


def test_ps_04_an_absolute_path_inside_the_root_is_its_relative_form(repo: Repository) -> None:
    played = play(repo, contract(), [action("read_file", path=str(repo.root / "src/service.py"))])
    assert played.only("observed").fields["path"] == "src/service.py"
    assert played.only("started").input["path"] == "src/service.py"


@pytest.mark.parametrize("name", [".ENV", ".Env", "deploy/.env.Production", "keys/Server.PEM", "keys/.SSH/known_hosts"])
def test_ps_05_secret_files_are_denied_in_any_case(repo: Repository, name: str) -> None:
    repo.file(name, f"TOKEN={SECRET}\n")
    blocked(repo, action("read_file", path=name), "sensitive_path")


def test_ps_07_a_search_passes_over_secret_files_and_says_so(repo: Repository) -> None:
    repo.file("pkg/.env.local", f"DB_SECRET={SECRET}\n").file("pkg/settings.py", "DB_SECRET = read()\n")
    repo.file("elsewhere/.env", f"DB_SECRET={SECRET}\n")
    played = play(repo, contract(), [action("search_code", query="DB_SECRET", path="pkg")])
    fields = played.only("observed").fields
    assert [(hit["path"], hit["line"]) for hit in fields["hits"]] == [("pkg/settings.py", 1)]
    assert fields["matches"] == 1 and fields["files_scanned"] == 1 and fields["skipped"] == {"sensitive": 1}
    played.nowhere(SECRET)


def test_ps_07_a_secret_file_named_as_the_place_to_search_is_blocked(repo: Repository) -> None:
    repo.file("pkg/.env.local", f"DB_SECRET={SECRET}\n")
    blocked(repo, action("search_code", query="DB_SECRET", path="pkg/.env.local"), "sensitive_path")


def test_ps_07_a_link_to_a_secret_file_is_not_a_way_round(repo: Repository) -> None:
    repo.file(".env", f"DB_SECRET={SECRET}\n").link("notes.txt", ".env")
    blocked(repo, action("read_file", path="notes.txt"), "sensitive_path")
    played = play(repo, contract(), [action("search_code", query="DB_SECRET")])
    assert played.only("observed").fields["matches"] == 0
    played.nowhere(SECRET)


def test_ps_08_a_nul_in_a_path_is_refused_before_anything_is_asked_of_the_system(repo: Repository) -> None:
    blocked(repo, action("read_file", path="src/service.py\x00.md"), "bad_path")


@pytest.mark.parametrize(
    "path", ["src\\..\\..\\private.txt", "C:private.txt", "c:/private.txt", "\\\\host\\share\\a.txt"]
)
def test_ps_10_other_systems_ways_of_writing_paths_are_refused(repo: Repository, path: str) -> None:
    blocked(repo, action("read_file", path=path), "bad_path")


def test_ps_12_a_pipe_is_an_invalid_action_and_is_never_opened(repo: Repository) -> None:
    repo.pipe("run/events")
    played = play(repo, contract(budget={"max_steps": 1}), [action("read_file", path="run/events")])
    rejected = played.only("rejected")
    assert "not a regular file" in rejected.reason
    assert played.state.status == "max_steps" and not played.events("started")


def test_ps_12_a_pipe_put_in_place_of_a_file_after_the_check_does_not_hang(repo: Repository) -> None:
    scope = Scope(repo.root, contract().scope)
    place = scope.locate("src/service.py")
    assert not isinstance(place, Outside)
    repo.path("src/service.py").unlink()
    repo.pipe("src/service.py")
    with pytest.raises(OSError):
        scope.read(place)


def test_ps_12_a_search_passes_over_pipes_and_sockets(repo: Repository) -> None:
    repo.pipe("src/events")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(repo.root / "src")  # the name of a socket has to be short
        try:
            listener.bind("port")
        finally:
            os.chdir(here)
        fields = play(repo, contract(), [action("search_code", query="PORT")]).only("observed").fields
    assert fields["matches"] == 1 and fields["skipped"] == {"special": 2}


class Unentered:
    """A test tool that must not be entered."""

    spec = ToolSpec(
        name="run_test",
        version="1",
        doc="Runs a test.",
        fields=(Field("test", "name", "a test id", of="tests"),),
        results=(Result("test", "text", "the test", required=True),),
        echoes=("test",),
        repeatable=True,
    )

    def run(self, request: Request) -> Observation | Declined:
        raise AssertionError("entered")


@pytest.mark.parametrize(
    "test", ["@.env", "-p", "--rootdir=/", "@test_app.py", "../test_app.py::test_a", "test_app.py\x00"]
)
def test_ps_13_a_test_id_that_a_runner_would_take_for_something_else_is_blocked(repo: Repository, test: str) -> None:
    repo.file(".env", f"TOKEN={SECRET}\n").file("test_app.py", "def test_a():\n    pass\n")
    terms = contract(tools={"run_test": {}}, scope={"read": ["**"], "tests": ["**"]})
    played = play(repo, terms, [action("run_test", test=test)], tools={"run_test": Unentered()})
    assert played.only("blocked").code == "bad_test_id" and played.state.status == "blocked"
    assert not played.events("started")
    played.nowhere(SECRET)


def test_ps_15_a_wildcard_is_a_literal_name(repo: Repository) -> None:
    played = play(repo, contract(), [action("read_file", path="src/*.py"), FINAL])
    assert "there is no" in played.events("rejected")[0].reason
    assert not played.events("started")
    repo.file("src/*.py", "x = 'the star'\n")
    played = play(repo, contract(), [action("read_file", path="src/*.py")])
    assert "the star" in played.only("observed").fields["content"]
