"""A value becomes bytes, and bytes become a digest: always the same ones for equal values.

Canonical form: JSON, keys sorted, no spaces, ASCII only (a lone surrogate therefore survives as an escape and no
later write can fail on it), finite numbers only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def to_bytes(value: object) -> bytes:
    """The canonical bytes of a JSON value.

    Raises:
        ValueError: the value is not finite JSON.
    """
    return _ENCODER.encode(value).encode("ascii")


def digest_bytes(data: bytes) -> str:
    """SHA-256 of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: object) -> str:
    """SHA-256 of the canonical bytes of a JSON value."""
    return digest_bytes(to_bytes(value))


def as_json(value: object) -> Json:
    """Any value as JSON: what is not JSON becomes ``{"$not_json": type, "repr": ...}`` and is so visible, not lost."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else _foreign(value)
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return _foreign(value)


def _foreign(value: object) -> Json:
    return {"$not_json": type(value).__name__, "repr": repr(value)[:200]}
