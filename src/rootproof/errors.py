"""Every error a user can meet, each with a stable code, an exit status and a remedy.

The tree::

    RootproofError
    ├── ContractError          contract_invalid      2   the contract does not load; carries every fault
    ├── UsageError             usage                 2   the command line asks for something that is not there
    │   └── MissingExtra       missing_extra         2   a part that lives in an optional extra is not installed
    ├── StoreError             store                 8   the store cannot be used now
    │   ├── StoreBusy          store_busy            8   another process holds the store
    │   ├── StoreFull          store_full            8   no space left
    │   ├── StoreReadOnly      store_readonly        8   the store cannot be written
    │   ├── StoreUnreachable   store_unreachable     8   no answer from the store's server
    │   ├── StoreNewer         store_newer           8   written by a newer rootproof
    │   ├── StoreDamaged       store_damaged         1   not a store, or damaged as a database
    │   ├── RunUnknown         run_unknown           2   no such run in this store
    │   ├── LedgerDamaged      ledger_damaged        1   an event or observation was changed, lost or reordered
    │   ├── LeaseLost          lease_lost            8   another process took the run over
    │   ├── ResumeRefused      resume_refused        2   contract, rules or tools differ from the run's
    │   └── ImportRefused      import_refused        2   the store has another run of that name
    ├── ModelError             model                 2   the model is misconfigured
    │   └── ModelUnavailable   model_unavailable     8   out of reach after its retries
    ├── ContainmentUnavailable containment           9   this machine cannot contain what the contract demands
    └── NotRunnable            not_runnable          9   nothing to diagnose, or it cannot run here

An outcome of a run (failed, blocked, timed out ...) is never an error: it is a value in the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a document."""

    place: str
    """File and key, as a person would look for it: ``contract.toml: evidence[2].where.path``."""
    found: str
    mend: str

    def __str__(self) -> str:
        return f"{self.place}: {self.found}"


class RootproofError(Exception):
    """Base of all errors. ``code`` is stable, ``remedy`` says what to do next."""

    code = "error"
    exit_status = 70
    remedy = ""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy or type(self).remedy


class ContractError(RootproofError):
    """The contract does not load. ``faults`` holds every fault found, not just the first."""

    code = "contract_invalid"
    exit_status = 2
    remedy = "mend the faults listed; `rootproof init` writes a commented starter contract"

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        count = len(self.faults)
        super().__init__(f"the contract does not load: {count} fault{'s' if count != 1 else ''}")


class UsageError(RootproofError):
    """The command line, or a call of the Python interface, asks for something that is not there."""

    code = "usage"
    exit_status = 2
    remedy = "see `rootproof --help`"


class MissingExtra(UsageError):
    """A part that lives in an optional extra is not installed."""

    code = "missing_extra"
    remedy = "pip install 'rootproof[EXTRA]' with the extra that is named"

    def __init__(self, part: str, extra: str) -> None:
        super().__init__(f"{part} needs the extra '{extra}'", f"pip install 'rootproof[{extra}]'")


class StoreError(RootproofError):
    """The store cannot be used now."""

    code = "store"
    exit_status = 8
    remedy = "name another store with --store FILE"


class StoreBusy(StoreError):
    """Another process holds the store's write lock."""

    code = "store_busy"
    remedy = "wait for the other process, then `rootproof resume RUN`"


class StoreFull(StoreError):
    """The disk under the store is full. What was written before stays whole."""

    code = "store_full"
    remedy = "free some space, then `rootproof resume RUN`"


class StoreReadOnly(StoreError):
    """The store, or its folder, cannot be written."""

    code = "store_readonly"
    remedy = "make the file and its folder writable, or name another store with --store FILE"


class StoreUnreachable(StoreError):
    """The store's server does not answer, or refuses the connection."""

    code = "store_unreachable"
    remedy = "start the server, or mend the address or the rights; then `rootproof resume RUN`"


class StoreNewer(StoreError):
    """The store was written by a newer rootproof."""

    code = "store_newer"
    remedy = "use that version or a later one; this one only shows what it can read"


class StoreDamaged(StoreError):
    """The file is not a rootproof store, or is damaged as a database."""

    code = "store_damaged"
    exit_status = 1
    remedy = "restore the file from a copy, or name another store with --store FILE"


class RunUnknown(StoreError):
    """No such run in this store."""

    code = "run_unknown"
    exit_status = 2
    remedy = "`rootproof runs` lists the runs of this store"


class LedgerDamaged(StoreError):
    """An event or an observation of a run was changed, lost or reordered. Names the event."""

    code = "ledger_damaged"
    exit_status = 1
    remedy = "nothing in this run can be relied on; restore the store from a copy, or run again"


class LeaseLost(StoreError):
    """Another process took the run over; nothing of this one was appended after that."""

    code = "lease_lost"
    remedy = "`rootproof show RUN` shows who has it"


class ResumeRefused(StoreError):
    """Contract, rules or tools differ from those the run was started with."""

    code = "resume_refused"
    exit_status = 2
    remedy = "start a new run; `rootproof show RUN` still shows this one"


class ImportRefused(StoreError):
    """The store has another run of the same name. Nothing was added."""

    code = "import_refused"
    exit_status = 2
    remedy = "import it into a store of its own with --store FILE"


class ModelError(RootproofError):
    """The model is misconfigured, or is not one this installation knows."""

    code = "model"
    exit_status = 2
    remedy = "see `rootproof run --help` for the kinds of model"


class ModelUnavailable(ModelError):
    """The model is out of reach after its retries. The run is interrupted and can be resumed."""

    code = "model_unavailable"
    exit_status = 8
    remedy = "`rootproof resume RUN` goes on where this stopped"


class ContainmentUnavailable(RootproofError):
    """This machine cannot contain what the contract demands. Nothing was run."""

    code = "containment"
    exit_status = 9
    remedy = "`rootproof doctor` says what this machine gives and how to enable more"


class NotRunnable(RootproofError):
    """There is nothing to diagnose, or it cannot run here."""

    code = "not_runnable"
    exit_status = 9
    remedy = "see the reason given"
