"""Which concrete requests a view allows, where they can be listed. Read from the view alone, never from the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rootproof.text import one_line

MOST = 60
PRODUCING = ("try_change", "search_changes")
"""Tools whose inputs are somebody's ideas: their requests are never listed."""


@dataclass(frozen=True)
class Offer:
    """One request that can be made: a tool, the values already known, and the fields still to be filled in."""

    tool: str
    """Empty for ``final``."""
    input: Mapping[str, Any]
    ask: Mapping[str, str]
    """Field → what it takes, in the view's words."""

    def words(self) -> str:
        """How a list for a person shows it."""
        if not self.tool:
            return "final: ask to stop"
        known = "".join(f" {key}={one_line(str(value), 120)}" for key, value in self.input.items())
        asked = f" (asks for {', '.join(self.ask)})" if self.ask else ""
        return f"{self.tool}{known}{asked}"


def offers(seen: Mapping[str, Any]) -> list[Offer]:
    """Every listed test and readable file, then the other tools, then ``final``."""
    offered: list[Offer] = []
    for tool, told in seen.get("tools", {}).items():
        fields = {name: takes for name, takes in told["input"].items() if not optional(takes)}
        offered += _of_tool(tool, fields, seen)
    return [*offered[: MOST - 1], Offer("", {}, {})]


def optional(takes: str) -> bool:
    """Whether a field, in the view's words, may be left out."""
    return "optional, " in takes.partition(": ")[0]


def _of_tool(tool: str, fields: Mapping[str, str], seen: Mapping[str, Any]) -> list[Offer]:
    for name, takes in fields.items():
        values = exact(seen, "tests") if takes.startswith("one of the tests") else []
        if takes.startswith("root-relative path"):
            values = exact(seen, "readable")
        rest = {other: text for other, text in fields.items() if other != name}
        if values:
            return [Offer(tool, {name: value}, rest) for value in values]
    return [Offer(tool, {}, fields)]


def exact(seen: Mapping[str, Any], key: str) -> list[str]:
    """The entries of a scope list, or nothing where one of them is a glob and so names no single thing."""
    entries = [entry for entry in seen.get(key, ()) if isinstance(entry, str) and not entry.startswith("... and ")]
    return [] if any(mark in entry for entry in entries for mark in "*?") else entries
