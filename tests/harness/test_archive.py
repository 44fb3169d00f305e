"""One run as one file: the same bytes everywhere, proved when read, and hostile files are refused."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.cli import Cli, Said
from gate.reference import FINAL, Store, policy
from harness.desk import TITLE, Desk, every_store
from rootproof import assemble, completion, verify
from rootproof.errors import LedgerDamaged, RootproofError, UsageError
from rootproof.ledger import archive, chain
from rootproof.report import build as report

Members = dict[str, bytes]


@pytest.fixture
def file(store: Store, cli: Cli, tmp_path: Path) -> Path:
    """The archive of a successful run."""
    store.play(policy)
    target = tmp_path / "run.zip"
    assert cli("export", "last", "-o", target).code == 0
    return target


@pytest.fixture
def there(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """Another, empty store: of the other kind where a test goes from one kind to the other."""
    if getattr(request, "param", "sqlite") == "postgres":
        return str(request.getfixturevalue("server").database())
    return tmp_path / "elsewhere" / "runs.sqlite3"


EACH_WAY = pytest.mark.parametrize(
    ("kept", "there"), [("sqlite", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")], indirect=True
)


@pytest.fixture
def elsewhere(cli: Cli, there: str | Path) -> Callable[..., Said]:
    """Commands over another, empty store."""

    def say(*words: object) -> Said:
        here, cli.store = cli.store, there
        try:
            return cli(*words)
        finally:
            cli.store = here

    return say


def members(file: Path) -> Members:
    with zipfile.ZipFile(file) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def written(target: Path, parts: Members | list[tuple[str, bytes]], how: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(target, "w", how) as opened:
        for name, data in parts.items() if isinstance(parts, dict) else parts:
            opened.writestr(name, data)
    return target


@EACH_WAY
def test_it_is_the_same_bytes_whenever_it_is_written_and_wherever(
    file: Path, cli: Cli, elsewhere: Callable[..., Said], tmp_path: Path
) -> None:
    assert cli("export", "last", "-o", tmp_path / "again.zip").code == 0
    assert (tmp_path / "again.zip").read_bytes() == file.read_bytes()
    assert elsewhere("import", file).code == 0
    assert elsewhere("export", "last", "-o", tmp_path / "there.zip").code == 0
    assert (tmp_path / "there.zip").read_bytes() == file.read_bytes()
    cli("export", "last", "-o", file).clear(2, "exists already")


@EACH_WAY
def test_imported_it_shows_audits_and_reports_as_it_did(
    file: Path, cli: Cli, elsewhere: Callable[..., Said], store: Store
) -> None:
    said = elsewhere("import", file)
    assert said.code == 0 and "added: 25 events, success" in said.out and "nobody vouches" in said.out
    assert "was here already" in elsewhere("import", file).out
    here, there = cli("show", "last", "--json").document, elsewhere("show", "last", "--json").document
    assert here == there and "nobody vouches" in elsewhere("show", "last").out
    assert elsewhere("audit", "last", "--json").document["vouched"] is False
    assert "(nobody vouches for it)" in elsewhere("runs").out and "vouches" not in cli("runs").out
    assert elsewhere("report", "last").out == cli("report", "last").out


@every_store
def test_verify_accepts_an_archive(file: Path, cli: Cli, store: Store) -> None:
    said = cli("verify", file, "--repo", store.root, store=False)
    assert said.code == 0 and said.out.startswith("confirmed\n"), said
    head = json.loads(members(file)[archive.ABOUT])["head"]
    assert cli("verify", file, "--repo", store.root, "--head", head, store=False).code == 0
    assert cli("verify", file, "--repo", store.root, "--head", "0" * 64, store=False).code == 1


@EACH_WAY
def test_a_run_that_nobody_vouches_for_is_neither_resumed_nor_decided_about(
    desk: Desk, cli: Cli, elsewhere: Callable[..., Said], there: str | Path, tmp_path: Path
) -> None:
    """Whoever makes up a chain could else make up the facts, and have the end judged here."""
    run = desk.run().run
    file = tmp_path / "waiting.zip"
    cli("export", run, "-o", file)
    assert elsewhere("import", file).code == 0
    elsewhere("approve", run, "--by", "A", "--reason", "b").clear(2, "nobody vouches")
    elsewhere("resume", run, "--model", "human").clear(2, "nobody vouches")
    elsewhere("import", file, "--head", "0" * 64).clear(2, "not the run you mean")
    head = json.loads(members(file)[archive.ABOUT])["head"]
    assert "nobody vouches" not in elsewhere("import", file, "--head", head).out
    assert elsewhere("approve", run, "--by", "A", "--reason", "b").code == 0
    options = replace(desk.options(lambda view: {"type": "final"}), store=there)
    assert assemble.resume(run, options).status == "success" and desk.tracker.all() == [(TITLE, "open", 0)]


@EACH_WAY
def test_a_run_of_the_same_name_with_another_history_is_refused(
    desk: Desk, cli: Cli, elsewhere: Callable[..., Said], tmp_path: Path
) -> None:
    run = desk.run().run
    early, late = tmp_path / "early.zip", tmp_path / "late.zip"
    cli("export", run, "-o", early)
    desk.approve()
    cli("export", run, "-o", late)
    assert elsewhere("import", early).code == 0
    elsewhere("import", late).clear(2, "another head")
    assert len(elsewhere("show", run, "--json").document["events"]) == 7


def long_list(file: Path) -> None:
    """A directory that claims one member and has very many bytes."""
    data = file.read_bytes()
    end = bytearray(data[-22:])
    start = int.from_bytes(end[16:20], "little")
    listing = data[start:-22] * 200
    end[12:16] = len(listing).to_bytes(4, "little")
    file.write_bytes(data[:start] + listing + end)


HOSTILE: dict[str, Callable[[Path, Members], object]] = {
    "a path that climbs": lambda file, parts: written(file, {**parts, "../../evil": b"x"}),
    "an absolute path": lambda file, parts: written(file, {**parts, "/etc/passwd": b"x"}),
    "a name that is no digest": lambda file, parts: written(file, {**parts, "blobs/xyz": b"x"}),
    "a folder": lambda file, parts: written(file, {**parts, "blobs/": b""}),
    "a member twice": lambda file, parts: written(file, [*parts.items(), (archive.EVENTS, b"")]),
    "compressed members": lambda file, parts: written(file, parts, zipfile.ZIP_DEFLATED),
    "a bomb": lambda file, parts: written(
        file, {**parts, "blobs/" + "0" * 64: b"\0" * 10_000_000}, zipfile.ZIP_DEFLATED
    ),
    "no events": lambda file, parts: written(file, {**parts, archive.EVENTS: b""}),
    "no word about it": lambda file, parts: written(file, {k: v for k, v in parts.items() if k != archive.ABOUT}),
    "another schema": lambda file, parts: written(file, {**parts, archive.ABOUT: b'{"schema": "x"}'}),
    "a name that is a path": lambda file, parts: written(
        file, {**parts, archive.ABOUT: parts[archive.ABOUT].replace(b'"run":"', b'"run":"../')}
    ),
    "an event that is a list": lambda file, parts: written(file, {**parts, archive.EVENTS: b"[]\n"}),
    "an event whose number is a boolean": lambda file, parts: written(
        file, {**parts, archive.EVENTS: parts[archive.EVENTS].replace(b'"seq":1,', b'"seq":true,').replace(b'"seq":1}', b'"seq":true}')}
    ),
    "deep nesting": lambda file, parts: written(file, {**parts, archive.EVENTS: b"[" * 100_000}),
    "an epoch that no store can hold": lambda file, parts: written(
        file, {**parts, archive.EVENTS: parts[archive.EVENTS].replace(b'"epoch":1,', b'"epoch":' + b"9" * 30 + b",")}
    ),
    "a comment": lambda file, parts: written(file, parts).open("ab").write(b"more"),
    "a list of members that is longer than it says": lambda file, parts: long_list(written(file, parts)),
    "no zip": lambda file, parts: file.write_bytes(b"PK\x03\x04" + b"nonsense" * 100),
    "nothing": lambda file, parts: file.write_bytes(b""),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_and_nothing_is_written(
    file: Path, elsewhere: Callable[..., Said], tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad" / "bad.zip"
    bad.parent.mkdir()
    HOSTILE[kind](bad, members(file))
    monkeypatch.chdir(bad.parent)
    said = elsewhere("import", bad)
    assert said.code in (1, 2), said
    said.clear(said.code)
    assert sorted(path.name for path in bad.parent.iterdir()) == ["bad.zip"]
    assert not (tmp_path / "elsewhere").exists(), "not even a store was made"


@pytest.mark.parametrize("part", ["event", "blob", "missing", "extra", "lost tail", "head"])
def test_an_archive_that_is_not_what_it_was_is_named_damaged(file: Path, tmp_path: Path, part: str) -> None:
    parts = members(file)
    blob = next(name for name in parts if name.startswith(archive.BLOBS))
    lines = parts[archive.EVENTS].splitlines(keepends=True)
    about = json.loads(parts[archive.ABOUT])
    changed: dict[str, Members] = {
        "event": {**parts, archive.EVENTS: parts[archive.EVENTS].replace(b"return_to", b"return_it")},
        "blob": {**parts, blob: parts[blob] + b" "},
        "missing": {name: data for name, data in parts.items() if name != blob},
        "extra": {**parts, archive.BLOBS + "0" * 64: b"x"},
        "lost tail": {**parts, archive.EVENTS: b"".join(lines[:-1])},
        "head": {**parts, archive.ABOUT: json.dumps({**about, "head": "0" * 64}).encode()},
    }
    with pytest.raises(LedgerDamaged):
        archive.read(written(tmp_path / "damaged.zip", changed[part]))


def test_facts_made_up_in_a_whole_chain_are_refuted(file: Path, tmp_path: Path, elsewhere: Callable[..., Said]) -> None:
    """Event by event hashed again, so that the chain is whole: the facts do not follow from the observations."""
    found = archive.read(file)
    prior, rows = chain.genesis(found.run), []
    for row in found.rows:
        body = row.body.replace(b'"value":"return_to"', b'"value":"elsewhere"')
        prior = chain.link(prior, row.seq, row.epoch, row.time, body)
        rows.append(replace(row, body=body, hash=prior))
    forged = tmp_path / "forged.zip"
    forged.write_bytes(archive.to_bytes(replace(found, rows=tuple(rows))))
    assert archive.read(forged).head == prior
    elsewhere("import", forged).clear(1)
    assert not (tmp_path / "elsewhere").exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1), byte=st.integers(0, 255), cut=st.booleans())
def test_no_changed_or_missing_byte_passes(file: Path, place: float, byte: int, cut: bool) -> None:
    """Read as something else it never is: the same run, or an error of ours."""
    data = bytearray(file.read_bytes())
    whole = archive.read(file)
    at = min(int(place * len(data)), len(data) - 1)
    if cut:
        del data[at:]
    else:
        data[at] = byte
    spoiled = file.with_name("spoiled.zip")
    spoiled.write_bytes(bytes(data))
    try:
        again = archive.read(spoiled)
    except RootproofError:
        return
    assert (again.run, again.rows, again.blobs) == (whole.run, whole.rows, whole.blobs)


def test_it_is_written_whole_or_not_at_all(store: Store, cli: Cli, tmp_path: Path) -> None:
    store.play([FINAL])
    cli("export", "last", "-o", tmp_path / "none" / "x.zip").clear(2, "cannot be written")
    cli("export", "nothing").clear(2, "no run")
    with pytest.raises(UsageError):
        archive.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError):
        archive.read(tmp_path / "pipe")


def test_writing_needs_no_file(file: Path) -> None:
    found = archive.read(file)
    assert archive.to_bytes(found) == file.read_bytes()
    assert zipfile.ZipFile(io.BytesIO(archive.to_bytes(found))).testzip() is None


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_events_in_any_other_order_or_number_are_refused_or_hold_together(file: Path, data: st.DataObject) -> None:
    """Hashed again, so that the chain is whole: whatever is accepted can be shown, and success still has its facts."""
    found = archive.read(file)
    count = len(found.rows)
    order = data.draw(
        st.lists(st.integers(0, count - 1), min_size=1, max_size=count + 4) | st.permutations(range(count))
    )
    if data.draw(st.booleans()):
        order = [*range(count)]
        order[data.draw(st.integers(1, count - 1))] = data.draw(st.integers(0, count - 1))
    prior, rows = chain.genesis(found.run), []
    for seq, number in enumerate(order, 1):
        row = found.rows[number]
        prior = chain.link(prior, seq, row.epoch, row.time, row.body)
        rows.append(replace(row, seq=seq, hash=prior))
    try:
        ledger, _ = verify.proved(replace(found, rows=tuple(rows)), assemble.catalog())
    except LedgerDamaged:
        return
    if ledger.state.status == "success":
        assert completion.met(ledger.contract, ledger.state)
    assert report.derive(ledger)["status"] == ledger.state.status


def test_what_a_tool_from_elsewhere_observed_is_judged_where_the_tool_is(desk: Desk, cli: Cli, tmp_path: Path) -> None:
    desk.run()
    desk.approve()
    assert desk.resume().status == "success"
    file = tmp_path / "ticket.zip"
    assert cli("export", "last", "-o", file).code == 0
    said = cli("verify", file, "--repo", desk.root, store=False)
    assert said.code == 7 and "no tool open_ticket" in said.out and "refuted" not in said.out
    there = verify.verify(verify.read(file), desk.root, desk.options(lambda view: ""))
    assert there.answer == "confirmed" and "holds against contract" in there.reasons[0]
    assert desk.tool.entered == 1, "verifying opens no ticket"
