"""Scores: what counts as found, and the summary with its intervals. Pure.

A statement suspect is a span of lines, a compound statement's header alone; it is right where it holds a true line
(for an insertion the line before or after). Ties share their mean rank. Of several true places any counts;
``all`` says whether every true function was among the first five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rootproof.apps.bench.manifest import Case, Truth
from rootproof.interval import wilson

DEPTHS = (1, 3, 5, 10)


@dataclass(frozen=True)
class Place:
    """One suspect of a contender."""

    file: str
    function: str
    first: int
    last: int
    rank: float
    """Mean rank among ties, from 1."""


@dataclass(frozen=True)
class Answer:
    """What one contender said of one case."""

    case: str
    contender: str
    ran: bool
    functions: tuple[Place, ...] = ()
    statements: tuple[Place, ...] = ()
    status: str = "undetermined"
    grade: str = ""
    """``A`` or ``B`` where the run ended in success."""
    concluded: tuple[tuple[str, str], ...] = ()
    """(file, function) of the conclusion's spans."""
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    mutants: int = 0
    mutants_cpu: float = 0.0
    """CPU seconds of the mutants beyond the target's own bare runs."""
    verified: bool | None = None
    """Whether the report was confirmed from a fresh set-up; None where there was nothing to confirm."""
    why: str = ""
    """For a contender that did not run, or that abstained."""


@dataclass(frozen=True)
class Score:
    """One answer against the truth."""

    case: str
    contender: str
    ran: bool
    function_rank: float | None
    statement_rank: float | None
    every_function: bool
    accepted: bool
    grade: str
    right: bool | None
    """For an accepted answer whether a concluded function is a true one."""
    cpu_seconds: float
    seconds: float
    why: str


def score(case: Case, answer: Answer) -> Score:
    accepted = answer.status == "success"
    true_functions = {(truth.file, truth.function) for truth in case.truth}
    first = {(p.file, p.function) for p in answer.functions if p.rank <= 5}
    return Score(
        case=case.id,
        contender=answer.contender,
        ran=answer.ran,
        function_rank=_best(p.rank for p in answer.functions if (p.file, p.function) in true_functions),
        statement_rank=_best(p.rank for p in answer.statements if any(_holds(p, truth) for truth in case.truth)),
        every_function=true_functions <= first,
        accepted=accepted,
        grade=answer.grade if accepted else "",
        right=bool(true_functions & set(answer.concluded)) if accepted else None,
        cpu_seconds=answer.cpu_seconds,
        seconds=answer.seconds,
        why=answer.why,
    )


def _holds(place: Place, truth: Truth) -> bool:
    return place.file == truth.file and any(place.first <= line <= place.last for line in truth.hit_lines)


def _best(ranks: Iterable[float]) -> float | None:
    return min(ranks, default=None)


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """The figures of one contender; fractions are of all cases, those that did not run included."""
    total = len(scores)
    found: dict[str, Any] = {"cases": total, "ran": sum(s.ran for s in scores)}
    for level in ("function", "statement"):
        for depth in DEPTHS:
            ranks = [getattr(s, f"{level}_rank") for s in scores]
            hits = sum(rank is not None and rank <= depth for rank in ranks)
            found[f"{level}_at_{depth}"] = hits / total if total else 0.0
            found[f"{level}_at_{depth}_interval"] = wilson(hits, total)
    found["every_function_at_5"] = sum(s.every_function for s in scores) / total if total else 0.0
    found["accepted"] = sum(s.accepted for s in scores)
    found["grade_a"] = sum(s.grade == "A" for s in scores)
    found["right"] = sum(s.right is True for s in scores)
    found["wrong"] = sum(s.right is False for s in scores)
    found["wrong_grade_a"] = sum(s.right is False and s.grade == "A" for s in scores)
    found["abstained"] = sum(s.ran and not s.accepted for s in scores)
    for name in ("accepted", "grade_a", "wrong"):
        found[f"{name}_interval"] = wilson(found[name], total)
    found["cpu_s_median"] = median([s.cpu_seconds for s in scores if s.ran] or [0.0])
    found["wall_s_median"] = median([s.seconds for s in scores if s.ran] or [0.0])
    return found


def rates(answers: Sequence[Answer]) -> dict[str, Any]:
    """Mutants a CPU second beyond the tests' own bare runs, and how many accepted reports were confirmed again."""
    tried, cpu = sum(a.mutants for a in answers), sum(a.mutants_cpu for a in answers)
    checked = [a.verified for a in answers if a.verified is not None]
    return {
        "mutants": tried,
        "mutants_per_cpu_s": tried / cpu if cpu > 0 else None,
        "verified": sum(checked),
        "verified_of": len(checked),
    }


def as_json(answer: Answer) -> dict[str, Any]:
    return asdict(answer)


def from_json(record: Mapping[str, Any]) -> Answer:
    """Read back what :func:`as_json` wrote.

    Raises:
        TypeError, KeyError: the record is not one.
    """
    fields = dict(record)
    fields["functions"] = tuple(Place(**place) for place in fields["functions"])
    fields["statements"] = tuple(Place(**place) for place in fields["statements"])
    fields["concluded"] = tuple((file, function) for file, function in fields["concluded"])
    return Answer(**fields)
