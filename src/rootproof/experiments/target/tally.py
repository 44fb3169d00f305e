"""What was found so far in one search, counted in the order asked for: which child ends first decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Tally:
    """Takes outcomes as they come, tells them in their order, and knows when enough was found."""

    def __init__(self, request: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> None:
        self.request = request
        self.send = send
        self.order = [mutant["id"] for mutant in request["mutants"]]
        self.functions = {mutant["id"]: mutant["function"] for mutant in request["mutants"]}
        self.ended: dict[int, dict[str, Any]] = {}
        """Outcomes that wait for one before them."""
        self.done = 0
        self.flips: dict[str, int] = {}
        """Clean flips of each function."""
        self.first_flip: int | None = None
        """How many changes were done when the first one that is clean was found."""

    def take(self, record: dict[str, Any]) -> None:
        """One outcome more. What lies behind the place where enough was found is not told."""
        self.ended[record["mutant"]] = record
        while not self.enough() and self.done < len(self.order) and self.order[self.done] in self.ended:
            self._count(self.ended.pop(self.order[self.done]))
            self.done += 1

    def _count(self, record: dict[str, Any]) -> None:
        self.send(record)
        if record.get("clean") and record["kept"]:
            function = self.functions[record["mutant"]]
            self.flips[function] = self.flips.get(function, 0) + 1
            self.first_flip = self.done + 1 if self.first_flip is None else self.first_flip

    def enough(self) -> bool:
        """Whether the outcomes told so far are enough to stop at."""
        if len(self.flips) >= self.request["stop_functions"]:
            return True
        if any(count >= self.request["stop_flips"] for count in self.flips.values()):
            return True
        return self.first_flip is not None and self.done - self.first_flip >= self.request["patience"]

    def close(self) -> None:
        """A limit ended the search: tell what is there beyond the gap."""
        for number in () if self.enough() else sorted(self.ended, key=self.order.index):
            self.send(self.ended.pop(number))
            self.done += 1
