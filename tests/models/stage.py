"""A small stage for model tests: three simulated tools, a real scope, a real SQLite ledger, the real loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rootproof import canonical, contract_file, view
from rootproof.case import Case
from rootproof.contract import Contract, read_document
from rootproof.controller import investigate
from rootproof.event import Began
from rootproof.frame import fixed
from rootproof.ledger.interface import Entry
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.interface import Model, Reply, View
from rootproof.models.scripted import Scripted
from rootproof.scope import Scope
from rootproof.state import State
from rootproof.tools.interface import Field, Observation, Record, Request, Result, ToolSpec

RUN_TEST = ToolSpec(
    name="run_test",
    version="1",
    doc="Run one test of the contract.",
    fields=(Field("test", "name", "a test id", of="tests"),),
    results=(
        Result("test", "text", "the test asked for", required=True),
        Result("status", "text", "outcome", required=True, choices=("passed", "failed", "crashed")),
        Result("expected", "scalar", "right side"),
        Result("actual", "scalar", "left side"),
    ),
    echoes=("test",),
    repeatable=True,
    checks=True,
    test_runs=1,
)
SEARCH_CODE = ToolSpec(
    name="search_code",
    version="1",
    doc="Find words in the readable files.",
    fields=(
        Field("query", "text", "words", most=100),
        Field("path", "path", "only below this folder", required=False, of="folder"),
    ),
    results=(Result("matches", "integer", "how many", required=True),),
    records=(Record("search_matches", "matches", "set", unless=0),),
)
READ_FILE = ToolSpec(
    name="read_file",
    version="1",
    doc="Read a readable file.",
    fields=(
        Field("path", "path", "which file"),
        Field("start", "integer", "first line", required=False, default=1, least=1),
    ),
    results=(
        Result("path", "text", "which file", required=True),
        Result("encoding", "text", "encoding"),
    ),
    echoes=("path",),
    checks=True,
    captures=True,
    records=(Record("files_read", "path", "append", about=("path",)),),
)

TEST = "tests/test_a.py::test_x"
DOCUMENT: dict[str, Any] = {
    "schema": "rootproof/contract/1",
    "goal": "Find out why the retry limit is not kept.",
    "scope": {"root": ".", "read": ["src/app.py"], "tests": [TEST]},
    "budget": {"max_steps": 8},
    "tools": {"run_test": {}, "search_code": {}, "read_file": {}},
    "evidence": [
        {"id": "reproduced", "tool": "run_test", "where": {"test": TEST}, "expect": {"status": "failed", "actual": 3}},
        {"id": "limit", "tool": "read_file", "where": {"path": "src/app.py"}, "capture": r"limit = (?P<found>\w+)"},
    ],
    "completion": {"all": ["reproduced", "found == 'retries'"]},
    "answer": {"template": "The limit is {{ found }}."},
}

RUN = '{"type": "action", "tool": "run_test", "input": {"test": "tests/test_a.py::test_x"}}'
SEARCH = '{"type": "action", "tool": "search_code", "input": {"query": "retry"}}'
READ = '{"type": "action", "tool": "read_file", "input": {"path": "src/app.py"}}'
FINAL = '{"type": "final"}'


@dataclass
class Simulated:
    """One simulated tool that counts how often it was entered."""

    spec: ToolSpec
    answer: Callable[[Request], Observation]
    entered: list[Request] = field(default_factory=list)

    def run(self, request: Request) -> Observation:
        self.entered.append(request)
        return self.answer(request)


class Stage:
    """One folder with a project, a contract, tools and a store."""

    def __init__(self, folder: Path, source: str = "limit = retries\n", **changes: Any) -> None:
        self.root = folder / "project"
        (self.root / "src").mkdir(parents=True, exist_ok=True)
        (self.root / "tests").mkdir(exist_ok=True)
        (self.root / "src/app.py").write_text(source, encoding="utf-8")
        (self.root / "tests/test_a.py").write_text("def test_x():\n    assert 3 == 2\n", encoding="utf-8")
        (self.root / ".env").write_text("PROVIDER_API_KEY=canary-file\n", encoding="utf-8")
        self.output = "1 failed"
        self.tools = {
            "run_test": Simulated(RUN_TEST, self._run_test),
            "search_code": Simulated(SEARCH_CODE, lambda _: Observation({"matches": 2}, "src/app.py:1: retry")),
            "read_file": Simulated(READ_FILE, self._read_file),
        }
        self.contract = contract_of(**changes)
        self.scope = Scope(self.root, self.contract.scope)
        self.store = SqliteStore(folder / "runs.sqlite3")

    def _run_test(self, request: Request) -> Observation:
        fields = {"test": request.input["test"], "status": "failed", "expected": 2, "actual": 3}
        return Observation(fields, self.output)

    def _read_file(self, request: Request) -> Observation:
        place = request.paths["path"]
        data = self.scope.read(place)
        digest = canonical.digest_bytes(data)
        shown = data.decode("utf-8", "backslashreplace")
        return Observation({"path": place.path}, shown, {place.path: data}, reads={place.path: digest})

    @property
    def tool_runs(self) -> int:
        return sum(len(tool.entered) for tool in self.tools.values())

    def case(self, model: Model, secrets: tuple[str, ...] = ()) -> Case:
        specs = [tool.spec for tool in self.tools.values()]
        frame = fixed(self.contract, specs)
        return Case(self.contract, model, self.tools, self.scope, frame, secrets=secrets)

    def begin(self, model: str = "scripted") -> tuple[Any, State]:
        ledger = self.store.create()
        manifest = self.scope.manifest()
        began = Began(
            contract=self.contract.document,
            contract_digest=self.contract.digest,
            scope=manifest,
            scope_digest=canonical.digest(manifest),
            rules="1",
            tools={name: tool.spec.version for name, tool in self.tools.items()},
            model=model,
        )
        return ledger, ledger.append(ledger.replay(), Entry(began))

    def run(self, model: Model, secrets: tuple[str, ...] = ()) -> State:
        """One whole run; its ledger is ``self.ledger`` afterwards."""
        self.ledger, _ = self.begin(model.name)
        return investigate(self.case(model, secrets), self.ledger)

    def play(self, *said: str | Reply) -> State:
        """One whole run of a list of messages."""
        return self.run(Scripted(list(said)))

    def events(self) -> list[Any]:
        return [stored.event for stored in self.store.events(self.ledger.run)]

    def first_view(self) -> View:
        _, state = self.begin()
        return view.render(self.contract, self.case(Scripted([])).frame, state)

    def view_after(self, *said: str) -> View:
        """The view that follows some messages."""
        seen: list[View] = []

        class Watching(Scripted):
            def propose(self, view: View) -> Reply:
                seen.append(view)
                return super().propose(view)

        self.run(Watching([*said, Reply("", "blocked")]))
        return seen[len(said)]


def contract_of(**changes: Any) -> Contract:
    """The stage's contract with some of its top-level keys replaced (tables are merged)."""
    document = dict(DOCUMENT)
    for key, value in changes.items():
        document[key] = {**document[key], **value} if isinstance(value, dict) else value
    return read_document(document)


def kinds(events: Sequence[Any]) -> list[str]:
    """The types of events, in order."""
    return [event.type for event in events]


def specs() -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in (RUN_TEST, SEARCH_CODE, READ_FILE)}


def loaded(folder: Path) -> Contract:
    """The stage's contract through the real loader: it is one that loads."""
    return contract_file.load_document(DOCUMENT, folder, "contract", specs(), frozenset()).contract
