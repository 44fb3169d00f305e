"""A confirmed change is offered first to the next red test; the model behind it is asked when that is over."""

from __future__ import annotations

import json
from typing import Any

from rootproof.models.interface import Reply, View
from rootproof.models.offered import Offer, Offered

EDITS = [{"path": "a.py", "start": 30, "end": 30, "text": "x = 1\n"}]
SPANS = [{"path": "a.py", "first": 31, "last": 31}, {"path": "b.py", "first": 5, "last": 5}]
OFFER = Offer("tests/test_a.py::test_x", EDITS, SPANS)


class Other:
    """A model that is asked when the offers are over."""

    name = "other"

    def propose(self, view: View) -> Reply:
        return Reply('{"type": "final"}')


def asked(model: Offered, missing: bool = True, tools: tuple[str, ...] = ("read_file", "try_change")) -> dict[str, Any]:
    view = {"tools": {tool: {} for tool in tools}, "missing": ["read"] if missing else []}
    found: dict[str, Any] = json.loads(model.propose(View(json.dumps(view))).text)
    return found


def test_every_place_is_read_once_then_the_change_is_tried_then_the_other_is_asked() -> None:
    model = Offered(Other(), [OFFER])
    first, second, third = asked(model), asked(model), asked(model)
    assert [(m["tool"], m["input"]["path"]) for m in (first, second)] == [("read_file", "a.py"), ("read_file", "b.py")]
    assert first["input"]["start"] <= 30 and first["input"]["end"] >= 31
    assert third["tool"] == "try_change" and third["input"] == {"edits": EDITS}
    assert asked(model) == {"type": "final"}


def test_the_latest_offer_comes_first_and_none_follows_once_nothing_is_missing() -> None:
    model = Offered(Other(), [OFFER, Offer("tests/test_b.py::test_y", EDITS, ())])
    assert "test_b.py" in asked(model)["note"]
    assert asked(model)["tool"] == "try_change"
    assert asked(model, missing=False) == {"type": "final"}


def test_a_contract_without_the_tools_is_offered_nothing() -> None:
    assert asked(Offered(Other(), [OFFER]), tools=("read_file",)) == {"type": "final"}
