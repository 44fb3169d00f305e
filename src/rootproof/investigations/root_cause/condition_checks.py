"""The pure check of the kinds ``order``, ``environment`` and ``flaky``: derived again from the record of the runs."""

from __future__ import annotations

from rootproof import canonical
from rootproof.checking import Seen
from rootproof.contract import EvidenceItem
from rootproof.experiments import condition_judgements as judgements
from rootproof.experiments.condition_findings import fields_of
from rootproof.experiments.conditions import Condition, from_data
from rootproof.state import State

RECORD = "condition.json"


def condition_shown(item: EvidenceItem, seen: Seen, state: State) -> str:
    """The record shows the condition, and the observation says no more than follows from it."""
    data = seen.attachments.get(RECORD)
    if data is None:
        return "there is no record of the runs"
    try:
        record = from_data(data)
    except ValueError as fault:
        return str(fault)
    stranger = _stranger(record, seen)
    if stranger:
        return stranger
    found = judgements.judge_condition(record, seen.attachments)
    if found.answer != "supported":
        return f"{found.rule}: {found.reason}"
    if canonical.as_json(fields_of(record, found)) != canonical.as_json(seen.observed.fields):
        return "the observation says something else than follows from its record"
    return "" if item.check == f"root_cause.{record.kind}" else f"it is of the kind {record.kind}"


def _stranger(record: Condition, seen: Seen) -> str:
    for path, digest in record.files:
        if seen.observed.reads.get(path) != digest:
            return f"{path} was not read by this observation"
    return ""
