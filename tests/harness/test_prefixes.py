"""Any prefix of any ledger with approvals, side effects and compensations resumes to the same state."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.test_properties import Listed, Memory, _come_to
from harness.desk import SPEC, opening, report_defect
from rootproof import approval, assemble, canonical, frame
from rootproof.case import Case
from rootproof.contract import read_document
from rootproof.controller import investigate
from rootproof.effect import ApprovalGiven, ApprovalRefused, ApprovalRequested
from rootproof.event import Began, Event, Resumed
from rootproof.ledger.interface import Entry
from rootproof.scope import Scope
from rootproof.state import State, fold
from rootproof.tools.interface import Compensated, Declined, Observation, Request, Standing
from rootproof.tools.read_file import ReadFile

MESSAGES = st.sampled_from(
    [
        json.dumps(opening("one")),
        json.dumps(opening("two")),
        json.dumps(opening("three", "no body")),
        json.dumps(opening("one", "said otherwise")),
        json.dumps(opening("bad\nlines")),
        json.dumps(opening("x" * 200)),
        '{"type": "action", "tool": "read_file", "input": {"path": "src/rates.py"}}',
        '{"type": "action", "tool": "deploy", "input": {}}',
        '{"type": "final"}',
        "prose",
    ]
)


class World:
    """A tracker in memory: title and whether it is open, by key; and how often each was opened and closed."""

    spec = SPEC

    def __init__(self) -> None:
        self.tickets: dict[str, tuple[str, bool]] = {}
        self.changes: dict[str, list[str]] = {}

    def run(self, request: Request) -> Observation | Declined:
        title = str(request.input["title"])
        if "\n" in title:
            return Declined("more than one line")
        if request.key not in self.tickets:
            self.put(request.key, title)
        return self.seen(request.key)

    def put(self, key: str, title: str) -> None:
        self.tickets[key] = (title, True)
        self.changes.setdefault(key, []).append("opened")

    def shut(self, key: str) -> None:
        self.tickets[key] = (self.tickets[key][0], False)
        self.changes[key].append("closed")

    def seen(self, key: str) -> Observation:
        return Observation({"title": self.tickets[key][0], "state": "open"})

    def lookup(self, key: str) -> Standing:
        if key not in self.tickets:
            return Standing("absent")
        return Standing("done", self.seen(key)) if self.tickets[key][1] else Standing("undone")

    def compensate(self, key: str) -> Compensated:
        if key in self.tickets and self.tickets[key][1]:
            self.shut(key)
        return Compensated(True)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "src").mkdir()
    (folder / "src" / "rates.py").write_text("MEMBER_DISCOUNT = 0.01\n")
    return folder


def case_of(root: Path, messages: list[str], world: World) -> Case:
    document = report_defect.contract(5)
    document["scope"]["root"] = "."
    contract = assemble.load_document(document, root, "contract.toml", [world]).contract
    scope = Scope(root, contract.scope)
    tools = {"open_ticket": world, "read_file": ReadFile(scope, {})}
    specs = [tool.spec for tool in tools.values()]
    return Case(contract, Listed(messages), tools, scope, frame.fixed(contract, specs))


def decision(state: State, asked: ApprovalRequested) -> Event:
    """The same person decides the same way about the same input."""
    at = approval.moment(state.effects)
    if "no body" in str(asked.input["body"]):
        return ApprovalRefused(by="Ada", reason="no", request=asked.request, at=at)
    known = {"request": asked.request, "contract": asked.contract, "expires_at": asked.expires_at}
    return ApprovalGiven(by="Ada", reason="yes", at=at, **known)


def play(case: Case, ledger: Memory) -> State:
    """To the very end, with a person who always answers."""
    if not ledger.kept:
        scope = case.scope.manifest()
        fixed: dict[str, Any] = {"contract": case.contract.document, "contract_digest": case.contract.digest}
        fixed |= {"scope": scope, "scope_digest": canonical.digest(scope), "rules": "1", "tools": {}, "model": "listed"}
        ledger.append(State(), Entry(Began(**fixed)))
    state = ledger.replay()
    while state.resumable:
        if state.status == "waiting":
            if isinstance(state.pending, ApprovalRequested) and state.effects.given is None:
                state = ledger.append(state, Entry(decision(state, state.pending)))
            ledger.append(state, Entry(Resumed()))
        state = investigate(case, ledger)
        ledger.epoch += 1
    return state


def world_after(events: list[Event], last_happened: bool) -> World:
    """The tracker as it is when the process has died after these events."""
    world, begun = World(), {}
    for number, event in enumerate(events):
        sure = number < len(events) - 1 or last_happened
        if event.type == "started" and event.key:
            begun = {"key": event.key, "title": str(event.input["title"])}
            if sure and "\n" not in begun["title"] and event.key not in world.tickets:
                world.put(**begun)
        if event.type == "undo_started" and sure and world.lookup(event.key).state == "done":
            world.shut(event.key)
    return world


def effects_of(state: State) -> dict[str, Any]:
    begun = [(one.tool, one.key, one.step, one.stuck, one.doubt) for one in state.effects.begun]
    return {**_come_to(state), "begun": begun, "undoing": state.effects.undoing}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(MESSAGES, min_size=1, max_size=5), happened=st.booleans())
def test_any_prefix_resumes_to_the_same_state_and_no_effect_happens_twice(
    root: Path, messages: list[str], happened: bool
) -> None:
    whole, world = Memory(), World()
    ended = play(case_of(root, messages, world), whole)
    assert whole.replay() == ended and not ended.resumable
    for count in range(1, len(whole.kept)):
        kept = [event for _, event in whole.events[:count]]
        left = world_after(kept, happened)
        ledger = Memory(whole.kept[:count], whole.blobs)
        state = play(case_of(root, messages, left), ledger)
        assert effects_of(state) == effects_of(ended), kept[-1]
        assert ledger.kept[:count] == whole.kept[:count]
        assert left.tickets == world.tickets and left.changes == world.changes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(MESSAGES, min_size=1, max_size=5))
def test_what_stands_in_the_world_is_what_the_state_says(root: Path, messages: list[str]) -> None:
    ledger, world = Memory(), World()
    state = play(case_of(root, messages, world), ledger)
    still_open = {key for key, (_, is_open) in world.tickets.items() if is_open}
    assert still_open == {effect.key for effect in state.effects.begun}
    assert not still_open or state.status == "success"
    approved = {event.request for _, event in ledger.events if event.type == "approval_given"}
    assert {event.request for _, event in ledger.events if event.type == "started" and event.key} <= approved
    folded = State()
    for epoch, event in ledger.events:
        before = replace(folded)
        once, again = fold(folded, event, epoch), fold(folded, event, epoch)
        assert once == again and folded == before
        folded = once
    assert read_document(folded.began.contract).digest == folded.began.contract_digest  # type: ignore[union-attr]
