"""Keeps the lease of a running ledger while a long tool call or model call goes on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Protocol

from rootproof.errors import StoreError
from rootproof.ledger.lease import LEASE_SECONDS


class Renewable(Protocol):
    """What can hold its lease longer."""

    def renew(self) -> bool:
        """False where somebody else has the run."""
        ...


@contextlib.contextmanager
def heartbeat(ledger: Renewable, every: float = LEASE_SECONDS / 4) -> Iterator[None]:
    """Renew the lease every so many seconds until the block ends."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every):
            with contextlib.suppress(StoreError):
                if not ledger.renew():
                    return

    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
