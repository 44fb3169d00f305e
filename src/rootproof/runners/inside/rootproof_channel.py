"""PYTEST_DONT_REWRITE

The private result channel, seen from inside: one JSON object a line, each with the run's nonce and a sequence number.

The descriptor and the settings come by environment variables, which are taken out of the environment at once; the
descriptor is not inheritable, is silent in forked children, and is never written again once it stops being the file
it was. Whoever shares this process can still forge records: they are claims of the code under test.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading

CHANNEL_VARIABLE = "ROOTPROOF_CHANNEL_FD"
SETTINGS_VARIABLE = "ROOTPROOF_SETTINGS"
HIGH_DESCRIPTOR = 200
"""Programs that close or count low descriptors should not meet this one."""
IDS_A_RECORD = 200
TEXT_LIMIT = 8000


class Channel:
    """The writing end. Its failures never reach the tests: a lost channel shows as missing records."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        self._nonce = nonce
        self._sequence = 0
        self._lock = threading.RLock()
        self._descriptor = _take(descriptor)
        self._identity = _identity(self._descriptor)
        os.register_at_fork(after_in_child=self.silence)

    def silence(self) -> None:
        """Close for good: in a forked child, whose records would be a second writer's."""
        if self._descriptor >= 0 and _identity(self._descriptor) == self._identity:
            os.close(self._descriptor)
        self._descriptor = -1

    def write(self, kind: str, **fields: object) -> None:
        """Append one record."""
        with self._lock:
            if self._descriptor < 0 or _identity(self._descriptor) != self._identity:
                return
            record = {"nonce": self._nonce, "seq": self._sequence, "kind": kind}
            record.update(fields)
            self._sequence += 1
            _write_all(self._descriptor, json.dumps(record, allow_nan=False).encode("ascii") + b"\n")

    def write_ids(self, kind: str, ids: list[str]) -> None:
        """Append a list of ids, in as many records as it needs, at least one."""
        for start in range(0, max(len(ids), 1), IDS_A_RECORD):
            self.write(kind, ids=ids[start : start + IDS_A_RECORD])


def open_channel() -> tuple[Channel, dict[str, object]]:
    """Take the channel and the run's settings out of the environment."""
    settings = json.loads(os.environ.pop(SETTINGS_VARIABLE))
    descriptor = int(os.environ.pop(CHANNEL_VARIABLE))
    return Channel(descriptor, settings["nonce"]), settings


def bounded(text: str, limit: int = TEXT_LIMIT) -> str:
    """Head and tail of a long text, with the number of characters that were cut."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def _take(descriptor: int) -> int:
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    os.close(descriptor)
    return high


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except OSError:
            return
