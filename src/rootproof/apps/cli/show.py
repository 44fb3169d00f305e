"""``rootproof show RUN``: what happened in a run, from its verified ledger."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from rootproof.ledger.interface import Stored
    from rootproof.ledger.store import Store
    from rootproof.state import State


def show(
    run: Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")],
    step: Annotated[Optional[int], typer.Option("--step", help="The events of one step, whole.")] = None,  # noqa: UP045
    fact: Annotated[Optional[str], typer.Option("--fact", help="Where one fact comes from.")] = None,  # noqa: UP045
    store: flags.Store = None,
    as_json: flags.Json = False,
) -> None:
    """Show a run. Every event and observation is checked against its digest first; damage is named, never skipped."""
    from rootproof import assemble
    from rootproof.errors import StoreNewer

    opened = assemble.open_store(store, read_only=True)
    name = opened.find(run)
    try:
        state = assemble.proved(opened, name)
    except StoreNewer:
        _unknown(opened, name)
        raise
    if fact is not None:
        _fact(opened, name, state, fact, as_json)
    elif step is not None:
        _step(opened, name, step)
    elif as_json:
        _document(opened, name, state)
    else:
        _timeline(opened, name, state)


def _timeline(store: Store, run: str, state: State) -> None:
    from rootproof.apps.cli import words
    from rootproof.apps.cli.progress import Progress
    from rootproof.contract import read_document
    from rootproof.ledger.transfer import unvouched
    from rootproof.outcome import outcome
    from rootproof.state import State, fold

    assert state.began is not None
    sys.stdout.write(f"run {run}\n")
    if unvouched(store, run):
        sys.stdout.write("from an archive that nobody vouches for\n")
    progress, at = Progress(), State()
    for stored in store.events(run):
        at = fold(at, stored.event, stored.epoch)
        progress(at, stored.event)
    ended = outcome(run, read_document(state.began.contract), state, store.head(run))
    sys.stdout.write("".join(line + "\n" for line in words.outcome_lines(ended)))


def _step(store: Store, run: str, step: int) -> None:
    from rootproof.errors import UsageError
    from rootproof.event import Replied

    at, shown = 0, []
    for stored in store.events(run):
        at += isinstance(stored.event, Replied)
        if at == step:
            shown.append(_plain(stored))
    if not shown:
        raise UsageError(f"run {run} has no step {step}", f"its steps are 1 to {at}")
    sys.stdout.write(json.dumps(shown, indent=2) + "\n")


def _document(store: Store, run: str, state: State) -> None:
    from rootproof.contract import read_document
    from rootproof.outcome import outcome

    assert state.began is not None
    ended = outcome(run, read_document(state.began.contract), state, store.head(run))
    document = {**ended.document(), "events": [_plain(stored) for stored in store.events(run)]}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def _plain(stored: Stored) -> dict[str, Any]:
    body = stored.event.model_dump(mode="json", exclude_defaults=True)
    return {"event": stored.seq, "time": stored.time, "hash": stored.hash, "type": stored.event.type, **body}


def _fact(store: Store, run: str, state: State, name: str, as_json: bool) -> None:
    from rootproof.errors import UsageError
    from rootproof.event import Observed
    from rootproof.text import one_line, quoted

    facts = [fact for fact in state.facts.values() if fact.name == name]
    if not facts:
        known = ", ".join(sorted({fact.name for fact in state.facts.values()})) or "none"
        raise UsageError(f"run {run} has no fact {quoted(name, 60)}", f"its facts are {known}")
    events = {stored.seq: stored for stored in store.events(run)}
    if as_json:
        chain = [{"fact": f.model_dump(mode="json"), "observed": _plain(events[f.event])} for f in facts]
        sys.stdout.write(json.dumps(chain, indent=2) + "\n")
        return
    for fact in facts:
        stored = events[fact.event]
        observed = stored.event
        assert isinstance(observed, Observed)
        lines = [f"fact {fact.name} = {quoted(fact.value)} ({fact.standing})"]
        if fact.about:
            lines.append(f"  about       {one_line(fact.about, 200)}")
        lines.append(f"  check       {fact.check}")
        if fact.source:
            lines.append(f"  captured    {fact.source.path} line {fact.source.line}, file {fact.source.digest}")
        lines.append(f"  observation {observed.digest}")
        lines += [f"  stored      {one_line(key, 80)} {digest}" for key, digest in observed.attachments.items()]
        lines.append(f"  tool call   {observed.tool} {one_line(json.dumps(observed.input), 200)}")
        lines.append(f"  event       {stored.seq}, {stored.time}, hash {stored.hash}")
        lines.append(f"  follows     {stored.prior}")
        sys.stdout.write("".join(line + "\n" for line in lines))


def _unknown(store: Store, run: str) -> None:
    from rootproof.ledger.chain import kind_of
    from rootproof.text import one_line

    for row, _ in store.rows(run):
        sys.stdout.write(f"event {row.seq}: {one_line(kind_of(row), 60)}\n")
