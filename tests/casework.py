"""A test's own small investigation: a repository built from a list of operations, a contract, a scripted model.

Everything goes the real way: ``controller.investigate`` over the SQLite ledger, real tools, raw messages. Nothing is
replaced; a message may be a function of the view that does something to the repository first.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rootproof import canonical
from rootproof.case import Case
from rootproof.contract import Contract, read_document
from rootproof.controller import investigate
from rootproof.event import Began, Event
from rootproof.frame import fixed
from rootproof.ledger.interface import Entry, Stored
from rootproof.ledger.sqlite import SqliteStore
from rootproof.models.interface import Reply, View
from rootproof.scope import Scope
from rootproof.state import State
from rootproof.tools.interface import Tool
from rootproof.tools.list_files import ListFiles
from rootproof.tools.read_file import ReadFile
from rootproof.tools.search_code import SearchCode

MAKERS: dict[str, Callable[[Scope, Mapping[str, Any]], Tool]] = {
    "read_file": ReadFile,
    "search_code": SearchCode,
    "list_files": ListFiles,
}

Say = str | Mapping[str, Any] | Callable[[dict[str, Any]], "str | Mapping[str, Any]"]
FINAL = {"type": "final"}


def action(tool: str, **arguments: Any) -> dict[str, Any]:
    """A message that asks for one call."""
    return {"type": "action", "tool": tool, "input": arguments}


class Repository:
    """A throw-away folder ``root``, and beside it one that is outside (``outside``)."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        self.outside = folder / "outside"
        self.root.mkdir()
        self.outside.mkdir()

    def path(self, name: str | bytes) -> Path:
        """Where a root-relative name (or one beginning with ``$OUT/``) lies; bytes may be no UTF-8."""
        name = os.fsdecode(name)
        place = self.outside / name[5:] if name.startswith("$OUT/") else self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def file(self, name: str | bytes, content: str | bytes, mode: int = 0o644) -> Repository:
        place = self.path(name)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        place.chmod(mode)
        return self

    def generated(self, name: str, prefix: str, repeat: str, count: int, suffix: str | bytes = "") -> Repository:
        """A file of a prefix, something repeated, and a suffix."""
        end = suffix.encode() if isinstance(suffix, str) else suffix
        return self.file(name, prefix.encode() + repeat.encode() * count + end)

    def link(self, name: str, target: str) -> Repository:
        """A symbolic link; a target beginning with ``$OUT/`` is outside the root."""
        to = str(self.outside / target[5:]) if target.startswith("$OUT/") else target
        self.path(name).symlink_to(to)
        return self

    def pipe(self, name: str) -> Repository:
        os.mkfifo(self.path(name))
        return self

    def rewrite_same_time(self, name: str, content: str) -> None:
        """Other content of the same length, with the times of access and modification set back."""
        place = self.path(name)
        before = place.stat()
        assert len(content.encode()) == before.st_size and stat.S_ISREG(before.st_mode)
        place.write_text(content)
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def contract(**parts: Any) -> Contract:
    """A small valid contract: everything readable, three tools, one criterion that nothing here meets by itself.

    Each argument replaces one top-level part.
    """
    document: dict[str, Any] = {
        "schema": "rootproof/contract/1",
        "goal": "find out what is wrong",
        "scope": {"read": ["**"]},
        "budget": {"max_steps": 20},
        "tools": {"read_file": {}, "search_code": {}, "list_files": {}},
        "evidence": [{"id": "seen", "tool": "read_file", "where": {"path": "never/there"}}],
        "completion": {"all": ["seen"]},
    }
    return read_document({**document, **parts})


@dataclass
class Scripted:
    """Says the messages one after another, then asks to stop."""

    says: Sequence[Say]
    views: list[str] = field(default_factory=list)
    name: str = "scripted"

    def propose(self, view: View) -> Reply:
        said = self.says[len(self.views)] if len(self.views) < len(self.says) else FINAL
        self.views.append(view.text)
        if callable(said):
            said = said(json.loads(view.text))
        return Reply(said if isinstance(said, str) else json.dumps(said))


@dataclass(frozen=True)
class Played:
    """A finished run and everything it wrote or showed."""

    state: State
    stored: tuple[Stored, ...]
    views: tuple[str, ...]
    store: bytes
    """The raw bytes of the store's files: what any text must not be in, it must not be in here."""

    def events(self, kind: str) -> list[Any]:
        """The events of one type, in order."""
        return [one.event for one in self.stored if one.event.type == kind]

    def only(self, kind: str) -> Any:
        """The one event of a type."""
        found = self.events(kind)
        assert len(found) == 1, f"{len(found)} events {kind}: {[one.event.type for one in self.stored]}"
        return found[0]

    def nowhere(self, *texts: str) -> None:
        """No view, event, observation or stored byte holds any of the texts."""
        everything = b"\x00".join([self.store, *(view.encode() for view in self.views)])
        for one in texts:
            assert one.encode() not in everything, f"{one!r} leaked"


def play(
    repo: Repository,
    terms: Contract,
    says: Sequence[Say],
    *,
    tools: Mapping[str, Tool] | None = None,
    secrets: tuple[str, ...] = (),
) -> Played:
    """Run the messages, then one ``final``, through ``investigate``; no more steps are given than that.

    ``tools`` are added to the real ones, or stand for them.
    """
    steps = min(terms.budget.max_steps, len(says) + 1)
    terms = terms.model_copy(update={"budget": terms.budget.model_copy(update={"max_steps": steps})})
    scope = Scope(repo.root, terms.scope)
    real = {name: MAKERS[name](scope, settings) for name, settings in terms.tools.items() if name in MAKERS}
    used = {**real, **(tools or {})}
    specs = [tool.spec for tool in used.values()]
    model = Scripted(says)
    file = repo.root.parent / "store" / "runs.db"
    store = SqliteStore(file)
    ledger = store.create()
    case = Case(terms, model, used, scope, fixed(terms, specs), secrets=secrets)
    ledger.append(ledger.replay(), Entry(_began(terms, scope, used)))
    state = investigate(case, ledger)
    stored = tuple(store.events(ledger.run))
    store.check_blobs(ledger.run)
    store.close()
    written = b"".join(path.read_bytes() for path in sorted(file.parent.iterdir()))
    return Played(state, stored, tuple(model.views), written)


def _began(terms: Contract, scope: Scope, tools: Mapping[str, Tool]) -> Event:
    manifest = scope.manifest()
    return Began(
        contract=terms.document,
        contract_digest=terms.digest,
        scope=manifest,
        scope_digest=canonical.digest(manifest),
        rules="test",
        tools={name: tool.spec.version for name, tool in tools.items()},
        model="scripted",
        root=str(scope.root),
    )
