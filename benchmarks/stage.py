"""The investigation that is measured: one tool whose observations are 2 KB of text and bring no process with them."""

from __future__ import annotations

import json
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rootproof import canonical, frame
from rootproof.case import Case
from rootproof.contract import Contract, read_document
from rootproof.controller import investigate
from rootproof.event import Began, Event
from rootproof.ledger.interface import Entry, Ledger
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.interface import Reply, View
from rootproof.scope import Scope
from rootproof.state import State, fold
from rootproof.tools.interface import Field, Observation, Record, Request, Result, ToolSpec

OBSERVATION = 2_048
SPEC = ToolSpec(
    name="look",
    version="1",
    doc="Look at one part.",
    fields=(Field("part", "integer", "which part", least=1, most=1_000_000),),
    results=(Result("part", "integer", "which part", required=True), Result("found", "text", "what it is")),
    effect="none",
    echoes=("part",),
    checks=True,
    records=(Record("parts_seen", "found", "append", about=("part",)),),
)


def text_of(part: int) -> str:
    """2 KB that look like a source file: words and lines, always the same for a part."""
    chance = random.Random(part)
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < OBSERVATION:
        words = (chance.choice(("session", "path", "order", "total", "read", "key")) for _ in range(8))
        lines.append(f"    {chance.choice('abcdef')}{chance.randrange(10**6)} = {' '.join(words)}")
    return "\n".join(lines)[:OBSERVATION]


class Look:
    """The texts are made beforehand: what a tool itself costs is not measured."""

    spec = SPEC

    def __init__(self, steps: int) -> None:
        self.texts = {part: text_of(part) for part in range(1, steps + 1)}

    def run(self, request: Request) -> Observation:
        part = request.input["part"]
        assert isinstance(part, int)
        return Observation({"part": part, "found": f"part-{part}"}, self.texts[part])


@dataclass
class Asking:
    """Asks for one part after another; notes what it was shown and when."""

    steps: int
    name: str = "benchmark"
    characters: int = 0
    moments: list[float] = field(default_factory=list)

    def propose(self, shown: View) -> Reply:
        self.moments.append(time.process_time())
        self.characters += len(shown.text)
        part = len(self.moments)
        return Reply(json.dumps({"type": "action", "tool": "look", "input": {"part": part}}))


class Memory:
    """A ledger that keeps nothing but what the loop needs: what the loop costs without durable storage."""

    run = "memory"
    epoch = 1

    def __init__(self) -> None:
        self.events: list[Event] = []

    def replay(self) -> State:
        state = State()
        for event in self.events:
            state = fold(state, event, self.epoch)
        return state

    def append(self, state: State, entry: Entry) -> State:
        self.events.append(entry.event)
        return fold(state, entry.event, self.epoch)

    def blob(self, digest: str) -> bytes:
        raise KeyError(digest)


def contract(steps: int) -> Contract:
    return read_document(
        {
            "schema": "rootproof/contract/1",
            "goal": "Look at every part.",
            "scope": {"root": ".", "read": ["*.txt"]},
            "budget": {"max_steps": steps, "seconds": 3600.0},
            "tools": {"look": {}},
            "evidence": [{"id": "last", "tool": "look", "where": {"part": steps + 1}, "expect": {"found": "last"}}],
            "completion": {"all": ["last"]},
        }
    )


@dataclass(frozen=True)
class Figures:
    cpu_ms_a_step: float
    characters: int
    last_over_first: float
    """CPU of the last eighth of the run over that of the first."""
    store_over_raw: float | None


def measure(steps: int, ledger: str) -> Figures:
    """One run: ``ledger`` is ``sqlite``, ``memory``, or ``fold`` for folding the same events alone."""
    with tempfile.TemporaryDirectory(prefix="rootproof-bench-") as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        for name in ("one.txt", "two.txt"):
            (root / name).write_text(text_of(len(name)))
        terms = contract(steps)
        model = Asking(steps)
        case = Case(terms, model, {"look": Look(steps)}, Scope(root, terms.scope), frame.fixed(terms, [SPEC]))
        store = SqliteStore(Path(folder) / "runs.sqlite3") if ledger == "sqlite" else None
        kept: Ledger = store.create() if store else Memory()
        scope = case.scope.manifest()
        began = Began(
            contract=terms.document, contract_digest=terms.digest, scope=scope, scope_digest=canonical.digest(scope),
            rules="1", tools={"look": "1"}, model=model.name,
        )  # fmt: skip
        kept.append(kept.replay(), Entry(began))
        if ledger == "fold":
            investigate(case, kept)
            start = time.process_time()
            kept.replay()
            return Figures(1000 * (time.process_time() - start) / steps, 0, 1.0, None)
        start = time.process_time()
        state = investigate(case, kept)
        end = time.process_time()
        assert state.step == steps, state.reason
        store_bytes = None
        if store:
            store.close()
            store_bytes = sum(path.stat().st_size for path in Path(folder).glob("runs.sqlite3*"))
    moments = [*model.moments, end]
    eighth = max(steps // 8, 1)
    first, last = moments[eighth] - moments[0], moments[-1] - moments[-1 - eighth]
    ratio = None if store_bytes is None else store_bytes / (steps * OBSERVATION)
    return Figures(1000 * (end - start) / steps, model.characters, last / first, ratio)


def commit(times: int = 400) -> float:
    """CPU milliseconds of one synchronous SQLite transaction that writes what an event writes, and nothing else."""
    with tempfile.TemporaryDirectory(prefix="rootproof-bench-") as folder:
        store = SqliteStore(Path(folder) / "runs.sqlite3")
        run = store.connection.execute
        run("INSERT INTO runs VALUES ('r', '', 0, '', 1, '', 0)")
        body = text_of(1)[:700].encode()
        start = time.process_time()
        for number in range(times):
            run("BEGIN IMMEDIATE")
            run("UPDATE runs SET head_seq=? WHERE run='r'", (number,))
            run(
                "INSERT INTO events VALUES ('r', ?, 1, '2026-01-01T00:00:00.000+00:00', ?, ?)", (number, body, "0" * 64)
            )
            run("COMMIT")
        taken = time.process_time() - start
        store.close()
    return 1000 * taken / times
