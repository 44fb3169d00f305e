"""From a tool's report to the event that is stored: masked, bounded and digested, before anything is concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rootproof import canonical
from rootproof.canonical import Json
from rootproof.event import Observed, Started, Usage
from rootproof.ledger.interface import Entry
from rootproof.masking import Masks
from rootproof.tools.interface import Observation

MAX_EXCERPT = 16_000
MAX_FIELDS = 40_000


def record(started: Started, report: Observation, stale: Sequence[str], secrets: Sequence[str]) -> Entry:
    """The event for one report, with its attachments under their digests."""
    raw = canonical.as_json(report.fields)
    masks = Masks(secrets)
    stated = {name: canonical.as_json(value) for name, value in report.conditions.items()}
    masks.learn([raw, report.excerpt, stated, *report.attachments.values()])
    attachments = {name: masks.data(data) for name, data in report.attachments.items()}
    digests = {name: canonical.digest_bytes(data) for name, data in attachments.items()}
    fields = masks.value(raw)
    size = len(canonical.to_bytes(fields))
    if size > MAX_FIELDS:
        fields = {"$too_large": size}
    excerpt = str(masks.value(report.excerpt))
    conditions = {name: masks.value(value) for name, value in stated.items()}
    flags = (*report.flags, *masks.flags)
    if len(excerpt) > MAX_EXCERPT:
        half = MAX_EXCERPT // 2
        dropped = len(excerpt) - 2 * half
        excerpt = f"{excerpt[:half]}\n[... {dropped} characters dropped ...]\n{excerpt[-half:]}"
        flags = (*flags, "truncated")
    observed = Observed(
        tool=started.tool,
        input=started.input,
        request=started.request,
        digest="",
        fields=fields,
        excerpt=excerpt,
        attachments=digests,
        conditions=conditions,
        reads=dict(report.reads),
        cut=report.cut,
        stale=tuple(sorted({*stale, *report.stale})),
        flags=flags,
        usage=Usage(**vars(report.spent)),
    )
    event = observed.model_copy(update={"digest": observation_digest(observed)})
    return Entry(event, {digests[name]: data for name, data in attachments.items()})


def observation_digest(observed: Observed) -> str:
    """The identity of an observation: everything in it but its cost and the digest itself."""
    return canonical.digest(observed.model_dump(mode="json", exclude={"digest", "usage", "type"}))


def mask(value: Json, secrets: Sequence[str]) -> Json:
    """The same value with every known secret, and what looks like one, replaced by a mark that says so."""
    return Masks(secrets).value(value)


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of environment variables that by their names are secrets, longest first."""
    marks = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE")
    found = {v for k, v in environment.items() if any(mark in k.upper() for mark in marks) and len(v) >= 8}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
