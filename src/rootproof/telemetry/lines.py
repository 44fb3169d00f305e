"""Structured logs: one JSON object an event, with names and numbers only."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, TextIO

from rootproof.event import Began, Blocked, Checked, Event, FinalJudged, Observed, ParseError, Started
from rootproof.state import State


class Lines:
    """Writes a line for each event of one run."""

    def __init__(self, run: str, stream: TextIO) -> None:
        self.run = run
        self.stream = stream

    def __call__(self, state: State, event: Event) -> None:
        self._write({"event": event.type, "seq": state.seq, "step": state.step, **_numbers(event), **_named(event)})
        if state.stopped:
            self._write({"event": "end", "step": state.step, "status": state.status})

    def close(self, error: str = "") -> None:
        if error:
            self._write({"event": "left", "error": error})

    def _write(self, said: dict[str, Any]) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self.stream.write(json.dumps({"time": now, "run": self.run, **said}) + "\n")
        self.stream.flush()


def _numbers(event: Event) -> dict[str, Any]:
    usage = getattr(event, "usage", None)
    return {name: round(value, 6) for name, value in vars(usage).items() if value} if usage is not None else {}


def _named(event: Event) -> dict[str, Any]:
    """Names that this program or the contract gave. What a model called something is not among them."""
    match event:
        case Began():
            return {"contract": event.contract_digest, "contract_by": event.contract_by}
        case Started():
            return {"tool": event.tool, "attempt": event.attempt}
        case Observed():
            return {"tool": event.tool, "cut": event.cut} if event.cut else {"tool": event.tool}
        case Checked():
            return {"tool": event.tool, "facts": len(event.facts)}
        case FinalJudged():
            return {"accepted": event.accepted, "missing": len(event.missing)}
        case Blocked() | ParseError():
            return {"code": event.code}
    return {}
