"""What a diagnosis tried, told at its end: the confirmed change, or the one that came closest and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rootproof.event import Event, Observed
from rootproof.outcome import Outcome
from rootproof.state import State
from rootproof.text import one_line

DIFF_LINES = 40


class Tried:
    """A listener that keeps what each change of one run came to."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, Mapping[str, Any]]] = []

    def __call__(self, state: State, event: Event) -> None:
        if isinstance(event, Observed) and event.tool == "try_change" and isinstance(event.fields, dict):
            self._seen.append((state.step, event.fields))

    def lines(self, outcome: Outcome) -> list[str]:
        """The change that the conclusion rests on; without one, that which flipped the test and is not confirmed."""
        if outcome.status == "success":
            confirmed = outcome.facts.get("confirmed")
            resting = [one for one in self._seen if confirmed and one[1].get("subject") == confirmed.about]
            head, told = "the change of step", resting[-1:]
        else:
            flipped = [one for one in self._seen if _flipped(one[1])]
            head, told = "closest, not confirmed: the change of step", flipped[:1]
        return [line for step, fields in told for line in _told(f"{head} {step}", fields)]


def _flipped(fields: Mapping[str, Any]) -> bool:
    pairs = fields.get("pairs")
    return (
        fields.get("verdict") in ("inconclusive", "supported")
        and isinstance(pairs, dict)
        and pairs.get("passed_changed", 0) == pairs.get("failed_unchanged", 0) == pairs.get("needed", -1)
    )


def _told(head: str, fields: Mapping[str, Any]) -> Iterator[str]:
    yield head
    diff = [line for line in str(fields.get("diff")).splitlines() if line.strip()]
    for line in diff[:DIFF_LINES]:
        yield f"    {one_line(line, 160)}"
    if len(diff) > DIFF_LINES:
        yield f"    ... {len(diff) - DIFF_LINES} more lines"
    pairs, neighbours = fields.get("pairs"), fields.get("neighbours")
    if isinstance(pairs, dict) and isinstance(neighbours, dict):
        passed, failed, needed = (pairs.get(name) for name in ("passed_changed", "failed_unchanged", "needed"))
        yield f"  with it the test passed in {passed} of {needed} cold runs, without it failed in {failed} of {needed}"
        yield f"  {neighbours.get('kept')} other tests that run what it changes still pass"
    if fields.get("verdict") == "supported":
        yield f"  grade {fields.get('grade')}: {one_line(str(fields.get('reason')), 300)}"
    else:
        yield f"  why that is not enough: {one_line(str(fields.get('reason')), 300)}"
