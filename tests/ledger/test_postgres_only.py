"""What only a store on a server has: an address with a password, a server that goes away, rights, other machines."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from gate.cli import program
from gate.reference import DOCUMENT, policy, project, simulated
from postgres import PASSWORD, QUOTED, Cluster
from rootproof import assemble
from rootproof.errors import RootproofError, StoreBusy, StoreDamaged, StoreReadOnly, StoreUnreachable, UsageError
from rootproof.event import Event
from rootproof.ledger import lease
from rootproof.models.scripted import Scripted
from rootproof.state import State


def options(url: str, *listeners: object) -> assemble.Options:
    tools = simulated()
    return assemble.Options(store=url, model=Scripted(policy), tools=tools, listeners=listeners)  # type: ignore[arg-type]


def quiet(error: RootproofError) -> str:
    """An error's words, also those of its traceback, which must hold no password."""
    words = "".join(traceback.format_exception(error)) + error.remedy
    for secret in (PASSWORD, QUOTED, "canary"):
        assert secret not in words, words
    return words


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("postgresql://u:p%zzcanary@h/d", UsageError, "cannot be read"),
        ("postgresql://u:canary@h:port/d", StoreUnreachable, "port"),
        ("postgresql://u:canary@127.0.0.1:1/d", StoreUnreachable, "postgresql://u@127.0.0.1:1/d"),
        ("mysql://u:canary@h/d", UsageError, "no store is called mysql://"),
    ],
)
def test_an_address_that_leads_nowhere(url: str, kind: type[RootproofError], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        assemble.open_store(url)
    quiet(raised.value)


def test_a_wrong_password_or_database_is_named_without_the_password(server: Cluster) -> None:
    for url in (server.url("postgres", "canary-wrong"), server.url("nowhere")):
        with pytest.raises(StoreUnreachable) as raised:
            assemble.open_store(url)
        assert "rootproof@127.0.0.1" in quiet(raised.value)


def test_no_password_is_in_what_the_command_line_says_or_the_ledger_holds(server: Cluster, tmp_path: Path) -> None:
    import psycopg

    url, root = server.database(), project(tmp_path / "project")
    leaky = simulated()
    answer = leaky["search_code"].answer

    def leak(request: object) -> object:
        from dataclasses import replace

        return replace(answer(request), excerpt=f"found {url} and {PASSWORD}")  # type: ignore[arg-type, type-var]

    leaky["search_code"].answer = leak  # type: ignore[assignment]
    given = assemble.Options(store=url, model=Scripted(policy), tools=leaky)
    assert assemble.run(assemble.load_document(DOCUMENT, root, "c"), given).status == "success"
    with psycopg.connect(url) as connection:
        bodies = connection.execute("SELECT body FROM rootproof_events").fetchall()
        blobs = connection.execute("SELECT data FROM rootproof_blobs").fetchall()
    stored = b"\x00".join(bytes(row[0]) for row in [*bodies, *blobs])
    assert PASSWORD.encode() not in stored and b"[masked]" in stored
    for words in (["runs"], ["show", "last"], ["show", "last", "--json"], ["report", "last"]):
        said = program(*words, "--store", url)
        assert said.code == 0 and PASSWORD not in said.out + said.err and QUOTED not in said.out + said.err
    lost = program("show", "last", "--store", server.url("nowhere"))
    lost.clear(8, "rootproof@127.0.0.1")
    assert "canary" not in lost.out + lost.err


def test_a_server_that_goes_away_and_comes_back(tmp_path: Path, server: Cluster) -> None:
    """What was stored is there; what was not is an error that says so; the run goes on when the server does."""
    url, root = server.database(), project(tmp_path / "project")

    def pull(state: State, event: Event) -> None:
        if state.seq == 9:
            server.restart()

    with pytest.raises(StoreUnreachable):
        assemble.run(assemble.load_document(DOCUMENT, root, "c"), options(url, pull))
    outcome = assemble.resume("last", options(url))
    assert outcome.status == "success" and outcome.steps == 7


def test_a_server_without_rights_or_of_another_program(server: Cluster) -> None:
    import psycopg

    url = server.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE " + url.rpartition("/")[2] + " SET default_transaction_read_only = on")
    with pytest.raises(StoreReadOnly):
        assemble.open_store(url)
    other = server.database()
    with psycopg.connect(other, autocommit=True) as connection:
        connection.execute("CREATE TABLE rootproof_blobs (song text)")
    with pytest.raises(StoreDamaged):
        assemble.open_store(other)


def test_a_holder_on_another_machine_is_waited_for_until_its_lease_ends(
    server: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a process of another machine lives cannot be seen here: only the lease counts, by the server's clock."""
    url, root = server.database(), project(tmp_path / "project")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(lease.socket, "gethostname", lambda: "elsewhere")
        monkeypatch.setattr(
            "rootproof.ledger.store.RunLedger.release", lambda self: os._exit(0)
        )  # gone before it let the run go
        assemble.run(assemble.load_document(DOCUMENT, root, "c"), options(url))
    os.waitpid(child, 0)
    store = assemble.open_store(url, lease=2.0)
    run = store.find("last")
    with pytest.raises(StoreBusy, match="is being worked on by elsewhere pid"):
        store.take(run)
    store.close()
