"""Masking of texts that were cut before: a cut may leave a part of a secret at its edge. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from rootproof.masking import MASK, Masks

LEAST = 4
"""Characters of a secret that are told from chance where a text was cut."""
_LINE_END = r"(?:\n|\\n)?"
_CUT = re.compile(rf"({_LINE_END}\[\.\.\. \d+ (?:bytes|characters) (?:dropped|cut) \.\.\.\]{_LINE_END})")
"""How a cut is stated, by whichever part of us made it; also inside a string of JSON."""


def mask_cut(text: str, masks: Masks) -> str:
    """The text masked, with what a cut left of a known secret at its edges."""
    return _mended(str(masks.value(text)), masks.secrets)


def mask_records(data: bytes, masks: Masks) -> bytes:
    """The same for records of a test run: lines of JSON, in whose strings a secret may be escaped."""
    data = masks.data(data)
    for secret in masks.secrets:
        for plain in (True, False):
            escaped = json.dumps(secret, ensure_ascii=plain)[1:-1]
            if escaped != secret:
                data = data.replace(escaped.encode("utf-8", "surrogateescape"), MASK.encode())
    return _mended(data.decode("latin-1"), _bytewise(masks.secrets)).encode("latin-1")


def _mended(text: str, secrets: Sequence[str]) -> str:
    parts = _CUT.split(text)
    for place in range(0, len(parts) - 2, 2):
        parts[place] = torn(parts[place], secrets, at_end=True)
        parts[place + 2] = torn(parts[place + 2], secrets, at_end=False)
    return "".join(parts)


def torn(text: str, secrets: Sequence[str], *, at_end: bool) -> str:
    """A text without the part of a secret that a cut left at its end, or at its beginning."""
    longest = max((size for secret in secrets for size in _left(text, secret, at_end)), default=0)
    if not longest:
        return text
    return text[:-longest] + MASK if at_end else MASK + text[longest:]


def torn_bytes(data: bytes, secrets: Sequence[str], *, at_end: bool) -> bytes:
    """The same for bytes."""
    return torn(data.decode("latin-1"), _bytewise(secrets), at_end=at_end).encode("latin-1")


def _left(text: str, secret: str, at_end: bool) -> Iterator[int]:
    for size in range(LEAST, len(secret)):
        if text.endswith(secret[:size]) if at_end else text.startswith(secret[-size:]):
            yield size


def _bytewise(secrets: Sequence[str]) -> list[str]:
    """Secrets as they are in a text of which each byte is one character."""
    return [secret.encode("utf-8", "surrogateescape").decode("latin-1") for secret in secrets]
