"""Where a Postgres store lies, as it may be shown, and what the database says went wrong as the errors every store has.

No password may leave this module in words: the driver's own text is used only where it cannot quote the address.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

import psycopg
from psycopg import conninfo

from rootproof.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
    UsageError,
)
from rootproof.text import one_line

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
IDLE_SECONDS = 5
"""A client that stops within a transaction (frozen, its machine paused) holds up all others for so long, no longer:
less than they wait for a lock."""
_SECRET = ("password", "sslpassword", "passfile", "sslkey")

_BUSY = ("55P03", "40P01", "40001", "57014", "53300")
"""Lock not available, deadlock, serialization failure, statement cancelled by a limit, too many connections."""
_FULL = ("53100", "53200", "54000")
"""Disk full, out of memory, program limit exceeded."""
_READ_ONLY = ("25006", "42501")
"""Read-only transaction (a standby, or a setting), insufficient privilege."""
_GONE = ("08", "57P", "25P03")
"""Classes: connection exception, operator intervention (shutting down, starting up); idle within a transaction."""
_DAMAGED = ("XX", "42P", "42703")
"""Classes: internal error and corruption, tables that are not as they were made."""


@dataclass(frozen=True)
class Address:
    """A parsed address. Its words hold no password."""

    words: str
    parts: dict[str, str] = field(repr=False)
    written: str = field(default="", repr=False)
    """The password as the address spells it."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be shown or stored."""
        values = [self.written, *(value for name, value in self.parts.items() if name in _SECRET)]
        return tuple(sorted({value for value in values if len(value) > 3}, key=len, reverse=True))


def address(url: str) -> Address:
    """Read ``postgresql://...``.

    Raises:
        UsageError: it cannot be read. The driver's reason may quote a password, so it is not repeated.
    """
    try:
        parts = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items() if value is not None}
    except psycopg.Error:
        form = "postgresql://USER@HOST:PORT/DATABASE; special characters are written as %XX"
        raise UsageError("the address of the Postgres store cannot be read", form) from None
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    words = f"postgresql://{user}{parts.get('host', 'localhost')}{port}/{parts.get('dbname', '')}"
    spelt = url.partition("://")[2].rpartition("@")[0].partition(":")[2]
    return Address(one_line(words, 200), parts, spelt)


def connect(place: Address, *, read_only: bool = False) -> psycopg.Connection:
    """A connection that commits each statement by itself, durably.

    Raises:
        StoreError: there is none to be had.
    """
    settings = "-c synchronous_commit=on" + (" -c default_transaction_read_only=on" if read_only else "")
    settings += " -c timezone=UTC -c client_min_messages=warning"
    parts = bounded(place, settings)
    with translated(place):
        return psycopg.connect(**parts, autocommit=True, application_name="rootproof")  # type: ignore[arg-type]


def bounded(place: Address, settings: str = "") -> dict[str, str]:
    """What a connection is made with: nobody waits, or makes others wait, without end."""
    parts = {"connect_timeout": str(CONNECT_SECONDS), **place.parts}
    settings += f" -c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={IDLE_SECONDS}s"
    return {**parts, "options": f"{place.parts.get('options', '')} {settings.strip()}".strip()}


class translated:
    """Turns the driver's errors into ours. A class, for it is entered at every event."""

    def __init__(self, place: Address) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, psycopg.Error):
            raise _error(self.place, error) from None  # a cause in a traceback would be words, too


def _error(place: Address, error: psycopg.Error) -> StoreError:
    said = one_line(str(error.diag.message_primary or error), 300)
    for secret in place.secrets:
        said = said.replace(secret, "[masked]")
    words, state = f"{place.words}: {said}", error.sqlstate or ""
    kinds: tuple[tuple[tuple[str, ...], type[StoreError]], ...] = (
        (_BUSY, StoreBusy),
        (_FULL, StoreFull),
        (_READ_ONLY, StoreReadOnly),
        (_GONE, StoreUnreachable),
        (_DAMAGED, StoreDamaged),
    )
    for states, fitting in kinds:
        if state.startswith(states):
            return fitting(words)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnreachable(words)
    return StoreError(words)
