"""What a run suspected and tried, from its observations: suspects, searches, hypotheses with their verdicts. Pure.

Rows are taken as they were reported; a part that is missing, or of another kind than it should be, is shown as empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rootproof.event import Observed
from rootproof.ledger.interface import Stored
from rootproof.report.document import Flip, Hypothesis, Search, Suspect


def observed(events: Sequence[Stored], *tools: str) -> list[tuple[Stored, Observed]]:
    """The observations of some tools, with where they are stored."""
    found = [(stored, stored.event) for stored in events if isinstance(stored.event, Observed)]
    return [(stored, event) for stored, event in found if event.tool in tools and isinstance(event.fields, dict)]


def suspects(events: Sequence[Stored]) -> list[Suspect]:
    """The functions that were suspect, best first, by the last observation that ranks some."""
    for stored, seen in reversed(observed(events, "trace_test", "search_changes")):
        rows = _rows(seen.fields, "functions")
        if rows:
            return [_suspect(stored.seq, row) for row in rows]
    return []


def _suspect(event: int, row: Mapping[str, Any]) -> Suspect:
    rank = row.get("rank")
    return Suspect(
        event=event,
        rank=float(rank) if isinstance(rank, int | float) else 0.0,
        path=_text(row, "path"),
        function=_text(row, "function"),
        first=_count(row, "first"),
        last=_count(row, "last"),
        why=_text(row, "why"),
    )


def hypotheses(events: Sequence[Stored]) -> list[Hypothesis]:
    """Every change and every condition that was tried under the protocol, with its verdict."""
    return [
        Hypothesis(
            event=stored.seq,
            kind=_text(seen.fields, "kind"),
            verdict=_text(seen.fields, "verdict"),
            grade=_text(seen.fields, "grade"),
            rule=_text(seen.fields, "rule"),
            reason=_text(seen.fields, "reason"),
            subject=_subject(seen.fields),
            diff=_text(seen.fields, "diff"),
            open_in=[str(place) for place in _list(seen.fields, "open_in")],
        )
        for stored, seen in observed(events, "try_change", "try_condition")
    ]


def _subject(fields: Mapping[str, Any]) -> str:
    kind = _text(fields, "kind")
    if kind == "environment":
        return f"{_text(fields, 'variable')} against {_text(fields, 'against') or 'not set'}"
    if kind == "order":
        before = _list(fields, "predecessors")
        return "after " + ", ".join(map(str, before)) if before else "the tests that run before it"
    if kind == "flaky":
        return "again and again under equal conditions"
    places = [f"{_text(span, 'path')}::{_text(span, 'function')}" for span in _rows(fields, "spans")]
    return "; ".join(dict.fromkeys(places))


def searches(events: Sequence[Stored]) -> list[Search]:
    """Each search, with the changes that turned the test green."""
    return [
        Search(
            event=stored.seq,
            tries=_count(seen.fields, "tries"),
            by_status=_counts(seen.fields, "by_status"),
            flips=[_flip(row) for row in _rows(seen.fields, "flips")],
        )
        for stored, seen in observed(events, "search_changes")
    ]


def _flip(row: Mapping[str, Any]) -> Flip:
    return Flip(
        place=_text(row, "function"),
        change=_text(row, "note"),
        clean=row.get("clean") is True,
        kept=_count(row, "kept"),
        broken=_count(row, "broken"),
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _count(row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    return value if type(value) is int else 0


def _list(row: Mapping[str, Any], name: str) -> list[Any]:
    value = row.get(name)
    return value if isinstance(value, list) else []


def _rows(row: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in _list(row, name) if isinstance(item, dict)]


def _counts(row: Mapping[str, Any], name: str) -> dict[str, int]:
    value = row.get(name)
    return {str(key): n for key, n in value.items() if type(n) is int} if isinstance(value, dict) else {}
