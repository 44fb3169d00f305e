"""A change that was confirmed for one red test, offered first for another; then the model itself is asked.

It saves a search, never a check: the change goes through the whole protocol for the other test too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rootproof.models.interface import Model, Reply, View

AROUND = 20
"""Lines read on either side of a place."""
MOST = 3
"""Changes offered to one run."""


@dataclass(frozen=True)
class Offer:
    """One confirmed change."""

    test: str
    """The test it was confirmed for."""
    edits: Sequence[Mapping[str, Any]]
    """path, start, end, text: as ``try_change`` takes them."""
    spans: Sequence[Mapping[str, Any]]
    """path, first, last: every place of the subject."""


class Offered:
    """Another model, before whose first turn the changes are put forward, one after the other, until one holds."""

    def __init__(self, inner: Model, offers: Sequence[Offer]) -> None:
        self._inner = inner
        self._waiting = [*offers[-MOST:]]
        self._steps: Iterator[dict[str, Any]] = iter(())
        self.name = inner.name
        self.notice = getattr(inner, "notice", "")
        self.prompt = getattr(inner, "prompt", "")
        self.needs_token_limit = getattr(inner, "needs_token_limit", False)

    def propose(self, view: View) -> Reply:
        """The next step of an offer; where none is left or nothing is missing any more, what the other model says.

        Raises:
            ModelUnavailable: as the other model does.
        """
        seen: dict[str, Any] = json.loads(view.text)
        if not {"read_file", "try_change"} <= set(seen.get("tools", {})):
            return self._inner.propose(view)
        message = next(self._steps, None)
        while message is None and self._waiting and seen.get("missing"):
            self._steps = _steps(self._waiting.pop())
            message = next(self._steps, None)
        return self._inner.propose(view) if message is None else Reply(json.dumps(message))


def _steps(offer: Offer) -> Iterator[dict[str, Any]]:
    """Read every place, for a span that was not read supports nothing; then try the change."""
    why = f"a change that was confirmed for {offer.test}"[:300]
    places = [(e["path"], e["start"], e["end"]) for e in offer.edits]
    places += [(s["path"], s["first"], s["last"]) for s in offer.spans]
    read: set[tuple[str, int, int]] = set()
    for path, first, last in places:
        if not any(p == path and a <= first and last <= b for p, a, b in read):
            start, end = max(1, first - AROUND), max(first, last) + AROUND
            read.add((path, start, end))
            yield _action("read_file", f"read: {why}", {"path": path, "start": start, "end": end})
    yield _action("try_change", f"offered: {why}", {"edits": [dict(edit) for edit in offer.edits]})


def _action(tool: str, note: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "action", "tool": tool, "input": fields, "note": note[:300]}
