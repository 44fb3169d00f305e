"""The only file that names concrete classes: from a contract and options to a case that can be run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rootproof import canonical, contract_file, evidence, policy, proposers, recording, view
from rootproof.case import Case
from rootproof.contract import Contract as Document
from rootproof.contract import read_document
from rootproof.contract_file import Loaded
from rootproof.controller import investigate
from rootproof.errors import (
    ResumeRefused,
    UsageError,
)
from rootproof.event import Began, Resumed
from rootproof.ledger.interface import Entry
from rootproof.ledger.watched import Watched
from rootproof.outcome import Outcome, outcome, prove
from rootproof.place import Located
from rootproof.protocol import Action
from rootproof.scope import Scope
from rootproof.state import RESUMABLE, State
from rootproof.tools.interface import Request, ToolSpec
from rootproof.workshop import Options as Options
from rootproof.workshop import Workshop
from rootproof.workshop import choose_runner as choose_runner
from rootproof.workshop import choose_sandbox as choose_sandbox

if TYPE_CHECKING:
    from rootproof.ledger.sqlite import SqliteLedger, SqliteStore
    from rootproof.sandbox.interface import Probe

RULES = "2"
"""Version of policy, evidence, completion and fold: a run judged by others is not resumed."""


def catalog() -> dict[str, ToolSpec]:
    """The tools of this installation, by name."""
    from rootproof.tools import (
        history,
        list_files,
        probe,
        read_file,
        run_test,
        search_changes,
        search_code,
        trace_test,
        try_change,
        try_condition,
    )

    specs = (
        run_test,
        search_code,
        read_file,
        list_files,
        trace_test,
        search_changes,
        probe,
        history,
        try_change,
        try_condition,
    )
    return {tool.SPEC.name: tool.SPEC for tool in specs}


def checks() -> dict[str, evidence.Check]:
    """The named pure checks of the investigations."""
    from rootproof.investigations.root_cause.checks import CHECKS

    return dict(CHECKS)


def load_contract(path: Path) -> Loaded:
    """Read a contract file against this installation.

    Raises:
        ContractError: with every fault.
    """
    return contract_file.load(path, catalog(), frozenset(checks()))


def load_document(document: Mapping[str, Any], base: Path, origin: str) -> Loaded:
    """A contract given as plain data, in the form of the TOML file; ``base`` is what its root is relative to.

    Raises:
        ContractError: with every fault.
    """
    return contract_file.load_document(document, base.absolute(), origin, catalog(), frozenset(checks()))


class Contract(Document):
    """The contract as users of the library load it: checked against the tools installed here."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Loaded:
        """Read a contract file.

        Raises:
            ContractError: with every fault.
        """
        return load_contract(Path(path))

    @classmethod
    def of(cls, document: Mapping[str, Any], base: str | os.PathLike[str] = ".") -> Loaded:
        """A contract written in Python, as plain data in the form of the TOML file.

        Raises:
            ContractError: with every fault.
        """
        return load_document(document, Path(base), "contract")


def default_store() -> Path:
    """Where runs are kept when nothing else is said: one file under the user's data folder."""
    from platformdirs import user_data_path

    return Path(os.environ.get("ROOTPROOF_STORE") or user_data_path("rootproof") / "runs.sqlite3")


def open_store(path: Path | None, *, read_only: bool = False) -> SqliteStore:
    """Open the store of runs."""
    from rootproof.ledger.sqlite import SqliteStore

    return SqliteStore(path or default_store(), read_only=read_only)


def run(loaded: Loaded, options: Options, contract_by: Literal["user", "proposer"] = "user") -> Outcome:
    """Run one investigation from its beginning.

    Raises:
        ContainmentUnavailable, NotRunnable, ModelError, StoreError: nothing was run.
    """
    case = assemble(loaded.contract, options.root or loaded.root, options)
    store = open_store(options.store)
    try:
        ledger = store.create()
        scope = case.scope.manifest()
        began = Began(
            contract=loaded.contract.document,
            contract_digest=loaded.contract.digest,
            contract_by=contract_by,
            origin=loaded.origin,
            scope=scope,
            scope_digest=canonical.digest(scope),
            rules=RULES,
            tools={name: tool.spec.version for name, tool in case.tools.items()},
            model=case.model.name,
            prompt=proposers.prompt(case.model),
            root=str(case.scope.root),
            containment=_level(case),
        )
        return _carry_on(case, ledger, Entry(began), options)
    finally:
        store.close()


