"""Assembly of stores: from what ``--store`` names to an open store of runs. Part of ``assemble``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rootproof.errors import MissingExtra, UsageError
from rootproof.ledger import chain
from rootproof.ledger.lease import LEASE_SECONDS
from rootproof.outcome import prove

if TYPE_CHECKING:
    from rootproof.ledger.store import Store
    from rootproof.state import State

SERVERS = ("postgresql://", "postgres://")

Named = str | Path | None
"""What a user calls a store: a file, ``postgresql://...``, or nothing for the default."""


def default_store() -> Path:
    """Where runs are kept when nothing else is said: one file under the user's data folder."""
    named = os.environ.get("ROOTPROOF_STORE", "")
    return _data() / "runs.sqlite3" if not named or server(named) else Path(named)


def server(named: Named) -> str:
    """The address where a server is named, else nothing."""
    return named if isinstance(named, str) and named.startswith(SERVERS) else ""


def queue_address(named: Named) -> str:
    """The address of a server that hands out jobs.

    Raises:
        UsageError: it is none.
        MissingExtra: what it takes is not installed.
    """
    from importlib.util import find_spec

    address = server(chosen_store(named))
    if not address:
        raise UsageError("a queue is a Postgres server", "--queue postgresql://USER@HOST:PORT/DATABASE")
    if find_spec("psycopg") is None or find_spec("procrastinate") is None:
        raise MissingExtra("a queue in Postgres", "fleet")
    return address


def folder(named: Named) -> Path:
    """Where files lie that belong to a store: beside it, or in the user's data folder where it is no file."""
    chosen = chosen_store(named)
    return _data() if server(chosen) else Path(chosen).absolute().parent


def chosen_store(named: Named) -> str | Path:
    """What is meant where a user named nothing."""
    named = named or server(os.environ.get("ROOTPROOF_STORE", "")) or default_store()
    if isinstance(named, str) and "://" in named and not server(named):
        kind = named.partition("://")[0][:20]
        raise UsageError(f"no store is called {kind}://", "name a file, or postgresql://USER@HOST:PORT/DATABASE")
    return named


def open_store(named: Named = None, *, read_only: bool = False, lease: float = LEASE_SECONDS) -> Store:
    """Open the store of runs.

    Raises:
        StoreError: it cannot be used.
        UsageError: nothing is called so.
        MissingExtra: a server's driver is not installed.
    """
    chosen = chosen_store(named)
    address = server(chosen)
    if address:
        try:
            from rootproof.ledger.postgres import PostgresStore
        except ImportError:
            raise MissingExtra("a store in Postgres", "fleet") from None
        return PostgresStore(address, read_only=read_only, lease=lease)
    from rootproof.ledger.sqlite import SqliteStore

    return SqliteStore(Path(chosen), read_only=read_only, lease=lease)


def open_there(named: Named) -> Store:
    """The same for writing into a store that is there already: asked of one that is not, nothing is made.

    Raises:
        RunUnknown: there is none.
    """
    open_store(named, read_only=True).close()
    return open_store(named)


def secrets_of(named: Named) -> tuple[str, ...]:
    """Values of a store's address that no ledger may hold."""
    address = server(chosen_store(named))
    if not address:
        return ()
    from rootproof.ledger.postgres_errors import address as parsed

    return parsed(address).secrets


def replayed(store: Store, run: str) -> State:
    """The state of a stored run, with its chain and, after success, its criteria proved again.

    Raises:
        LedgerDamaged: something is not what it was, or success does not follow from the facts.
    """
    state = chain.replay(store.events(run))
    prove(run, state)
    return state


def proved(store: Store, run: str) -> State:
    """The same, once every stored observation was read against its digest as well.

    Raises:
        LedgerDamaged: as :func:`replayed`; or the event whose observation is not what it was.
    """
    store.check_blobs(run)
    return replayed(store, run)


def _data() -> Path:
    from platformdirs import user_data_path

    return user_data_path("rootproof")
