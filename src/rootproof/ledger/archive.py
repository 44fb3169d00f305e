"""One run as one file: its rows, its stored bytes and its head, the same bytes whenever and wherever it is written.

A zip without compression: so its members can be no larger than itself, and nothing in it is ever unpacked to a disk.
What is read is hostile until the chain, every digest and every name are checked.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof import canonical
from rootproof.errors import LedgerDamaged, UsageError
from rootproof.event import attachments_of
from rootproof.ledger import chain
from rootproof.ledger.chain import Row
from rootproof.ledger.interface import Stored

SCHEMA = "rootproof/archive/1"
MAX_BYTES = 256 * 1024 * 1024
MAX_MEMBERS = 60_000
_END = struct.Struct("<4s4H2LH")
"""A zip's last record, where it has no comment."""
_LISTED = 46 + 80
"""Most bytes of one member in a zip's directory: nothing but a name as long as those here."""
ABOUT, EVENTS, BLOBS = "rootproof.json", "events.jsonl", "blobs/"
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BLOB = re.compile(r"blobs/[0-9a-f]{64}")
_ROW = {"seq": int, "epoch": int, "time": str, "hash": str, "body": str}


@dataclass(frozen=True)
class Archive:
    """A run outside any store."""

    run: str
    created: str
    rows: tuple[Row, ...]
    blobs: Mapping[str, bytes]

    @property
    def head(self) -> str:
        return self.rows[-1].hash

    @property
    def events(self) -> tuple[Stored, ...]:
        """The events, each proved by the chain.

        Raises:
            LedgerDamaged, StoreNewer
        """
        head = (self.rows[-1].seq, self.head)
        return tuple(chain.decode(self.run, row, prior) for row, prior in chain.verified(self.run, self.rows, head))

    def blob(self, digest: str) -> bytes:
        return self.blobs[digest]


def to_bytes(archive: Archive) -> bytes:
    """The file of an archive.

    Raises:
        UsageError: the run refers to more stored files than an archive holds.
    """
    if len(archive.blobs) > MAX_MEMBERS - 2:
        raise UsageError(f"run {archive.run} refers to more than {MAX_MEMBERS} stored files", "copy the store instead")
    about = {"schema": SCHEMA, "run": archive.run, "created": archive.created, "head": archive.head}
    rows = [{**vars(row), "body": row.body.decode("ascii")} for row in archive.rows]
    members = {ABOUT: canonical.to_bytes({**about, "events": len(rows)}) + b"\n"}
    members[EVENTS] = b"".join(canonical.to_bytes(row) + b"\n" for row in rows)
    members |= {BLOBS + digest: archive.blobs[digest] for digest in sorted(archive.blobs)}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        for name, data in members.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o100644 << 16
            file.writestr(member, data)
    return target.getvalue()


def is_archive(path: Path) -> bool:
    """Whether a file begins as one."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def read(path: Path) -> Archive:
    """Read an archive and prove that it is whole: its chain, its digests, no byte too few and none too many.

    Raises:
        UsageError: it is none.
        LedgerDamaged: it is one, and not what it was.
    """
    try:
        size = path.stat().st_size
        if not path.is_file() or size > MAX_BYTES:
            raise _none(path, f"it is no file of at most {MAX_BYTES} bytes")
        _directory(path, size)
        with zipfile.ZipFile(path) as file:
            members = _members(path, file, size)
        archive = _parsed(path, members)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}", "name a file of `rootproof export`"
        ) from None
    except (zipfile.BadZipFile, ValueError, KeyError, NotImplementedError, RuntimeError, RecursionError) as error:
        raise _none(path, str(error)) from None
    _whole(archive)
    return archive


def _none(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} is no archive of a run: {why[:200]}", "name a file written by `rootproof export`")


def _directory(path: Path, size: int) -> None:
    """That the list of members is a short one, before anything reads it."""
    with path.open("rb") as file:
        file.seek(max(size - 64, 0))
        tail = file.read(64)
    if size < _END.size or b"PK\x06\x07" in tail[: -_END.size]:
        raise _none(path, "it does not end as one")
    sign, _, _, _, count, listed, _, comment = _END.unpack(tail[-_END.size :])
    if sign != b"PK\x05\x06" or comment or count > MAX_MEMBERS or listed > count * _LISTED:
        raise _none(path, "it does not end as one, or its list of members is too long")


def _members(path: Path, file: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    """Every member by name: only those that an archive has, once each, and together no larger than the file."""
    listed = file.infolist()
    if len(listed) > MAX_MEMBERS or sum(one.file_size for one in listed) > size:
        raise _none(path, "its members are more than it can hold")
    members: dict[str, bytes] = {}
    for one in listed:
        known = one.filename in (ABOUT, EVENTS) or _BLOB.fullmatch(one.filename)
        if not known or one.filename in members:
            raise _none(path, f"it has a member {one.filename[:80]!r}")
        if one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1 or one.compress_size != one.file_size:
            raise _none(path, f"its member {one.filename} is compressed or encrypted")
        members[one.filename] = file.read(one)
    return members


def _parsed(path: Path, members: Mapping[str, bytes]) -> Archive:
    about = json.loads(members[ABOUT])
    if not isinstance(about, dict) or about.get("schema") != SCHEMA:
        raise _none(path, f"its schema must be {SCHEMA}")
    run, created = about.get("run"), about.get("created")
    if not isinstance(run, str) or not _RUN.fullmatch(run) or not isinstance(created, str) or len(created) > 40:
        raise _none(path, "its run has no sound name or no time")
    rows = tuple(_row(path, json.loads(line)) for line in members[EVENTS].split(b"\n") if line)
    if not rows or about.get("head") != rows[-1].hash or about.get("events") != len(rows):
        raise LedgerDamaged(f"run {run}: the archive does not end at the head that it names")
    blobs = {name.removeprefix(BLOBS): data for name, data in members.items() if name.startswith(BLOBS)}
    return Archive(run, created, rows, blobs)


def _row(path: Path, row: Any) -> Row:
    if not isinstance(row, dict) or {key: type(value) for key, value in row.items()} != _ROW:
        raise _none(path, "an event of it has another form")
    if not 0 < row["epoch"] < 2**53 or len(row["time"]) > 40 or len(row["hash"]) != 64:
        raise _none(path, "an event of it has an epoch, a time or a hash that no store writes")
    return Row(row["seq"], row["epoch"], row["time"], row["body"].encode("ascii"), row["hash"])


def _whole(archive: Archive) -> None:
    wanted = {digest for stored in archive.events for digest in attachments_of(stored.event).values()}
    for digest in sorted(wanted ^ set(archive.blobs)):
        how = "are missing" if digest in wanted else "belong to no event of it"
        raise LedgerDamaged(f"run {archive.run}: the stored bytes {digest[:12]} {how}")
    for digest, data in archive.blobs.items():
        if canonical.digest_bytes(data) != digest:
            raise LedgerDamaged(f"run {archive.run}: the stored bytes {digest[:12]} were changed")
