"""One attempt at one job: begin its run, or go on with it, and say what is to become of the job.

Only faults that are not the job's own (a store or a model out of reach) are tried again. What an investigation ended
as is its outcome, whatever it is; so is an error that another attempt would meet as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rootproof import assemble
from rootproof.apps.fleet.board import Claim
from rootproof.errors import (
    LeaseLost,
    RootproofError,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from rootproof.text import one_line

if TYPE_CHECKING:
    from rootproof.assemble import Options
    from rootproof.ledger.store import Store
    from rootproof.outcome import Outcome

INFRASTRUCTURE = (StoreBusy, StoreFull, StoreReadOnly, StoreUnreachable)
MOST_ATTEMPTS = 50
"""A job whose workers died so often is not given to another one."""
FIRST_DELAY, LONGEST_DELAY = 0.5, 60.0


@dataclass(frozen=True)
class Finished:
    """The job has its outcome."""

    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class Later:
    """The job is to be tried again."""

    seconds: float
    fault: bool
    reason: str


@dataclass(frozen=True)
class Dropped:
    """Another worker has the run: nothing is to be said about it here."""


@dataclass(frozen=True)
class Interrupted:
    """The run was stopped from outside and can be gone on with."""

    outcome: Mapping[str, Any]


Attempted = Finished | Later | Dropped | Interrupted


def attempt(store: Store, claim: Claim, options: Options) -> Attempted:
    """Carry one job out as far as it goes."""
    if claim.attempt > MOST_ATTEMPTS:
        reason = f"given up: begun {claim.attempt - 1} times, and the worker died or fell silent each time"
        return Finished({"status": "interrupted", "exit_status": 8, "reason": reason, "run": claim.run})
    try:
        ended = _investigate(store, claim, replace(options, model=claim.job.model))
    except LeaseLost:
        return Dropped()
    except INFRASTRUCTURE as error:
        return _again(claim, str(error))
    except RootproofError as error:
        return Finished(error_outcome(claim, error.code, error.exit_status, str(error)))
    except Exception as error:  # a bug in one job's path must not take the other jobs with it
        return Finished(error_outcome(claim, "internal", 70, f"{type(error).__name__}: {error}"))
    if ended.status == "interrupted":
        return _again(claim, ended.reason)
    outcome = in_short(ended)
    return Interrupted(outcome) if ended.status == "cancelled" else Finished(outcome)


def _investigate(store: Store, claim: Claim, options: Options) -> Outcome:
    if store.head(claim.run):
        return assemble.go_on(store, claim.run, options)
    return assemble.begin(store, claim.job.load(options.tools.values()), options, claim.job.by, claim.run)


def _again(claim: Claim, reason: str) -> Attempted:
    if claim.faults >= claim.retries:
        tried = f"given up after {claim.faults + 1} faults: {one_line(reason, 300)}"
        return Finished({"status": "interrupted", "exit_status": 8, "reason": tried, "run": claim.run})
    return Later(min(FIRST_DELAY * 2**claim.faults, LONGEST_DELAY), True, reason)


def in_short(ended: Outcome) -> dict[str, Any]:
    """What the board keeps of a run's outcome; the ledger has all of it."""
    return {
        "status": ended.status,
        "exit_status": ended.exit_status,
        "reason": ended.reason,
        "answer": ended.answer,
        "facts": {name: fact.value for name, fact in sorted(ended.facts.items())},
        "missing": list(ended.missing),
        "contract_by": ended.contract_by,
        "steps": ended.steps,
        "run": ended.run,
        "head": ended.head,
    }


def error_outcome(claim: Claim, code: str, status: int, words: str) -> dict[str, Any]:
    """An outcome of a job that has no run to speak of."""
    return {
        "status": "error",
        "error": code,
        "exit_status": status,
        "reason": one_line(words, 600),
        "run": claim.run,
    }


def settled(claim: Claim, result: Attempted, *, cancelled: bool) -> Attempted:
    """An interrupted job ends where its batch was cancelled, and waits again where only its worker was stopped."""
    if not isinstance(result, Interrupted):
        return result
    return Finished({**result.outcome}) if cancelled else Later(0.0, False, "the worker was stopped")
