"""What is left to do once a change is confirmed: judge the clean changes of other places, for they are rivals to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rootproof.models.detective.memory import Memory, key


def left(memory: Memory) -> Mapping[str, Any] | None:
    """The next clean change of a place without a confirmed one that was not tried; None where none is left."""
    places = confirmed(memory)
    if not places:
        return None
    for flip in memory.flips:
        clean = flip.get("unfinished") or (flip.get("clean") and flip.get("kept"))
        if clean and key(flip["edits"]) not in memory.tried and places.isdisjoint(_places(flip)):
            return flip
    return None


def confirmed(memory: Memory) -> set[str]:
    """Places of the changes that are confirmed."""
    found = [flip for flip in memory.flips if memory.tried.get(key(flip["edits"])) == "supported"]
    return {place for flip in found for place in _places(flip)}


def _places(flip: Mapping[str, Any]) -> list[str]:
    told = flip.get("places")
    return [str(place) for place in told] if isinstance(told, list) and told else [str(flip.get("function"))]
