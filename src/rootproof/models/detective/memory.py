"""What the detective has seen so far, gathered from the views it was shown and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rootproof.models.detective.conditions import Conditions


@dataclass
class Memory:
    """Notes of one run. A resumed run begins with empty notes and asks again for what it needs."""

    traced: bool = False
    trace: Mapping[str, Any] = field(default_factory=dict)
    """What tracing said."""
    searches: int = 0
    tries: int = 0
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    """(function, rule) of changes that were not supported."""
    suspects: list[Mapping[str, Any]] = field(default_factory=list)
    flips: list[Mapping[str, Any]] = field(default_factory=list)
    tried: dict[str, str] = field(default_factory=dict)
    """Key of a change → the verdict it was given, or ``asked``."""
    supported: list[Mapping[str, Any]] = field(default_factory=list)
    """Edits and spans of changes that were supported."""
    again: bool = False
    """A supported change was asked for a second time."""
    read: set[tuple[str, int, int]] = field(default_factory=set)
    """(path, first, last) that was asked for."""
    conditions: Conditions = field(default_factory=Conditions)

    def notice(self, view: Mapping[str, Any]) -> None:
        """Take what is new from one view."""
        last = view.get("last")
        if not isinstance(last, Mapping) or not isinstance(last.get("result"), Mapping):
            return
        result = last["result"]
        self.conditions.notice(last.get("tool"), result)
        if last.get("tool") == "trace_test":
            self.traced = True
            self.trace = result
            self.suspects = _rows(result.get("functions"))
        elif last.get("tool") == "search_changes":
            tries = result.get("tries")
            self.tries += tries if type(tries) is int else 0
            known = {key(flip["edits"]) for flip in self.flips}
            self.flips += [flip for flip in _rows(result.get("flips")) if key(flip.get("edits")) not in known]
        elif last.get("tool") == "try_change":
            self._judged(result)

    def _judged(self, result: Mapping[str, Any]) -> None:
        verdict = str(result.get("verdict") or "unknown")
        if verdict != "supported":
            spans = _rows(result.get("spans"))
            self.verdicts.append((str(spans[0].get("function")) if spans else "?", str(result.get("rule"))))
        for asked, said in self.tried.items():
            if said == "asked":
                self.tried[asked] = verdict
                if verdict == "supported":
                    self.supported.append({"edits": json.loads(asked), "spans": _rows(result.get("spans"))})

    def unread(self, places: Iterable[tuple[str, int, int]]) -> tuple[str, int, int] | None:
        """The first of some places that was not asked for yet, with lines around it; it counts as asked for then."""
        for path, first, last in places:
            wanted = (path, max(1, first - AROUND), max(first, last) + AROUND)
            if not any(p == path and a <= max(1, first - 1) and last + 1 <= b for p, a, b in self.read):
                self.read.add(wanted)
                return wanted
        return None

    def leading(self, functions: int) -> list[Mapping[str, Any]]:
        """The next change, then the first clean change of each other function, at most so many in all."""
        ahead = [flip for flip in (self.next_flip(), *self.flips) if flip and flip.get("clean")]
        first: dict[str, Mapping[str, Any]] = {}
        for flip in ahead:
            first.setdefault(str(flip.get("function")), flip)
        return list(first.values())[:functions]

    def next_flip(self) -> Mapping[str, Any] | None:
        """The best change not tried yet: clean ones only, one function after the other, two of each at most."""
        per_function: dict[str, int] = {}
        for flip in self.flips:
            if key(flip["edits"]) in self.tried:
                per_function[str(flip.get("function"))] = per_function.get(str(flip.get("function")), 0) + 1
        for flip in self.flips:
            fresh = key(flip["edits"]) not in self.tried
            if fresh and flip.get("clean") and per_function.get(str(flip.get("function")), 0) < MOST_OF_ONE_FUNCTION:
                return flip
        return None


MOST_OF_ONE_FUNCTION = 4
AROUND = 20
"""Lines read on either side of a change."""


def key(edits: Any) -> str:
    """The identity of a change in the detective's notes."""
    return json.dumps(edits, sort_keys=True)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; a list that was cut in the view comes as text and gives none."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
