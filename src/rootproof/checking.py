"""What a named check of an investigation is shown, and what it may say. Data alone; the judging is ``evidence``'s."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from rootproof import canonical
from rootproof.contract import EvidenceItem
from rootproof.event import Observed
from rootproof.state import State


@dataclass(frozen=True)
class Seen:
    """An observation with its stored bytes and the request it answers."""

    request: Mapping[str, object]
    observed: Observed
    attachments: Mapping[str, bytes]
    times: str = ""
    """Input field that says how often the same was done."""

    @cached_property
    def conditions(self) -> str:
        """Digest of the request and its conditions: the same again, however often, must say the same."""
        request: object = self.observed.request
        if self.times:
            request = [self.observed.tool, {k: v for k, v in self.request.items() if k != self.times}]
        return canonical.digest({"request": request, "conditions": self.observed.conditions})

    @cached_property
    def reads(self) -> tuple[str, ...]:
        return tuple(sorted(self.observed.reads))


@dataclass(frozen=True)
class Contested:
    """What a check says where conclusions exclude each other: some facts of before no longer stand."""

    reason: str
    """Why the observation gives no fact either; empty where it does."""
    facts: tuple[tuple[str, str], ...]
    """(name, about) of the facts that are withdrawn for the rest of the run."""


@dataclass(frozen=True)
class Shift:
    """What an observation, of whatever tool, changes about the facts of one evidence item."""

    opened: tuple[tuple[str, str, str], ...] = ()
    """(name, about, why): something speaks against the fact that is not judged to its end."""
    settled: tuple[tuple[str, str], ...] = ()
    """(name, about): nothing does any more."""


Check = Callable[[EvidenceItem, Seen, State], "str | Contested"]
"""A named pure check of an investigation: empty where it holds, else why it does not."""


@dataclass(frozen=True)
class Watchful:
    """A check that looks at every observation of the run, also at those that do not meet its evidence item."""

    asks: Check
    watch: Callable[[EvidenceItem, Seen, State], Shift]

    def __call__(self, item: EvidenceItem, seen: Seen, state: State) -> str | Contested:
        return self.asks(item, seen, state)
