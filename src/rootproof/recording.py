"""From a tool's report to the event that is stored: masked, bounded and digested, before anything is concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rootproof import canonical
from rootproof.canonical import Json
from rootproof.event import Observed, Started, Usage
from rootproof.ledger.interface import Entry
from rootproof.text import whole
from rootproof.tools.interface import Observation

MAX_EXCERPT = 16_000
MAX_FIELDS = 40_000
MASK = "[masked]"


def record(started: Started, report: Observation, stale: Sequence[str], secrets: Sequence[str]) -> Entry:
    """The event for one report, with its attachments under their digests."""
    attachments = {name: mask_bytes(data, secrets) for name, data in report.attachments.items()}
    digests = {name: canonical.digest_bytes(data) for name, data in attachments.items()}
    fields = mask(canonical.as_json(report.fields), secrets)
    size = len(canonical.to_bytes(fields))
    if size > MAX_FIELDS:
        fields = {"$too_large": size}
    excerpt = str(mask(report.excerpt, secrets))
    flags = report.flags
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
        conditions={name: canonical.as_json(value) for name, value in report.conditions.items()},
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
    """The same value with every known secret replaced by a mark that says so."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _mark(secret))
        return whole(value)
    if isinstance(value, Mapping):
        return {whole(key): mask(item, secrets) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [mask(item, secrets) for item in value]
    return value


def mask_bytes(data: bytes, secrets: Sequence[str]) -> bytes:
    """The same for bytes, in the encodings in which they may hold a secret; lines stay the lines they are."""
    for secret in secrets:
        data = data.replace(secret.encode("utf-8", "surrogateescape"), _mark(secret).encode())
        for wide in ("utf-16-le", "utf-16-be"):
            data = data.replace(secret.encode(wide, "surrogatepass"), _mark(secret).encode(wide))
    return data


def _mark(secret: str) -> str:
    return MASK + "\n" * secret.count("\n")


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of environment variables that by their names are secrets, longest first."""
    marks = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE")
    found = {v for k, v in environment.items() if any(mark in k.upper() for mark in marks) and len(v) >= 8}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
