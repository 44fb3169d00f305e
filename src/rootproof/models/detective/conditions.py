"""The branch for failures that no code explains: order of tests, hash seed, chance, environment; what to try, in order.

Taken at once where the target does not fail alike each time, and last of all where nothing else explained it: an
examination that finds nothing costs two runs or so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

UNEQUAL = ("flaky", "order_dependent", "unstable_failure", "not_reproduced")
"""Rules of a trial that say that the target does not fail alike each time."""
ZONES = ("UTC", "America/New_York", "Asia/Tokyo", "Europe/Berlin")
LANGUAGES = ("en_US.UTF-8", "de_DE.UTF-8")
MISSING = re.compile(r"\bKeyError\b|environ|variable", re.IGNORECASE)
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|(?<=')[A-Z][A-Z0-9]{2,}(?=')")
Attempt = dict[str, str]


@dataclass
class Conditions:
    """Notes on how the target fails, and which conditions were examined."""

    status: str = ""
    """Of the traced target: anything but a failure means that it does not fail alone."""
    failure: str = ""
    unequal: bool = False
    asked: list[Attempt] = field(default_factory=list)
    supported: bool = False

    def notice(self, tool: object, result: Mapping[str, Any]) -> None:
        """Take what is new from the last observation."""
        if tool == "trace_test":
            self.status = str(result.get("status", ""))
            self.failure = f"{result.get('exception', '')}: {result.get('message', '')}"
            self.unequal = self.unequal or self.status == "passed"
        elif tool == "try_change":
            self.unequal = self.unequal or result.get("rule") in UNEQUAL
        elif tool == "try_condition":
            self.supported = self.supported or result.get("verdict") == "supported"

    def next(self) -> Attempt | None:
        """The next condition to examine; None where all were."""
        if self.supported:
            return None
        attempt = next((each for each in self._plan() if each not in self.asked), None)
        if attempt is not None:
            self.asked.append(attempt)
        return attempt

    def _plan(self) -> Iterator[Attempt]:
        if self.unequal:
            yield {"kind": "order", "reach": "file"}
            yield {"kind": "order", "reach": "suite"}
            yield {"kind": "environment", "variable": "PYTHONHASHSEED"}
            yield {"kind": "flaky"}
        if MISSING.search(self.failure):
            for name in dict.fromkeys(VARIABLE.findall(self.failure)[:3]):
                yield {"kind": "environment", "variable": name, "value": "1"}
        for zone in ZONES:
            yield {"kind": "environment", "variable": "TZ", "value": zone}
        for language in LANGUAGES:
            yield {"kind": "environment", "variable": "LANG", "value": language}
        yield {"kind": "flaky"}


def words(attempt: Attempt) -> str:
    """What is examined, in a few words."""
    told = " ".join(value for name, value in attempt.items() if name not in ("kind", "reach"))
    return f"{attempt['kind']} {told or attempt.get('reach', '')}".strip()
