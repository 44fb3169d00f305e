"""How much a model is sent over a run: ours beside a loop that sends its whole transcript again at every step.

    python benchmarks/view.py [--json]

Every observation is 2 KB. Tokens are estimated as a quarter of the characters, for both alike. The fixed part is what a
provider can cache; it is compared byte by byte between steps.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rootproof import canonical
from rootproof.contract import read_document
from rootproof.controller import Case, investigate
from rootproof.event import Began
from rootproof.frame import fixed
from rootproof.ledger.interface import Entry
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models import prompt
from rootproof.models.interface import Reply, View
from rootproof.scope import Scope
from rootproof.tools.interface import Field, Observation, Request, Result, ToolSpec

STEPS = (8, 50, 200)
OBSERVATION = 2048

SPEC = ToolSpec(
    name="look",
    version="1",
    doc="Report something.",
    fields=(Field("at", "integer", "where to look"),),
    results=(Result("at", "integer", "where it looked", required=True), Result("found", "text", "what is there")),
    echoes=("at",),
)


class Look:
    """A simulated tool with observations of 2 KB."""

    spec = SPEC

    def run(self, request: Request) -> Observation:
        at = int(str(request.input["at"]))
        line = f"line {at}: the value is {at * 7919 % 1000} and nothing else is known of it\n"
        return Observation({"at": at, "found": f"value {at}"}, (line * 40)[:OBSERVATION])


class Asker:
    """Asks for something new at every step, and keeps what it was sent."""

    name = "asker"

    def __init__(self) -> None:
        self.sent: list[View] = []

    def propose(self, shown: View) -> Reply:
        self.sent.append(shown)
        return Reply(json.dumps({"type": "action", "tool": "look", "input": {"at": len(self.sent)}}))


@dataclass(frozen=True)
class Row:
    """One line of the table. Characters are of all calls together."""

    steps: int
    ours: int
    transcript: int
    largest: int
    fixed: int
    same: bool


def measure(steps: int) -> Row:
    """One run of so many steps, and the same run by transcript."""
    document = {
        "schema": "rootproof/contract/1",
        "goal": "Find out what is wrong.",
        "scope": {"read": ["src/a.py"]},
        "budget": {"max_steps": steps, "seconds": 3600.0},
        "tools": {"look": {}},
        "evidence": [{"id": "seen", "tool": "look", "expect": {"at": 0}}],
        "completion": {"all": ["seen"]},
    }
    contract = read_document(document)
    asker = Asker()
    with tempfile.TemporaryDirectory() as folder:
        scope = Scope(Path(folder), contract.scope)
        frame = fixed(contract, [SPEC])
        store = SqliteStore(Path(folder) / "runs.sqlite3")
        ledger = store.create()
        began = Began(
            contract=contract.document,
            contract_digest=contract.digest,
            scope={},
            scope_digest=canonical.digest({}),
            rules="1",
            tools={"look": "1"},
            model=asker.name,
        )
        ledger.append(ledger.replay(), Entry(began))
        investigate(Case(contract, asker, {"look": Look()}, scope, frame), ledger)
        store.close()
    words = len(prompt.text())
    firsts = {shown.text[: shown.fixed] for shown in asker.sent}
    sizes = [len(shown.text) for shown in asker.sent]
    return Row(
        steps=steps,
        ours=sum(sizes) + words * steps,
        transcript=transcript(steps, words + asker.sent[0].fixed),
        largest=max(sizes),
        fixed=asker.sent[0].fixed,
        same=len(firsts) == 1,
    )


def transcript(steps: int, first: int) -> int:
    """Characters that a loop sends which appends every reply and observation and sends all of it each time."""
    reply = len(json.dumps({"type": "action", "tool": "look", "input": {"at": 100}}))
    return sum(first + done * (reply + OBSERVATION) for done in range(steps))


def main() -> None:
    rows = [measure(steps) for steps in STEPS]
    if "--json" in sys.argv:
        print(json.dumps([vars(row) for row in rows], indent=2))
        return
    print("steps   sent (characters, about tokens)    by transcript                    largest   fixed part")
    for row in rows:
        same = "the same at every step" if row.same else "DIFFERS"
        print(
            f"{row.steps:5}   {row.ours:11,} {row.ours // 4:11,}        {row.transcript:11,} {row.transcript // 4:11,}"
            f"        {row.largest:6,}   {row.fixed:,}, {same}"
        )


if __name__ == "__main__":
    main()
