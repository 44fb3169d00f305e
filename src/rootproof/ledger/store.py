"""What every store of runs does, whatever keeps its rows: reading with proof, finding, appending under an epoch.

A member supplies the few statements that differ (``Store``'s abstract methods). It may not decide what is damage, what
a run's id means or what follows an event: that is here, once.
"""

from __future__ import annotations

import abc
import contextlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from rootproof import canonical
from rootproof.errors import LeaseLost, LedgerDamaged, RunUnknown, StoreBusy, StoreError, StoreFull, StoreReadOnly
from rootproof.event import attachments_of, derived
from rootproof.ledger import chain
from rootproof.ledger.bulk import Bulk
from rootproof.ledger.interface import Entry, Stored
from rootproof.ledger.lease import LEASE_SECONDS, alive
from rootproof.state import State, fold

SCHEMA = 1
"""Version of the tables, the same for every member."""


@dataclass(frozen=True)
class RunRow:
    """One run in a listing."""

    run: str
    created: str
    events: int
    owner: str


@dataclass(frozen=True)
class Line:
    """One event about to be written, with all that its transaction needs."""

    run: str
    row: chain.Row
    fresh: bool
    """The run's first event: the run begins in the same transaction."""
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    derived: bool = False
    """A loss of power may take it until the next event is stored: it is then derived again from what is there."""


class Store(abc.ABC):
    """A place of many runs."""

    place: str
    """The store as an error names it. Never holds a password."""
    lease: float = LEASE_SECONDS
    """Seconds after which a holder that neither appended nor renewed may be taken over."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let the store go; errors are of no interest any more."""

    @abc.abstractmethod
    def settle(self) -> None:
        """Roll back what an interrupt left open: it was not stored, and must not be read as if it were."""

    @abc.abstractmethod
    def noted(self, key: str) -> bool:
        """Whether the store's notes about itself have an entry of that name."""

    @abc.abstractmethod
    def runs(self) -> list[RunRow]:
        """All runs, newest first."""

    @abc.abstractmethod
    def head(self, run: str) -> str:
        """Hash of a run's last event; empty where there is no such run."""

    @abc.abstractmethod
    def snapshot(self, run: str) -> tuple[tuple[int, str] | None, list[chain.Row]]:
        """Head and rows as of one moment: a writer that appends between two reads would look like damage."""

    @abc.abstractmethod
    def stored_bytes(self, digest: str) -> bytes | None:
        """Bytes as they are stored, unchecked."""

    @abc.abstractmethod
    def write(self, line: Line) -> bool:
        """Store one event, its attachments and the new head durably in one transaction, and hold the lease longer.

        Returns:
            False where the run is not at the event before, or under another epoch; then nothing was stored.
        """

    @abc.abstractmethod
    def claim(self, run: str) -> int:
        """Make this process the holder under the next epoch, in one transaction with the look at the present holder.

        Raises:
            RunUnknown: there is no such run.
            StoreBusy: a live holder has it.
        """

    @abc.abstractmethod
    def hold(self, run: str, epoch: int) -> bool:
        """Hold the lease longer, from any thread; False where another epoch has the run."""

    @abc.abstractmethod
    def let_go(self, run: str, epoch: int) -> None:
        """End the lease of an epoch."""

    @abc.abstractmethod
    def bulk(self, *, trial: bool = False) -> contextlib.AbstractContextManager[Bulk]:
        """One transaction over all runs, in which nobody else writes. Stored at its end; where anything was raised,
        and at the end of a trial, all is as it was.

        Raises:
            StoreBusy, StoreReadOnly
        """

    @abc.abstractmethod
    def tidy(self) -> None:
        """Make the room of what was removed usable. Where that fails, later runs use it all the same."""

    def rows(self, run: str) -> Iterator[tuple[chain.Row, str]]:
        """The verified rows of one run, with the hash each follows.

        Raises:
            RunUnknown, LedgerDamaged
        """
        head, rows = self.snapshot(run)
        if head is None:
            raise RunUnknown(f"there is no run {run} in {self.place}")
        yield from chain.verified(run, rows, head)

    def events(self, run: str) -> Iterator[Stored]:
        """The verified events of one run."""
        for row, prior in self.rows(run):
            yield chain.decode(run, row, prior)

    def check_blobs(self, run: str) -> None:
        """Read every stored observation of a run against its digest.

        Raises:
            LedgerDamaged: names the event whose observation is not what it was.
        """
        for stored in self.events(run):
            for name, digest in attachments_of(stored.event).items():
                try:
                    self.blob(digest)
                except LedgerDamaged as error:
                    raise LedgerDamaged(f"run {run}: event {stored.seq}: observation {name!r}: {error}") from None

    def blob(self, digest: str) -> bytes:
        """Stored bytes by digest.

        Raises:
            LedgerDamaged: they are missing, or not what they were.
        """
        data = self.stored_bytes(digest)
        if data is None:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} are missing")
        if canonical.digest_bytes(data) != digest:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} were changed")
        return data

    def find(self, prefix: str) -> str:
        """The one run whose id begins with ``prefix``; ``last`` is the newest.

        Raises:
            RunUnknown: none, or several.
        """
        runs = [row.run for row in self.runs()]
        if prefix == "last" and runs:
            return runs[0]
        found = [run for run in runs if run == prefix] or [run for run in runs if run.startswith(prefix)]
        if len(found) != 1:
            how = "no run" if not found else f"{len(found)} runs"
            raise RunUnknown(f"{how} in {self.place} with an id beginning {prefix[:40]!r}")
        return found[0]

    def create(self, run: str = "") -> RunLedger:
        """A new, empty run, held by this process. The store has it from its first event on, in one transaction."""
        run = run or datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(3)
        return RunLedger(self, run, 1, fresh=True)

    def take(self, run: str) -> RunLedger:
        """Take an existing run over for writing, fencing off whoever had it.

        Raises:
            StoreBusy: a live process holds it.
        """
        return RunLedger(self, run, self.claim(run))

    def refuse_live(self, run: str, holder: str, left: float) -> None:
        """Judge a present holder whose lease lasts ``left`` more seconds.

        Raises:
            StoreBusy: it may still be working.
        """
        if left > 0 and alive(holder):
            raise StoreBusy(f"run {run} is being worked on by {holder}")


