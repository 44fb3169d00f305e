"""Values as an assertion tells them: when two are the same, and which are too common to mean anything."""

from __future__ import annotations

from typing import Any


def key(value: Any) -> object:
    """A hashable form: equal for values that compare equal, with booleans apart from numbers."""
    if isinstance(value, bool) or value is None:
        return ("constant", repr(value))
    if isinstance(value, int | float | complex):
        return ("number", value)
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, bytes | bytearray):
        return ("bytes", bytes(value))
    if isinstance(value, dict):
        return ("dict", frozenset((key(k), key(v)) for k, v in value.items()))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(key(v) for v in value))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(key(v) for v in value))
    return ("other", repr(value))


def trivial(value: Any) -> bool:
    """0, ±1, True, False, None and empty values: too common to be planted."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float | complex):
        return value in (0, 1, -1)
    return hasattr(value, "__len__") and len(value) == 0
