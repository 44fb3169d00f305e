"""What the detective has seen so far, gathered from the views it was shown and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rootproof.models.detective.conditions import Conditions


@dataclass
class Memory:
    """Notes of one run. A resumed run begins with empty notes and asks again for what it needs."""

    traced: bool = False
    searches: int = 0
    suspects: list[Mapping[str, Any]] = field(default_factory=list)
    flips: list[Mapping[str, Any]] = field(default_factory=list)
    tried: dict[str, str] = field(default_factory=dict)
    """Key of a change → the verdict it was given, or ``asked``."""
    read: set[str] = field(default_factory=set)
    conditions: Conditions = field(default_factory=Conditions)

    def notice(self, view: Mapping[str, Any]) -> None:
        """Take what is new from one view."""
        self.read.update(path for path in view.get("facts", {}).get("files_read", []) if isinstance(path, str))
        last = view.get("last")
        if not isinstance(last, Mapping) or not isinstance(last.get("result"), Mapping):
            return
        result = last["result"]
        self.conditions.notice(last.get("tool"), result)
        if last.get("tool") == "trace_test":
            self.traced = True
            self.suspects = _rows(result.get("functions"))
        elif last.get("tool") == "search_changes":
            known = {key(flip["edits"]) for flip in self.flips}
            self.flips += [flip for flip in _rows(result.get("flips")) if key(flip.get("edits")) not in known]
        elif last.get("tool") == "try_change":
            self._judged(str(result.get("verdict", "")))

    def _judged(self, verdict: str) -> None:
        for asked, said in self.tried.items():
            if said == "asked":
                self.tried[asked] = verdict or "unknown"

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


def key(edits: Any) -> str:
    """The identity of a change in the detective's notes."""
    return json.dumps(edits, sort_keys=True)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; a list that was cut in the view comes as text and gives none."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
