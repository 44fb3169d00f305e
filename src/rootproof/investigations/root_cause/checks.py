"""The pure checks of a diagnosis: each derives again, from the stored record of the runs, what a fact needs.

A check never believes the tool's own words: verdict, grade and subject are made anew from the record and the sources
that are stored beside it. A conclusion that another one rivals takes that one with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rootproof import canonical
from rootproof.checking import Check, Contested, Seen, Watchful
from rootproof.contract import EvidenceItem
from rootproof.experiments import judgements
from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.conditions import KINDS
from rootproof.experiments.findings import fields_of
from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Span, from_data
from rootproof.experiments.verdict import judge
from rootproof.investigations.root_cause.condition_checks import condition_shown
from rootproof.investigations.root_cause.rivals import watch
from rootproof.state import State

RECORD = "confirmation.json"


def _matter(seen: Seen) -> Matter | str:
    """The record with its sources, if they belong to this observation."""
    data = seen.attachments.get(RECORD)
    if data is None:
        return "there is no record of the runs"
    try:
        record = from_data(data)
    except ValueError as fault:
        return str(fault)
    matter = Matter(record, {name: seen.attachments[name] for name, _ in record.files if name in seen.attachments})
    stranger = matter.strangers()
    if stranger:
        return f"{stranger} is not what the record was made with"
    for path, digest in record.files:
        if seen.observed.reads.get(path) != digest:
            return f"{path} was not read by this observation"
    fields = seen.observed.fields
    if fields.get("target") != record.target or fields.get("subject") != matter.subject:
        return "the observation speaks of another subject than its record"
    return matter


def _of(question: Callable[[Matter], str]) -> Check:
    def check(item: EvidenceItem, seen: Seen, state: State) -> str:
        matter = _matter(seen)
        return matter if isinstance(matter, str) else question(matter)

    return check


def _against(*asked: Callable[[Matter], Verdict | None]) -> Check:
    def question(matter: Matter) -> str:
        found = next((v for v in (judgement(matter) for judgement in asked) if v is not None), None)
        return f"{found.rule}: {found.reason}" if found else ""

    return _of(question)


def confirmed(item: EvidenceItem, seen: Seen, state: State) -> str | Contested:
    """The whole protocol holds, the observation says so truly, and nothing rivals it at grade A."""
    matter = _matter(seen)
    if isinstance(matter, str):
        return matter
    found = judge(matter.record, matter.sources)
    told = seen.observed.fields
    if found.answer != "supported":
        return f"{found.rule}: {found.reason}"
    if canonical.as_json(fields_of(matter.record, matter.sources, found)) != canonical.as_json(told):
        return "the observation says something else than follows from its record"
    return _rivalled(item, matter, found, state)


def _rivalled(item: EvidenceItem, matter: Matter, found: Verdict, state: State) -> str | Contested:
    """Conclusions that share no place exclude each other: of unequal grades the better stands, of equal ones none."""
    own = set(matter.functions)
    rivals = [(subject, places) for subject, places in supported(state) if own.isdisjoint(places)]
    if not rivals:
        return ""
    grades = {subject: grade_of(state, subject) for subject, _ in rivals}
    gone = tuple((item.id, subject) for subject, grade in grades.items() if grade >= found.grade)
    as_good = [pair for pair in rivals if grades[pair[0]] <= found.grade]
    words = f"ambiguous: a change elsewhere is confirmed as well ({_shown(as_good)})" if as_good else ""
    return Contested(words, gone)


def _shown(rivals: list[tuple[str, frozenset[str]]]) -> str:
    return "; ".join(sorted(place for _, places in rivals for place in places))[:200]


def supported(state: State) -> Iterator[tuple[str, frozenset[str]]]:
    """(subject, places) of every supported change of this run."""
    for fact in state.facts.values():
        if fact.name == "supported_in" and isinstance(fact.value, str):
            yield fact.about, frozenset(fact.value.split("; "))


def grade_of(state: State, subject: str) -> str:
    fact = state.fact("supported_grade", subject)
    return str(fact.value) if fact is not None else ""


def spans_read(item: EvidenceItem, seen: Seen, state: State) -> str:
    """Every span of the subject was read in this run, from the very bytes the change was tried on."""
    matter = _matter(seen)
    if isinstance(matter, str):
        return matter
    files = dict(matter.record.files)
    read = list(_reads(state, files))
    for span in matter.spans:
        lines = _wanted(span, matter)
        if not lines <= {line for path, first, last in read if path == span.path for line in range(first, last + 1)}:
            return f"{span.path} lines {min(lines)}-{max(lines)} were not read in this run"
    return ""


def _wanted(span: Span, matter: Matter) -> set[int]:
    """The lines of a span; of a place between two lines, the line on either side that exists."""
    if span.last >= span.first:
        return set(range(span.first, span.last + 1))
    total = matter.sources[span.path].count(b"\n") + (not matter.sources[span.path].endswith(b"\n"))
    return {line for line in (span.first - 1, span.first) if 1 <= line <= total} or {1}


def _reads(state: State, files: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    """(path, first line, last line) of what this run was shown of the files as they still are."""
    for earlier in state.requests.values():
        observed = earlier.observed
        fields = observed.fields
        if observed.tool != "read_file" or observed.stale or not isinstance(fields, dict):
            continue
        path, first, last = fields.get("path"), fields.get("first_line"), fields.get("last_line")
        if (
            isinstance(path, str)
            and type(first) is int
            and type(last) is int
            and observed.reads.get(path) == files.get(path)
        ):
            yield path, first, last


CHECKS: Mapping[str, Check] = {
    **dict.fromkeys((f"root_cause.{kind}" for kind in KINDS), condition_shown),
    "root_cause.reproduced": _against(judgements.reproduced, judgements.contained),
    "root_cause.read": spans_read,
    "root_cause.executed": _against(judgements.executed),
    "root_cause.confirmed": Watchful(confirmed, watch),
    "root_cause.not_masked": _against(judgements.applies, judgements.not_masked),
}
"""By the names that contracts use."""
