"""The only file that names concrete classes: from a contract and options to a case that can be run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rootproof import canonical, contract_file, frame, masking, policy, proposers, recording, stores
from rootproof.authority import authorise
from rootproof.case import Case
from rootproof.contract import Contract as Document
from rootproof.contract import read_document
from rootproof.contract_file import Loaded
from rootproof.controller import investigate
from rootproof.effect_faults import effect_faults
from rootproof.errors import ContractError, Fault, ResumeRefused, UsageError
from rootproof.event import Began, Resumed
from rootproof.installed import Contract as Contract
from rootproof.installed import catalog as catalog
from rootproof.installed import checks as checks
from rootproof.installed import load_contract as load_contract
from rootproof.installed import load_document as load_document
from rootproof.ledger.interface import Entry
from rootproof.ledger.watched import Watched
from rootproof.outcome import Outcome, outcome
from rootproof.place import Located
from rootproof.protocol import Action
from rootproof.scope import Scope
from rootproof.stores import default_store as default_store
from rootproof.stores import open_store as open_store
from rootproof.stores import proved as proved
from rootproof.stores import replayed as replayed
from rootproof.tools.interface import Request, SideEffectTool, Tool
from rootproof.workshop import Options as Options
from rootproof.workshop import Workshop
from rootproof.workshop import choose_runner as choose_runner
from rootproof.workshop import choose_sandbox as choose_sandbox

if TYPE_CHECKING:
    from rootproof.ledger.store import RunLedger, Store
    from rootproof.sandbox.interface import Probe

RULES = "2"
"""Version of policy, evidence, completion and fold: a run judged by others is not resumed."""


def contract_document(path: Path) -> dict[str, Any]:
    """A contract file as plain data, unchecked but for its form.

    Raises:
        ContractError: it cannot be read.
    """
    return contract_file.document_of(path)


def run(loaded: Loaded, options: Options, contract_by: Literal["user", "proposer"] = "user") -> Outcome:
    """Run one investigation from its beginning.

    Raises:
        ContainmentUnavailable, NotRunnable, ModelError, StoreError: nothing was run.
    """
    case = assemble(loaded.contract, options.root or loaded.root, options)  # before a store is made for it
    with contextlib.closing(open_store(options.store, lease=options.lease)) as store:
        return _carry_on(case, store.create(), _began(case, loaded, contract_by), options)


def begin(
    store: Store, loaded: Loaded, options: Options, contract_by: Literal["user", "proposer"] = "user", run: str = ""
) -> Outcome:
    """Run one investigation from its beginning in an open store, under an id of its own or the one given.

    Raises:
        ContainmentUnavailable, NotRunnable, ModelError, StoreError: nothing was run.
        LeaseLost: the id is taken; nothing was run.
    """
    case = assemble(loaded.contract, options.root or loaded.root, options)
    return _carry_on(case, store.create(run), _began(case, loaded, contract_by), options)


def _began(case: Case, loaded: Loaded, contract_by: Literal["user", "proposer"]) -> Entry:
    scope = case.scope.manifest()
    began = Began(
        contract=loaded.contract.document,
        contract_digest=loaded.contract.digest,
        contract_by=contract_by,
        origin=loaded.origin,
        contract_file=str(loaded.file or ""),
        scope=scope,
        scope_digest=canonical.digest(scope),
        rules=RULES,
        tools={name: tool.spec.version for name, tool in case.tools.items()},
        model=case.model.name,
        prompt=proposers.prompt(case.model),
        root=str(case.scope.root),
        containment=_level(case),
        masking=masking.scanner().name,
    )
    return Entry(began)


def resume(run: str, options: Options) -> Outcome:
    """Go on with a run that stopped resumably; an ended one is only told again.

    Raises:
        ResumeRefused: contract, rules or tools differ from the run's.
        StoreBusy: a live process has the run.
    """
    with contextlib.closing(open_store(options.store, lease=options.lease)) as store:
        return go_on(store, store.find(run), options)


def go_on(store: Store, run: str, options: Options) -> Outcome:
    """The same with a run of an open store, by its whole id."""
    from rootproof.ledger.transfer import refuse_unvouched

    refuse_unvouched(store, run)
    state = proved(store, run)
    assert state.began is not None
    contract = read_document(state.began.contract)
    if not state.resumable:
        return outcome(run, contract, state, store.head(run))
    case = assemble(contract, options.root or Path(state.began.root), options)
    _same(state.began, contract, case)
    entry = Entry(Resumed(by=_user(), model=case.model.name, containment=_level(case)))
    return _carry_on(case, store.take(run), entry, options)


def _carry_on(case: Case, ledger: RunLedger, first: Entry, options: Options) -> Outcome:
    from rootproof.ledger.heartbeat import heartbeat
    from rootproof.telemetry.listening import watching

    leaves = proposers.notice(case.model)
    if leaves and options.notify:
        options.notify(leaves)
    try:
        with watching(ledger.run) as telling, heartbeat(ledger, ledger.store.lease / 4):
            watched = Watched(ledger, (*telling, *options.listeners))
            state = watched.replay()
            if state.resumable:  # else another process ended it before this one had it
                state = investigate(case, watched, first)
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
    if began.contract_file:
        changed = contract_file.changed_since(Path(began.contract_file), contract)
        differ += [f"{began.contract_file}: {each}" for each in changed]
    if differ:
        raise ResumeRefused("the run cannot be resumed, these differ: " + "; ".join(differ))


def assemble(contract: Document, root: Path, options: Options) -> Case:
    """Everything one investigation needs, but its ledger.

    Raises:
        ContainmentUnavailable, NotRunnable, ModelError: it cannot be run here so.
    """
    if not root.is_dir() or root.resolve() == Path("/"):
        raise UsageError(f"the repository is not at {root}", "name the folder of one repository with --root")
    model = proposers.chosen(contract, options.model, options.record, options.suggest)
    proposers.check_limit(model, contract)
    scope = Scope(root, contract.scope)
    shop = Workshop(contract, scope, options)
    tools = {name: options.tools.get(name) or shop.tool(name) for name in contract.tools}
    specs = [tool.spec for tool in tools.values()]
    _complete(tools)
    return Case(
        contract=contract,
        model=model,
        tools=tools,
        scope=scope,
        frame=frame.fixed(contract, specs),
        checks=checks(),
        secrets=(*recording.known_secrets(os.environ), *stores.secrets_of(options.store)),
    )


def _complete(tools: Mapping[str, Tool]) -> None:
    """That a tool with a side effect can say whether it happened, and undo it: else nothing of it is entered."""
    for tool in (tool for tool in tools.values() if tool.spec.effect == "side_effect"):
        faults = list(effect_faults(tool.spec))
        if not isinstance(tool, SideEffectTool):
            found = "it has a side effect and no lookup or no compensate"
            faults.append(Fault(f"tools.{tool.spec.name}", found, "give it both: see rootproof.tools.interface"))
        if faults:
            raise ContractError(faults)


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
    verdict = authorise(case, Action(tool, arguments))
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
