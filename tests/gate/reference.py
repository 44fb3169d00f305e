"""The reference case with simulated tools, over real temporary files, a real scope and a real ledger.

A simulated tool has the declaration of the real one and an answer that a test chooses. Everything else goes the real
way: raw messages, ``assemble.run``, the SQLite store.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rootproof import assemble
from rootproof.apps.cli.progress import Progress
from rootproof.contract_file import Loaded
from rootproof.event import Event
from rootproof.ledger.interface import Stored
from rootproof.ledger.watched import Listener
from rootproof.models.scripted import Scripted
from rootproof.outcome import Outcome
from rootproof.state import State
from rootproof.tools import read_file, run_test, search_code
from rootproof.tools.interface import Declined, Observation, Request, Spend, Tool, ToolSpec

LOGIN, CALLBACK = "src/auth/login.ts", "src/auth/callback.ts"
TESTS = "tests/auth/login-redirect.test.ts"
REGRESSION, KEYS = f"{TESTS}#returns-to-requested-page", f"{TESTS}#session-key-contract"
FINAL = '{"type": "final"}'
PROSE = "Let me look at the failing test first."

FILES = {
    LOGIN: "export function start(session, query) {\n  const validatedPath = localPath(query.page);\n"
    "  session['return_to'] = validatedPath;\n}\n",
    CALLBACK: "export function finish(session) {\n  const landing = session['next_path'] ?? '/';\n"
    "  return redirect(landing);\n}\n",
    TESTS: "test('returns-to-requested-page')\ntest('session-key-contract')\n",
    "src/app.ts": "export const app = 1\n",
    ".env": "PASSWORD=hunter2-canary\n",
}

DOCUMENT: dict[str, Any] = {
    "schema": "rootproof/contract/1",
    "goal": "Find out why a signed-in user lands on / instead of the page they asked for.",
    "mode": "react",
    "scope": {"root": ".", "read": [LOGIN, CALLBACK], "tests": [REGRESSION, KEYS], "never": ["secrets/**"]},
    "budget": {"max_steps": 8, "max_consecutive_parse_errors": 2, "max_consecutive_invalid_actions": 3},
    "policy": {"on_invalid_input": "block"},
    "tools": {"run_test": {"runner": "vitest"}, "search_code": {"mode": "terms"}, "read_file": {}},
    "evidence": [
        {
            "id": "reproduced",
            "tool": "run_test",
            "where": {"test": REGRESSION},
            "expect": {"status": "failed", "expected": "/settings", "actual": "/"},
            "bind": {"wanted": "expected", "landed": "actual"},
            "otherwise": "fail",
        },
        {"id": "search_completed", "tool": "search_code", "expect": {"matches_min": 1}, "otherwise": "fail"},
        {
            "id": "producer",
            "tool": "read_file",
            "where": {"path": LOGIN},
            "capture": r"session\[['\"](?P<producer_key>\w+)['\"]\]\s*=\s*validatedPath",
        },
        {
            "id": "consumer",
            "tool": "read_file",
            "where": {"path": CALLBACK},
            "capture": r"session\[['\"](?P<consumer_key>\w+)['\"]\]\s*\?\?\s*['\"](?P<fallback>[^'\"]*)['\"]",
        },
        {
            "id": "contract_mismatch",
            "tool": "run_test",
            "where": {"test": KEYS},
            "expect": {"status": "failed", "expected": "return_to", "actual": "next_path"},
            "otherwise": "fail",
        },
    ],
    "completion": {
        "all": [
            "reproduced",
            "search_completed",
            "producer_key == 'return_to'",
            "consumer_key == 'next_path'",
            "contract_mismatch",
        ]
    },
    "answer": {
        "template": "Sign-in stores the path under {{ producer_key }}, the callback reads {{ consumer_key }} "
        "and falls back to {{ fallback }}: {{ wanted }} is lost."
    },
}

Answer = Callable[[Request], Observation | Declined]
Say = Sequence[Any] | Callable[[dict[str, Any]], Any]


def action(tool: str, **fields: Any) -> str:
    """A message that asks for one call."""
    return json.dumps({"type": "action", "tool": tool, "input": fields})


REPRODUCE, CONFIRM = action("run_test", test=REGRESSION), action("run_test", test=KEYS)
SEARCH = action("search_code", query="return_to next_path")
READ_LOGIN, READ_CALLBACK = action("read_file", path=LOGIN), action("read_file", path=CALLBACK)
GOOD = (REPRODUCE, SEARCH, READ_LOGIN, READ_CALLBACK, CONFIRM)


def policy(view: dict[str, Any]) -> str:
    """Prose first; then the next action by the facts shown, and ``final`` when nothing is missing."""
    return PROSE if view["step"] == 1 else sober(view)


def sober(view: dict[str, Any]) -> str:
    """The same without the prose."""
    facts = view["facts"]
    steps = {
        REPRODUCE: facts.get("reproduced"),
        SEARCH: facts.get("search_matches"),
        READ_LOGIN: any(LOGIN in str(entry) for entry in facts["files_read"]),
        READ_CALLBACK: any(CALLBACK in str(entry) for entry in facts["files_read"]),
        CONFIRM: facts.get("contract_mismatch"),
    }
    return next((message for message, done in steps.items() if not done), FINAL)


def terms(**parts: Any) -> dict[str, Any]:
    """The contract with some of its keys replaced: ``max_steps=3``, or a whole section."""
    document = deepcopy(DOCUMENT)
    for key, value in parts.items():
        (document["budget"] if key.startswith("max_") else document)[key] = value
    return document


def project(folder: Path) -> Path:
    """The files of the case, as a folder."""
    for name, content in FILES.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return folder


@dataclass
class Simulated:
    """A tool with the declaration of a real one, and an answer that the test chooses."""

    spec: ToolSpec
    answer: Answer
    entered: list[Request] = field(default_factory=list)

    def run(self, request: Request) -> Observation | Declined:
        self.entered.append(request)
        return self.answer(request)


def reported(**fields: Any) -> Answer:
    """The answer of a test that failed as the case has it; ``fields`` replace result fields."""

    def answer(request: Request) -> Observation:
        test = request.input["test"]
        wanted, got = ("/settings", "/") if test == REGRESSION else ("return_to", "next_path")
        raw = {"test": test, "status": "failed", "exit_code": 1, "expected": wanted, "actual": got, "limit": ""}
        raw |= {"outcome": f"{test} failed", "runner": "simulated", "containment": "none", **fields}
        return Observation(raw, excerpt=f"expected {wanted}, got {got}", spent=Spend(seconds=0.25, test_runs=1))

    return answer


def found(matches: int = 2) -> Answer:
    """The answer of a search with so many matches."""

    def answer(request: Request) -> Observation:
        asked = {name: request.input[name] for name in ("query", "mode", "ignore_case")}
        hits = [{"path": LOGIN, "line": 3, "column": 3, "text": "session['return_to']", "clipped": False}]
        raw = {**asked, "matches": matches, "complete": True, "files_scanned": 2, "files_matched": 2, "shown": 1}
        return Observation({**raw, "truncated": False, "hits": hits[:matches], "skipped": {}}, excerpt="login.ts:3")

    return answer


def read(**fields: Any) -> Answer:
    """The answer of a read: the whole file attached at its digest; ``fields`` replace result fields."""

    def answer(request: Request) -> Observation:
        place = request.paths["path"]
        data = place.absolute.read_bytes()
        digest, count = hashlib.sha256(data).hexdigest(), data.count(b"\n")
        raw = {"path": place.path, "digest": digest, "encoding": "utf-8", "encoding_certain": True}
        raw |= {"total_lines": count, "first_line": 1, "last_line": count, "content": data.decode(), **fields}
        return Observation(raw, data.decode(), {place.path: data}, reads={place.path: digest})

    return answer


def simulated(**answers: Answer) -> dict[str, Simulated]:
    """The three tools; an answer given by name stands for the usual one."""
    usual = {"run_test": reported(), "search_code": found(), "read_file": read()} | answers
    specs = {"run_test": run_test.SPEC, "search_code": search_code.SPEC, "read_file": read_file.SPEC}
    return {name: Simulated(specs[name], answer) for name, answer in usual.items()}


@dataclass(frozen=True)
class Played:
    """A finished run."""

    outcome: Outcome
    told: str
    """What the command line shows of it while it goes on."""
    stored: tuple[Stored, ...]
    state: State
    entered: Mapping[str, int]
    """Tool → how often it was entered."""

    @property
    def status(self) -> str:
        return self.outcome.status

    @property
    def words(self) -> list[tuple[int, str]]:
        """(step, word) of every line that begins a step."""
        lines = re.findall(r"^ {0,2}(\d+) (final: \w+|\w+)", self.told, re.M)
        return [(int(step), word) for step, word in lines]

    def events(self, kind: str) -> list[Any]:
        return [one.event for one in self.stored if one.event.type == kind]


class Store:
    """A place with the project and its store of runs."""

    def __init__(self, folder: Path, runs: Path | None = None, named: str = "") -> None:
        self.folder = folder
        self.root = project(folder / "project")
        self.path: Any = named or (runs or folder / "store") / "runs.sqlite3"
        """A file, or an address."""

    def load(self, document: Mapping[str, Any]) -> Loaded:
        return assemble.load_document(document, self.root, "contract.toml")

    def options(self, say: Say, tools: Mapping[str, Tool], *listeners: Listener) -> assemble.Options:
        return assemble.Options(store=self.path, model=Scripted(say), tools=tools, listeners=listeners)

    def play(self, say: Say = policy, document: Mapping[str, Any] = DOCUMENT, **answers: Answer) -> Played:
        """One whole run with simulated tools."""
        tools = simulated(**answers)
        return self.watch(tools, lambda options: assemble.run(self.load(document), options), say)

    def resume(self, run: str, say: Say = policy, **answers: Answer) -> Played:
        """Go on with a run of this store."""
        return self.watch(simulated(**answers), lambda options: assemble.resume(run, options), say)

    def watch(self, tools: Mapping[str, Any], go: Callable[[assemble.Options], Outcome], say: Say) -> Played:
        told = io.StringIO()
        outcome = go(self.options(say, tools, Progress(told)))
        entered = {name: len(tool.entered) for name, tool in tools.items()}
        return Played(outcome, told.getvalue(), self.stored(outcome.run), self.state(outcome.run), entered)

    def stored(self, run: str) -> tuple[Stored, ...]:
        store = assemble.open_store(self.path, read_only=True)
        try:
            store.check_blobs(run)
            return tuple(store.events(run))
        finally:
            store.close()

    def state(self, run: str) -> State:
        store = assemble.open_store(self.path, read_only=True)
        try:
            return assemble.replayed(store, run)
        finally:
            store.close()


def known(event: Event) -> list[str]:
    """Names of the facts that an event commits, without the built-in ones."""
    return [fact.name for fact in getattr(event, "facts", ()) if not fact.check.startswith("built-in:")]
