"""Re-checking somebody's report here: derive everything again, hash the sources again, run the confirmation again.

No stored conclusion is trusted. What can be derived is derived from the report's own events and observations by the
same pure functions; a field that differs is refuted. What cannot be derived (a whole report made up, chain and all) is
caught by running it again, or by a ledger head held elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rootproof import assemble, canonical, evidence
from rootproof.assemble import Options
from rootproof.errors import LedgerDamaged, RootproofError, UsageError
from rootproof.event import Checked, Observed
from rootproof.installed import known
from rootproof.ledger import archive, chain
from rootproof.ledger.chain import Row
from rootproof.ledger.interface import Stored
from rootproof.outcome import prove
from rootproof.report.build import Ledger, build, derive
from rootproof.report.document import FORM, SCHEMA, VERSION
from rootproof.scope import Scope
from rootproof.state import State, fold
from rootproof.text import quoted
from rootproof.tools.interface import ToolSpec

MAX_REPORT = 256 * 1024 * 1024

Answer = Literal["confirmed", "refuted", "stale", "not_checkable"]
EXIT_STATUS: Mapping[Answer, int] = {"confirmed": 0, "refuted": 1, "stale": 7, "not_checkable": 7}


@dataclass(frozen=True)
class Verified:
    """What a re-check came to."""

    answer: Answer
    reasons: tuple[str, ...]
    checked: tuple[str, ...] = ()
    """What was made again here."""


def read(path: Path) -> dict[str, Any]:
    """The report in a file, or that of the run in an archive.

    Raises:
        UsageError: it is neither.
        LedgerDamaged: it is an archive that is not what it was.
    """
    if archive.is_archive(path):
        run = archive.read(path)
        return build(Ledger(run.run, run.events, run.blob))
    try:
        if path.stat().st_size > MAX_REPORT:
            raise UsageError(f"{path} is larger than any report", "name a report.json")
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a report.json") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is no JSON", "name a report.json, written by `rootproof report`") from None
    return _of_our_form(path, document)


def _of_our_form(path: Path, document: Any) -> dict[str, Any]:
    said = document.get("schema") if isinstance(document, dict) else None
    if said == SCHEMA:
        return dict(document)
    form, _, version = said.rpartition("/") if isinstance(said, str) else ("", "", "")
    if form != FORM:
        raise UsageError(f"{path} is no report", f"name a report.json: its schema must be {SCHEMA}")
    whose = "a newer" if version.isdecimal() and int(version[:9]) > VERSION else "another"
    raise UsageError(
        f"{path} is a report of form {quoted(version, 20)}, and this version reads form {VERSION}",
        f"check it with {whose} version of rootproof, or write it again from its run with `rootproof report`",
    )


def verify(report: Mapping[str, Any], repository: Path | None, options: Options, head: str = "") -> Verified:
    """Re-check a report.

    Args:
        repository: where the same sources lie here; None: where the report says.
        head: the ledger's head as it was held elsewhere; empty: not compared.
    """
    try:
        ledger = _ledger(report)
        began = ledger.state.began
        if began is not None and began.rules != assemble.RULES:
            reason = f"it was judged by rules {began.rules}, this version has {assemble.RULES}"
            return Verified("not_checkable", (reason,), ("the chain of events",))
        again = judged_again(ledger, known(options.tools.values()))
        refuted = [*_derived(report, ledger), *again.refuted]
    except (RootproofError, KeyError, TypeError, ValueError, AssertionError) as error:
        return Verified("refuted", (f"the report does not hold together: {error}",))
    if head and head != report.get("head"):
        refuted.append("its head is not the one held elsewhere")
    if refuted:
        return Verified("refuted", tuple(refuted))
    done: tuple[str, ...] = ("the chain of events", "every fact, from the observations", "every field of the report")
    if again.missing:
        missing = f"this installation has no tool {', '.join(again.missing)}: what it observed was not judged again"
        return Verified("not_checkable", (missing,), (done[0], done[2]))
    state = ledger.state
    assert state.began is not None
    root = repository or Path(state.began.root)
    changed = Scope(root, ledger.contract.scope).changed(state.began.scope) if root.is_dir() else ("the repository",)
    if changed:
        shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        return Verified("stale", (f"changed since: {shown}",), done)
    done = (*done, "the digest of every source file")
    if state.status != "success":
        return Verified("not_checkable", (f"the run ended {state.status}: it claims nothing to confirm",), done)
    return _again(ledger, report, root, options, done)


def _ledger(report: Mapping[str, Any]) -> Ledger:
    run = str(report["run"])
    rows = [
        Row(e["seq"], e["epoch"], str(e["time"]), str(e["body"]).encode(), str(e["hash"])) for e in report["events"]
    ]
    head = (rows[-1].seq, str(report["head"])) if rows else (0, "")
    events = tuple(chain.decode(run, row, prior) for row, prior in chain.verified(run, rows, head))
    blobs: dict[str, bytes] = {}
    for digest, text in report["observations"].items():
        try:
            blobs[digest] = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} cannot be read") from None
        if canonical.digest_bytes(blobs[digest]) != digest:
            raise LedgerDamaged(f"the stored bytes {digest[:12]} were changed")
    ledger = Ledger(run, events, lambda digest: blobs[digest])
    prove(run, ledger.state)
    return ledger


def _derived(report: Mapping[str, Any], ledger: Ledger) -> list[str]:
    again, told = json.loads(json.dumps(derive(ledger))), report["derived"]
    return [
        f"{key} is not what follows from the events"
        for key in sorted({*again, *told})
        if again.get(key) != told.get(key)
    ]


@dataclass(frozen=True)
class Judged:
    """What judging every observation again came to."""

    count: int
    refuted: tuple[str, ...]
    missing: tuple[str, ...]
    """Tools that this installation does not have: what they observed was not judged."""


def judged_again(ledger: Ledger, specs: Mapping[str, ToolSpec]) -> Judged:
    """Judge every observation again, and compare with what the events say was committed."""
    count, refuted, missing = 0, [], set()
    state = State()
    for stored in ledger.events:
        if isinstance(stored.event, Checked) and isinstance(state.pending, Observed):
            spec = specs.get(state.pending.tool)
            if spec is None:
                missing.add(state.pending.tool)
            else:
                count += 1
                refuted += _judged(stored, state, ledger, spec)
        state = fold(state, stored.event, stored.epoch)
    return Judged(count, tuple(refuted), tuple(sorted(missing)))


def proved(found: archive.Archive, specs: Mapping[str, ToolSpec]) -> tuple[Ledger, Judged]:
    """A run from an archive, after all that can be derived of it was derived again.

    Raises:
        LedgerDamaged: something does not follow, or does not hold together.
    """
    ledger = Ledger(found.run, found.events, found.blob)
    try:
        prove(found.run, ledger.state)
        again = judged_again(ledger, specs)
        derive(ledger)
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError, RecursionError) as error:
        raise LedgerDamaged(f"run {found.run}: its events do not hold together: {str(error)[:200]}") from None
    if again.refuted:
        raise LedgerDamaged(f"run {found.run}: {'; '.join(again.refuted[:5])}")
    return ledger, again


def _judged(stored: Stored, state: State, ledger: Ledger, spec: ToolSpec) -> list[str]:
    from rootproof.recording import observation_digest

    observed = state.pending
    assert isinstance(observed, Observed)
    if observation_digest(observed) != observed.digest:
        return [f"event {stored.seq - 1}: the observation is not what its digest says"]
    attachments = {name: ledger.blob(digest) for name, digest in observed.attachments.items()}
    seen = evidence.Seen(observed.input, observed, attachments, spec.times)
    again = evidence.judge(ledger.contract, spec, state, seen, assemble.checks())
    return [] if again == stored.event else [f"event {stored.seq}: its facts do not follow from the observation"]


def _trial(cause: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool that showed a cause, and what it is asked to show it again."""
    if cause["kind"] == "code":
        return "try_change", {"target": cause["target"], "edits": cause["change"]}
    name, _, value = str(cause["variable"]).partition("=")
    asked: dict[str, Any] = {"target": cause["target"], "kind": cause["kind"]}
    if name:
        asked.update(variable=name, value=value, against=str(cause["against"]))
    if cause["predecessors"]:
        asked["before"] = [{"test": test} for test in cause["predecessors"]]
    return "try_condition", asked