class RunLedger:
    """One run of a store, open for appending under one epoch."""

    def __init__(self, store: Store, run: str, epoch: int, *, fresh: bool = False) -> None:
        self.store = store
        self.run = run
        self.epoch = epoch
        self._head = ""
        self._fresh = fresh

    def replay(self) -> State:
        self.store.settle()
        if self._fresh:
            return State()
        state = chain.replay(self.store.events(self.run))
        self._head = self.store.head(self.run)
        return state

    def append(self, state: State, entry: Entry) -> State:
        seq, moment, body = state.seq + 1, _now(), chain.encode(entry.event)
        link = chain.link(self._head or chain.genesis(self.run), seq, self.epoch, moment, body)
        line = Line(
            self.run,
            chain.Row(seq, self.epoch, moment, body, link),
            self._fresh,
            entry.attachments,
            derived(entry.event),
        )
        try:
            written = self.store.write(line)
        except (StoreBusy, StoreFull, StoreReadOnly) as error:
            raise type(error)(f"run {self.run}: event {seq} was not stored: {error}") from error
        if not written:
            raise LeaseLost(f"run {self.run} was taken over by another process; event {seq} was not stored")
        self._head, self._fresh = link, False
        return fold(state, entry.event, self.epoch)

    def blob(self, digest: str) -> bytes:
        return self.store.blob(digest)

    @property
    def head(self) -> str:
        """Hash of the last event: held elsewhere, it proves the whole run."""
        return self._head

    def renew(self) -> bool:
        """Hold the lease longer; False where another process has the run."""
        return self.store.hold(self.run, self.epoch)

    def release(self) -> None:
        """Let the run go, so that another process need not wait for the lease to end."""
        with contextlib.suppress(StoreError):
            self.store.let_go(self.run, self.epoch)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
