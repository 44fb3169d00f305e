"""What a confirmation reports, field by field, from its record alone: whoever has record and sources makes it again."""

from __future__ import annotations

from collections.abc import Mapping

from rootproof.experiments.change import Refused, decoded, diff_text
from rootproof.experiments.conclusion import Verdict, counted
from rootproof.experiments.controls import pairs_needed
from rootproof.experiments.matter import Matter
from rootproof.experiments.openness import open_in
from rootproof.experiments.record import Confirmation
from rootproof.experiments.reduce import apply_all

MAX_DIFF = 6_000


def fields_of(record: Confirmation, sources: Mapping[str, bytes], verdict: Verdict) -> dict[str, object]:
    """Every result field, from the record alone: whoever has record and sources can make them again."""
    matter = Matter(record, sources)
    supported = verdict.answer == "supported"
    known = bool(matter.new)
    return {
        "target": record.target,
        "verdict": verdict.answer,
        "grade": verdict.grade,
        "rule": verdict.rule,
        "reason": verdict.reason[:1000],
        "kind": record.kind,
        "subject": matter.subject,
        "signature": record.signature[:800],
        "change": [{"path": e.file, "start": e.first, "end": e.last, "text": e.new[:4000]} for e in matter.edits],
        "diff": _diff(matter)[:MAX_DIFF],
        "spans": [{"path": s.path, "first": s.first, "last": s.last, "function": s.function} for s in matter.spans],
        "place": "; ".join(matter.functions)[:1000] if supported else "",
        "open_in": list(open_in(matter, verdict)),
        "width": matter.shape.width if known else "",
        "executed": None if not record.covered else any(t.variant == "changed" for t in record.traces),
        "pairs": _pairs(record),
        "neighbours": _neighbours(record),
        "controls": _controls(record),
        "unmade": [f"{check}: {why}" for check, why in record.unmade],
        "runs": len(record.runs),
        "tries": 1,
        "containment": record.level,
    }


def _diff(matter: Matter) -> str:
    changed = apply_all(matter.edits, matter.sources) if matter.new else Refused("")
    if isinstance(changed, Refused):
        return ""
    return "".join(diff_text(f, decoded(matter.sources[f]), decoded(data)) for f, data in changed.items())


def _pairs(record: Confirmation) -> dict[str, int]:
    runs = record.of("pair")
    return {
        "needed": pairs_needed(record.tries),
        "failed_unchanged": sum(r.variant == "unchanged" and r.failed(record.target, record.signature) for r in runs),
        "passed_changed": sum(r.variant == "changed" and r.passed(record.target) for r in runs),
    }


def _neighbours(record: Confirmation) -> dict[str, object]:
    before, after = record.of("neighbours", "unchanged"), record.of("neighbours", "changed")
    if not before or not after:
        return {"chosen": len(record.neighbours)}
    kept = counted(record)
    broken = [test for test in kept if not after[-1].passed(test)]
    dropped = [f"{test}: {why}" for test, why in record.dropped]
    return {"kept": len(kept) - len(broken), "broken": broken[:20], "dropped": dropped[:20]}


def _controls(record: Confirmation) -> dict[str, str]:
    found = {"inert": "", "assertion": "", "renamed": ""}
    for name in found:
        runs = record.of(name)
        found[name] = ", ".join(o.status for o in runs[0].outcomes) if runs else "not run"
    for number, place in enumerate(record.places):
        runs = record.of("place", f"place:{number}")
        found[f"place {place.function}"] = runs[0].session if runs else "not run"
    return found