def _repeated(cause: Mapping[str, Any]) -> str:
    if cause["kind"] == "code":
        return "reproduction, pairs, controls and neighbours, run again here"
    return f"the runs that show {cause['kind']}, made again here"


def _again(ledger: Ledger, report: Mapping[str, Any], root: Path, options: Options, done: tuple[str, ...]) -> Verified:
    """Repeat reproduction, pairs, controls and neighbours here, with the reduced change."""
    cause = report["derived"]["cause"]
    if cause is None:
        return Verified("confirmed", (f"holds against contract {ledger.contract.digest}",), done)
    from rootproof.tools.interface import Declined

    case = assemble.assemble(ledger.contract, root, options)
    tool, arguments = _trial(cause)
    request = assemble.request_for(case, tool, arguments)
    result = case.tools[tool].run(request)
    if isinstance(result, Declined):
        return Verified("not_checkable", (result.reason, result.hint), done)
    said = result.fields
    shown = f"here: {said['verdict']} {said['grade']}: {said['reason']}".strip()
    if said["verdict"] == "supported" and said["signature"] == cause["signature"]:
        return Verified("confirmed", (shown,), (*done, _repeated(cause)))
    answer: Answer = "not_checkable" if said["verdict"] == "inconclusive" else "refuted"
    return Verified(answer, (shown,), done)
