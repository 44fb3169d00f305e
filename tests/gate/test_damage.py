"""Any changed, lost, moved or added byte of what is stored is found and named; nothing is skipped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gate.cli import Cli
from gate.reference import Played, Store
from ledger.places import place_of
from rootproof import assemble
from rootproof.errors import LedgerDamaged, StoreDamaged
from rootproof.ledger import chain


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Played]]:
    """One successful run, never touched."""
    store = Store(tmp_path_factory.mktemp("whole"))
    yield store, store.play()


@pytest.fixture
def run(whole: tuple[Store, Played], store: Store) -> str:
    """A copy of that run in the test's own store."""
    store.path.parent.mkdir(exist_ok=True)
    with sqlite3.connect(whole[0].path) as source, sqlite3.connect(store.path) as target:
        source.backup(target)
    source.close()
    target.close()
    return whole[1].outcome.run


def change(store: Store, statement: str, *values: object) -> None:
    """Do what somebody with an editor for databases would do."""
    assert place_of(store.path).change(statement, *values) > 0, statement


def rows(store: Store, run: str) -> tuple[list[chain.Row], tuple[int, str]]:
    opened = assemble.open_store(store.path, read_only=True)
    found = [row for row, _ in opened.rows(run)]
    opened.close()
    return found, (found[-1].seq, found[-1].hash)


def refused(cli: Cli, run: str, *words: str) -> None:
    """Show, in each form, and resume refuse the run and name what is wrong."""
    for command in (
        ["show", run],
        ["show", run, "--json"],
        ["show", run, "--step", "2"],
        ["show", run, "--fact", "reproduced"],
    ):
        said = cli(*command)
        said.clear(1, *words)
        assert "status=" not in said.out and "reproduced" not in said.out
    cli("resume", run, "--model", "scripted:/dev/null").clear(1, *words)


def test_the_untouched_copy_is_shown(cli: Cli, run: str) -> None:
    assert cli("show", run).code == 0


def test_each_byte_of_each_event_matters(whole: tuple[Store, Played]) -> None:
    found, head = rows(whole[0], whole[1].outcome.run)
    for number, row in enumerate(found):
        for at in range(0, len(row.body), 1 if number else 7):
            body = row.body[:at] + bytes([row.body[at] ^ 1]) + row.body[at + 1 :]
            with pytest.raises(LedgerDamaged, match=f"event {row.seq} was changed"):
                # The chain before the event is known to be whole; what follows is never reached.
                prior = found[number - 1].hash if number else chain.genesis(whole[1].outcome.run)
                assert chain.link(prior, row.seq, row.epoch, row.time, body) != row.hash
                list(chain.verified(whole[1].outcome.run, [*found[:number], replace(row, body=body)], head))


@pytest.mark.parametrize("seq", [1, 2, 5, 6, 7, 13, 25])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("body", "CAST(replace(body, '\"type\"', '\"typf\"') AS BLOB)"),
        ("body", "CAST(body || ' ' AS BLOB)"),
        ("body", "x''"),
        ("time", "time || '0'"),
        ("time", "CAST(x'ff' AS TEXT)"),
        ("epoch", "epoch + 1"),
        ("epoch", "'1x'"),
        ("hash", "upper(hash)"),
        ("hash", "CAST(x'ff' AS TEXT)"),
        ("hash", "7"),
    ],
)
def test_a_changed_column_names_its_event(cli: Cli, store: Store, run: str, seq: int, column: str, value: str) -> None:
    change(store, f"UPDATE events SET {column} = {value} WHERE run = ? AND seq = ?", run, seq)
    cli("show", run).clear(1, f"event {seq}")


def test_an_edit_is_refused_by_every_command_that_reads_the_run(cli: Cli, store: Store, run: str) -> None:
    change(store, "UPDATE events SET body = CAST(replace(body, '/settings', '/setting5') AS BLOB) WHERE seq = 6")
    refused(cli, run, "event 6 was changed")
    listed = cli("runs")
    assert listed.code == 0 and "ledger_damaged" in listed.out and "event 6" in listed.out


@pytest.mark.parametrize("seq", range(1, 26))
def test_a_deleted_event_is_missed(store: Store, run: str, seq: int) -> None:
    change(store, "DELETE FROM events WHERE run = ? AND seq = ?", run, seq)
    with pytest.raises(LedgerDamaged, match=f"event {seq} is missing"):
        store.stored(run)


def test_swapped_events_are_named(cli: Cli, store: Store, run: str) -> None:
    for old, new in ((12, 99), (16, 12), (99, 16)):
        change(store, "UPDATE events SET seq = ? WHERE seq = ?", new, old)
    refused(cli, run, "event 12 was changed")


def test_a_renumbered_event_is_named(cli: Cli, store: Store, run: str) -> None:
    change(store, "UPDATE events SET seq = 26 WHERE seq = 25")
    refused(cli, run, "event 25 is missing")


def test_a_cut_tail_is_missed(cli: Cli, store: Store, run: str) -> None:
    change(store, "DELETE FROM events WHERE seq > 20")
    refused(cli, run, "the ledger ends at event 20")


