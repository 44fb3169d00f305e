"""The confirmed cause of a run, from its observations and the records stored with them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rootproof import text
from rootproof.event import Observed
from rootproof.experiments.record import Confirmation, from_data
from rootproof.report.document import CodeCause, ConditionCause, Context, Pair, Tested

RECORD = "confirmation.json"
AROUND = 6
"""Lines shown before and after a span."""

Blob = Callable[[str], bytes]

_CODE = (
    "target", "grade", "kind", "reason", "signature", "subject", "change", "diff", "spans", "place", "width",
    "executed", "pairs", "neighbours", "controls", "unmade", "containment",
)  # fmt: skip
_CONDITION = (
    "target", "grade", "kind", "reason", "signature", "subject", "condition", "predecessors", "variable", "against",
    "counts", "interval", "containment",
)  # fmt: skip


def code(event: int, observed: Observed, blob: Blob) -> CodeCause:
    """The cause that a supported change shows.

    Raises:
        ValueError: the observation has not the fields that such a change has.
    """
    fields = {name: observed.fields.get(name) for name in _CODE}
    runs: list[Pair] = []
    tests: list[Tested] = []
    if RECORD in observed.attachments:
        record = from_data(blob(observed.attachments[RECORD]))
        runs, tests = _pairs(record), _tested(record)
    shown = {**fields, "context": _context(observed, blob), "runs": runs, "tests": tests}
    return CodeCause.model_validate({"event": event, **shown})


def condition(event: int, observed: Observed) -> ConditionCause:
    """The cause that a supported condition shows.

    Raises:
        ValueError: the observation has not the fields that such a condition has.
    """
    return ConditionCause.model_validate({"event": event, **{name: observed.fields.get(name) for name in _CONDITION}})


def _pairs(record: Confirmation) -> list[Pair]:
    before, after = record.of("pair", "unchanged"), record.of("pair", "changed")
    said = [[_ended(run.outcome(record.target)) for run in runs] for runs in (before, after)]
    return [Pair(unchanged=one, changed=other) for one, other in zip(*said, strict=False)]


def _tested(record: Confirmation) -> list[Tested]:
    before, after = record.of("neighbours", "unchanged"), record.of("neighbours", "changed")
    if not before or not after:
        return []
    dropped = {test for test, _ in record.dropped}
    return [
        Tested(test=test, before=_ended(before[0].outcome(test)), after=_ended(after[-1].outcome(test)))
        for test in record.neighbours
        if test not in dropped
    ]


def _ended(outcome: Any) -> str:
    return str(outcome.status) if outcome is not None else "no outcome"


def _context(observed: Observed, blob: Blob) -> list[Context]:
    """The lines around each span, from the stored bytes of its file."""
    found = []
    for span in observed.fields.get("spans") or []:
        digest = observed.attachments.get(str(span.get("path")))
        if digest is None:
            continue
        whole = text.lines(blob(digest).decode("utf-8", "backslashreplace"))
        first, last = _window(span, len(whole))
        shown: Mapping[str, Any] = {**span, "start": first, "lines": whole[first - 1 : last], "digest": digest}
        found.append(Context.model_validate(shown))
    return found


def _window(span: Mapping[str, Any], total: int) -> tuple[int, int]:
    first, last = int(span["first"]), int(span["last"])
    return max(first - AROUND, 1), min(max(first, last) + AROUND, total)
