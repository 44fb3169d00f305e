"""What a judgement says: one word with the rule that decided and the reason. And what is said of work not done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Confirmation

ANSWERS = ("supported", "refuted", "masked", "inconclusive")
Answer = Literal["supported", "refuted", "masked", "inconclusive"]


@dataclass(frozen=True)
class Verdict:
    """One word, and why."""

    answer: Answer
    rule: str
    """Stable name of the rule that decided."""
    reason: str
    grade: Literal["A", "B", ""] = ""


Judgement = Callable[[Matter], Verdict | None]
"""None where it has nothing against the change."""


def refuted(rule: str, reason: str) -> Verdict:
    return Verdict("refuted", rule, reason)


def undecided(rule: str, reason: str) -> Verdict:
    return Verdict("inconclusive", rule, reason)


def not_done(matter: Matter, stage: str) -> Verdict:
    """What is said where a stage has not run: for want of budget, or by a fault."""
    where, reason = matter.record.stopped
    rule = "budget" if "left" in reason else "not_finished"
    return undecided(rule, f"{where or stage}: {reason or 'it was not done'}")


def unfinished(record: Confirmation) -> Verdict:
    """What is said while the pairs are not all there yet."""
    return not_done(Matter(record, {}), "pairs")


def lasting(record: Confirmation) -> tuple[str, ...]:
    """Neighbours that are not dropped."""
    gone = {test for test, _ in record.dropped}
    return tuple(test for test in record.neighbours if test not in gone)


def counted(record: Confirmation) -> tuple[str, ...]:
    """Neighbours that are neither dropped nor failed in the first run without the change; none before that run."""
    runs = record.of("neighbours", "unchanged")
    return tuple(test for test in lasting(record) if runs and runs[0].passed(test))


def is_unmade(record: Confirmation, check: str) -> bool:
    return any(name == check for name, _ in record.unmade)