def test_an_added_event_is_named(cli: Cli, store: Store, run: str) -> None:
    change(store, "INSERT INTO events SELECT run, 26, epoch, time, body, hash FROM events WHERE seq = 25")
    refused(cli, run, "event 26")


def test_an_event_of_another_run_does_not_fit(cli: Cli, store: Store, run: str) -> None:
    other = store.play().outcome.run
    change(
        store,
        "UPDATE events SET body = o.body, hash = o.hash, time = o.time FROM (SELECT * FROM events WHERE run = ?) AS o "
        "WHERE events.run = ? AND events.seq = 9 AND o.seq = 9",
        other,
        run,
    )
    refused(cli, run, "event 9 was changed")


@pytest.mark.parametrize("statement", ["head_hash = 'f' || substr(head_hash, 2) || 'x'", "head_seq = head_seq + 1"])
def test_a_changed_head_is_named(cli: Cli, store: Store, run: str, statement: str) -> None:
    change(store, f"UPDATE runs SET {statement} WHERE run = ?", run)
    refused(cli, run, "event 26")


def test_a_run_renamed_is_no_run(cli: Cli, store: Store, run: str) -> None:
    change(store, "UPDATE runs SET run = 'other' WHERE run = ?", run)
    change(store, "UPDATE events SET run = 'other' WHERE run = ?", run)
    refused(cli, "other", "event 1 was changed")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blobs SET data = CAST(data || ' ' AS BLOB)",
        "DELETE FROM blobs",
        "UPDATE blobs SET digest = upper(digest)",
        "UPDATE blobs SET data = 7",
    ],
)
def test_an_observation_that_was_changed_or_lost_names_its_event(
    cli: Cli, store: Store, run: str, statement: str
) -> None:
    """The read of the callback is event 18; its bytes are a row of their own."""
    digest = next(d for one in store.stored(run) if one.seq == 18 for d in one.event.attachments.values())  # type: ignore[union-attr]
    change(store, f"{statement} WHERE digest = ?", digest)
    refused(cli, run, "event 18", "src/auth/callback.ts")


def test_each_byte_of_an_observation_matters(cli: Cli, store: Store, run: str) -> None:
    opened = sqlite3.connect(store.path)
    for digest, data in opened.execute("SELECT digest, data FROM blobs").fetchall():
        for at in range(len(data)):
            changed = data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :]
            opened.execute("UPDATE blobs SET data = ? WHERE digest = ?", (changed, digest))
            ledger = assemble.open_store(store.path, read_only=True)
            ledger.connection.close()
            ledger.connection = opened
            with pytest.raises(LedgerDamaged, match="were changed"):
                ledger.blob(digest)
        opened.execute("UPDATE blobs SET data = ? WHERE digest = ?", (data, digest))
    opened.close()


def test_the_file_damaged_as_a_database(cli: Cli, store: Store, run: str) -> None:
    data = store.path.read_bytes()
    for damaged in (
        b"no database at all" * 100,
        data[:5000],
        b"\x00" * 100 + data[100:],
        data[:100] + b"\xff" * 3000 + data[3100:],
    ):
        _write(store.path, damaged)
        said = cli("show", run)
        said.clear(1)
        assert ("error: " in said.err and str(store.path) in said.err + said.out) or "event" in said.err


def test_every_page_damaged_in_turn(store: Store, run: str) -> None:
    """A page full of other bytes is damage that is named, or lies where nothing of the run is."""
    data = store.path.read_bytes()
    expected = [one.hash for one in store.stored(run)]
    for at in range(0, len(data), 4096):
        _write(store.path, data[: at + 50] + bytes(byte ^ 0x55 for byte in data[at + 50 : at + 200]) + data[at + 200 :])
        try:
            found = [one.hash for one in store.stored(run)]
        except (StoreDamaged, LedgerDamaged):
            continue
        assert found == expected


def _write(path: Path, data: bytes) -> None:
    for name in ("-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    path.write_bytes(data)


def test_a_success_that_its_facts_do_not_carry_is_refused(cli: Cli, store: Store, run: str) -> None:
    """Even with every hash computed anew: the criteria are proved again from the facts."""
    found, _ = rows(store, run)
    prior = chain.genesis(run)
    for row in found:
        body = row.body.replace(b'"name":"contract_mismatch"', b'"name":"contract_mismatcg"')
        link = chain.link(prior, row.seq, row.epoch, row.time, body)
        change(store, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", body, link, row.seq)
        prior = link
    change(store, "UPDATE runs SET head_hash = ?", prior)
    refused(cli, run, "its criteria are not met by its facts")


def test_a_contract_that_is_not_the_one_of_its_digest_is_refused(cli: Cli, store: Store, run: str) -> None:
    found, _ = rows(store, run)
    prior = chain.genesis(run)
    for row in found:
        body = row.body.replace(b'"max_steps":8', b'"max_steps":9')
        link = chain.link(prior, row.seq, row.epoch, row.time, body)
        change(store, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", body, link, row.seq)
        prior = link
    change(store, "UPDATE runs SET head_hash = ?", prior)
    refused(cli, run, "event 1 holds another contract")
