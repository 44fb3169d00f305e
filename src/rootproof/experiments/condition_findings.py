"""What an examination of conditions reports, field by field, from its record alone."""

from __future__ import annotations

from rootproof.experiments import condition_judgements as judgements
from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.conditions import Condition
from rootproof.interval import wilson


def fields_of(seen: Condition, verdict: Verdict) -> dict[str, object]:
    """Every result field: whoever has the record and its files can make them again."""
    name, value = seen.variable
    passed, failed = judgements.counts(seen)
    flaky = seen.kind == "flaky"
    return {
        "target": seen.target,
        "kind": seen.kind,
        "verdict": verdict.answer,
        "grade": verdict.grade,
        "rule": verdict.rule,
        "reason": verdict.reason[:1000],
        "subject": judgements.subject(seen),
        "signature": judgements.signature(seen)[:800],
        "condition": judgements.said(seen)[:800] if verdict.answer == "supported" else "",
        "predecessors": list(seen.predecessors),
        "variable": f"{name}={value}" if name else "",
        "against": seen.against,
        "counts": _counts(seen),
        "interval": [round(bound, 4) for bound in wilson(failed, passed + failed)] if flaky else [],
        "runs": len(seen.runs),
        "tries": 1,
        "containment": seen.level,
    }


def _counts(seen: Condition) -> dict[str, int]:
    found: dict[str, int] = {}
    for run in seen.of("repeat") + seen.of("pair"):
        key = f"{judgements.word(run, seen.target)}_{run.variant}"
        found[key] = found.get(key, 0) + 1
    return found