def resume(run: str, options: Options) -> Outcome:
    """Go on with a run that stopped resumably; an ended one is only told again.

    Raises:
        ResumeRefused: contract, rules or tools differ from the run's.
        StoreBusy: a live process has the run.
    """
    store = open_store(options.store)
    try:
        run = store.find(run)
        store.check_blobs(run)
        state = replayed(store, run)
        assert state.began is not None
        contract = read_document(state.began.contract)
        if state.stopped and state.status not in RESUMABLE:
            return outcome(run, contract, state, store.head(run))
        case = assemble(contract, options.root or Path(state.began.root), options)
        _same(state.began, contract, case)
        entry = Entry(Resumed(by=_user(), model=case.model.name, containment=_level(case)))
        return _carry_on(case, store.take(run), entry, options)
    finally:
        store.close()


def replayed(store: SqliteStore, run: str) -> State:
    """The state of a stored run, with its chain, its observations and, after success, its criteria proved again.

    Raises:
        LedgerDamaged: something is not what it was, or success does not follow from the facts.
    """
    from rootproof.ledger import chain

    state = chain.replay(store.events(run))
    prove(run, state)
    return state


def _carry_on(case: Case, ledger: SqliteLedger, first: Entry, options: Options) -> Outcome:
    from rootproof.ledger.heartbeat import heartbeat

    watched = Watched(ledger, options.listeners)
    leaves = proposers.notice(case.model)
    if leaves and options.notify:
        options.notify(leaves)
    try:
        with heartbeat(ledger):
            state = watched.replay()
            if not state.stopped or state.status in RESUMABLE:  # else another process ended it before this one had it
                watched.append(state, first)
                state = investigate(case, watched)
        return outcome(ledger.run, case.contract, state, ledger.head)
    finally:
        ledger.release()


def _same(began: Began, contract: Document, case: Case) -> None:
    tools = {name: tool.spec.version for name, tool in case.tools.items()}
    differ = [
        f"tool {name}: {began.tools.get(name)} then, {tools.get(name)} now"
        for name in sorted({*began.tools, *tools})
        if began.tools.get(name) != tools.get(name)
    ]
    if began.rules != RULES:
        differ.append(f"rules: {began.rules} then, {RULES} now")
    if began.contract_digest != contract.digest:
        differ.append("the contract")
    if differ:
        raise ResumeRefused("the run cannot be resumed, these differ: " + "; ".join(differ))


def assemble(contract: Document, root: Path, options: Options) -> Case:
    """Everything one investigation needs, but its ledger.

    Raises:
        ContainmentUnavailable, NotRunnable, ModelError: it cannot be run here so.
    """
    if not root.is_dir() or root.resolve() == Path("/"):
        raise UsageError(f"the repository is not at {root}", "name the folder of one repository with --root")
    model = proposers.open_model(options.model, options.record, options.suggest)
    proposers.check_limit(model, contract)
    scope = Scope(root, contract.scope)
    shop = Workshop(contract, scope, options)
    tools = {name: options.tools.get(name) or shop.tool(name) for name in contract.tools}
    specs = [tool.spec for tool in tools.values()]
    return Case(
        contract=contract,
        model=model,
        tools=tools,
        scope=scope,
        frame=view.frame(contract, specs),
        checks=checks(),
        secrets=recording.known_secrets(os.environ),
    )


def containment_probes() -> tuple[Probe, ...]:
    """Every way to contain code, tried here."""
    from rootproof.sandbox.choose import doctor

    return doctor()


def containment_words(probes: Sequence[Probe]) -> list[str]:
    """The same for a person, with the mend where nothing holds."""
    from rootproof.sandbox.choose import describe

    return describe(probes)


def request_for(case: Case, tool: str, arguments: Mapping[str, Any]) -> Request:
    """A request outside any run, judged by the contract as every other one.

    Raises:
        UsageError: the contract does not allow it.
    """
    spec = case.tools[tool].spec
    named = [entry for entry in policy.named_values(spec, arguments) if entry[0].kind == "path"]
    places = {name: case.scope.locate(str(value)) for _, name, value in named}
    verdict = policy.authorise(case.contract, spec, Action(tool, arguments), places)
    if not isinstance(verdict, policy.Allowed):
        raise UsageError(f"the contract does not allow it: {verdict.reason}")
    located = {name: place for name, place in places.items() if isinstance(place, Located)}
    return Request(tool, verdict.input, located, seconds=3600.0, cpu_seconds=3600.0)


def _level(case: Case) -> str:
    sandboxes = [tool.sandbox for tool in case.tools.values() if hasattr(tool, "sandbox")]
    return sandboxes[0].level if sandboxes else "none"


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
