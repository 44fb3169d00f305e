"""The example's ticket tool, project and contract, over a store of the test's own.

Everything goes the real way: raw messages, ``rootproof.run``, the SQLite store, the example's own tracker file.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import report_defect
from tracker import SPEC, OpenTicket, Tracker

from harness import EXAMPLE
from rootproof import assemble
from rootproof.contract_file import Loaded
from rootproof.decisions import Decision, decide
from rootproof.ledger.interface import Entry, Stored
from rootproof.ledger.watched import Listener
from rootproof.models.scripted import Scripted
from rootproof.outcome import Outcome
from rootproof.state import State
from rootproof.tools.interface import Compensated, Declined, Observation, Request, Standing

every_store = pytest.mark.parametrize("kept", ["sqlite", "postgres"], indirect=True)
"""Over each member of the family of stores."""
TITLE = report_defect.TITLE
propose = report_defect.propose
Say = Callable[[dict[str, Any]], Any]


def opening(title: str, body: str = "") -> dict[str, Any]:
    """A message that asks for a ticket."""
    return {"type": "action", "tool": "open_ticket", "input": {"title": title, "body": body}}


def two(view: dict[str, Any]) -> dict[str, Any]:
    """A model that opens a ticket twice, under two titles, and then asks for nothing that is left."""
    return {1: opening("first"), 2: opening("second")}.get(view["step"], {"type": "final"})


class Ticket(OpenTicket):
    """The example's tool, which counts how often it was entered and can be struck on the way."""

    def __init__(self, tracker: Tracker) -> None:
        super().__init__(tracker)
        self.entered = 0
        self.undone = 0
        self.asked: list[str] = []
        self.after_run: Callable[[], None] = lambda: None
        self.after_undo: Callable[[], None] = lambda: None
        self.blind = False

    def run(self, request: Request) -> Observation | Declined:
        self.entered += 1
        result = super().run(request)
        self.after_run()
        return result

    def lookup(self, key: str) -> Standing:
        self.asked.append(key)
        return Standing("unknown", reason="the tracker does not answer") if self.blind else super().lookup(key)

    def compensate(self, key: str) -> Compensated:
        self.undone += 1
        result = super().compensate(key)
        self.after_undo()
        return result


class Desk:
    """A project, a tracker and a store."""

    def __init__(self, folder: Path, runs: Path, named: str = "") -> None:
        self.root = copytree(EXAMPLE / "project", folder / "project")
        self.path: Any = named or runs / "runs.sqlite3"
        self.tracker = Tracker(runs / "tickets.sqlite3")
        self.tool = Ticket(self.tracker)

    def contract(self, steps: int = 6, **parts: Any) -> Loaded:
        document = deepcopy(report_defect.contract(steps))
        for key, value in parts.items():
            document[key] = {**document[key], **value} if isinstance(value, dict) else value
        return assemble.load_document(document, self.root.parent, "contract.toml", [self.tool])

    def options(self, say: Say, *listeners: Listener) -> assemble.Options:
        tools = {"open_ticket": self.tool}
        return assemble.Options(store=self.path, model=Scripted(say), tools=tools, listeners=listeners)

    def run(self, say: Say = propose, loaded: Loaded | None = None, *listeners: Listener) -> Outcome:
        return assemble.run(loaded or self.contract(), self.options(say, *listeners))

    def resume(self, run: str = "last", say: Say = propose, *listeners: Listener) -> Outcome:
        return assemble.resume(run, self.options(say, *listeners))

    def approve(self, run: str = "last", by: str = "Ada", reason: str = "do it", request: str = "") -> Outcome:
        return decide(run, Decision("approve", by, reason, request), self.path)

    def refuse(self, run: str = "last", by: str = "Ada", reason: str = "not now") -> Outcome:
        return decide(run, Decision("refuse", by, reason), self.path)

    def to_the_end(self, say: Say = propose, run: str = "last") -> Outcome:
        """Approve and resume until nobody is asked any more."""
        for _ in range(20):
            state = self.state(run)
            if not state.resumable:
                break
            if state.status == "waiting" and state.pending is not None and state.effects.given is None:
                self.approve(run)
            self.resume(run, say)
        return self.resume(run, say)

    def append(self, *events: Any, run: str = "last") -> None:
        """What somebody with a program of his own would write into the store: a chain that is whole."""
        store = assemble.open_store(self.path)
        ledger = store.take(store.find(run))
        state = ledger.replay()
        for event in events:
            state = ledger.append(state, Entry(event))
        ledger.release()
        store.close()

    def stored(self, run: str = "last") -> tuple[Stored, ...]:
        store = assemble.open_store(self.path, read_only=True)
        try:
            return tuple(store.events(store.find(run)))
        finally:
            store.close()

    def types(self, run: str = "last") -> list[str]:
        return [one.event.type for one in self.stored(run)]

    def types_or_none(self) -> list[str]:
        """The same; empty where no run has begun."""
        store = assemble.open_store(self.path)  # mends what a killed process left half made
        try:
            return self.types() if store.runs() else []
        finally:
            store.close()

    def events(self, kind: str, run: str = "last") -> list[Any]:
        return [one.event for one in self.stored(run) if one.event.type == kind]

    def state(self, run: str = "last") -> State:
        store = assemble.open_store(self.path, read_only=True)
        try:
            return assemble.replayed(store, store.find(run))
        finally:
            store.close()


__all__ = ["EXAMPLE", "SPEC", "TITLE", "Desk", "Ticket", "every_store", "opening", "propose", "report_defect", "two"]
