"""A store that cannot be used, and a folder that means harm: named with a remedy; nothing is run, nothing is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.cli import program
from gate.reference import Store, action
from gate.spoiled import Place, nobody


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for a lock than a user would."""
    monkeypatch.setattr("rootproof.ledger.sqlite.BUSY_SECONDS", 0.05)


@pytest.fixture
def locked(store: Store, place: Place, short_wait: None) -> Iterator[sqlite3.Connection]:
    """A store with one run, whose write lock somebody holds."""
    store.play()
    connection = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


@pytest.mark.contained
def test_a_locked_store_is_busy_before_anything_is_run(place: Place, locked: sqlite3.Connection) -> None:
    place.run().clear(8, "is locked by another process", "wait for the other process")
    assert place.cli("show", "last").code == 0, "reading goes on"


def test_a_lock_that_is_let_go_in_time_costs_nothing(
    store: Store, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootproof.ledger.sqlite.BUSY_SECONDS", 30.0)
    timer = threading.Timer(0.3, locked.execute, ("COMMIT",))
    timer.start()
    assert store.play().status == "success"
    timer.join()


@pytest.mark.contained
@pytest.mark.parametrize("where", ["/proc/rootproof/runs.sqlite3", "/dev/null/runs.sqlite3"])
def test_a_store_that_cannot_be_written(place: Place, where: str) -> None:
    place.cli.store = Path(where)
    place.run().clear(8, where, "--store")


def test_a_store_that_is_read_only(store: Store, place: Place, shared: Path) -> None:
    run = store.play().outcome.run
    assert place.cli("show", run).code == 0 and place.cli("resume", run).code == 0
    place.cli.store = shared / "runs.sqlite3"
    shutil.copy(store.path, place.cli.store)
    place.cli.store.chmod(0o444)
    shared.chmod(0o555)
    with nobody():
        place.cli("resume", run).clear(8, str(place.cli.store), "writable", "--store")


@pytest.mark.contained
def test_a_store_that_is_a_folder_or_not_there(place: Place, tmp_path: Path) -> None:
    place.cli.store = tmp_path
    place.run().clear(8, "--store")
    place.cli.store = tmp_path / "none.sqlite3"
    place.cli("show", "last").clear(2, "there is no store at")
    place.cli("runs").clear(2, "there is no store at")
    assert not place.cli.store.exists()


@pytest.mark.contained
def test_a_store_that_is_no_store(place: Place, tmp_path: Path) -> None:
    place.cli.store = tmp_path / "notes.txt"
    place.cli.store.write_text("my notes, which are no database\n" * 50)
    place.run().clear(1, "notes.txt", "--store")
    assert place.cli.store.read_text().startswith("my notes")


@pytest.mark.contained
def test_the_database_of_another_program_is_left_alone(place: Place, tmp_path: Path) -> None:
    place.cli.store = tmp_path / "other.sqlite3"
    with sqlite3.connect(place.cli.store) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
    other.close()
    before = place.cli.store.read_bytes()
    place.run().clear(1, "other.sqlite3", "not a rootproof store")
    place.cli("show", "last").clear(1, "not a rootproof store")
    assert place.cli.store.read_bytes() == before


@pytest.mark.contained
def test_a_store_of_a_newer_version_is_shown_but_not_written(place: Place, store: Store) -> None:
    run = store.play().outcome.run
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE meta SET value = '2' WHERE key = 'schema'")
    connection.close()
    place.run().clear(8, "schema 2", "later")
    place.cli("resume", run, "--model", "human").clear(8, "schema 2")
    assert "status=success" in place.cli("show", run).out


# Hostile folders.


def test_modules_of_the_current_folder_are_never_imported(tmp_path: Path) -> None:
    names = "typer click pydantic rich jinja2 json typing pathlib __future__ sqlite3 dataclasses tomllib hashlib re2"
    for name in names.split():
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w').write({name!r})\n")
    said = program("check", cwd=tmp_path, PYTHONDONTWRITEBYTECODE="1")
    said.clear(2, "no contract is named")
    assert not (tmp_path / "canary").exists()


@pytest.mark.contained
def test_the_configuration_of_a_repository_starts_nothing(place: Place, tmp_path: Path) -> None:
    command = f"touch {tmp_path / 'owned'}"
    config = (
        f'[core]\n fsmonitor = "{command}"\n hooksPath = hooks\n pager = "{command}"\n[diff]\n external = "{command}"\n'
    )
    for name, text in {
        ".git/config": config,
        ".git/HEAD": "ref: refs/heads/main\n",
        ".gitattributes": "* diff=x\n",
    }.items():
        (place.root / name).parent.mkdir(exist_ok=True)
        (place.root / name).write_text(text)
    (place.root / "hooks").mkdir()
    (place.root / "hooks" / "post-checkout").write_text(f"#!/bin/sh\n{command}\n")
    (place.root / "hooks" / "post-checkout").chmod(0o755)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([action("read_file", path=".git/config")]))
    assert place.cli("check", place.file, store=False).code == 0
    said = place.cli("run", place.file, "--model", f"scripted:{script}", "--python", "/nowhere")
    assert said.code == 3 and "blocked" in said.out, said.err
    assert not (tmp_path / "owned").exists()
