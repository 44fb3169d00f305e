"""In what two plain documents differ, by place, for a person to read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rootproof.text import quoted

MOST = 12
"""More places than these are counted only."""
_NOTHING = object()


def differences(then: object, now: object) -> list[str]:
    """``place: THEN then, NOW now`` for each place that differs, the first ones whole."""
    found = [f"{place}: {_shown(old)} then, {_shown(new)} now" for place, old, new in _walk(then, now, "")]
    return found if len(found) <= MOST else [*found[:MOST], f"and {len(found) - MOST} more places"]


def _walk(then: object, now: object, place: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}, key=str):
            below = f"{place}.{key}" if place else str(key)
            yield from _walk(then.get(key, _NOTHING), now.get(key, _NOTHING), below)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _walk(old, new, f"{place}[{number}]")
    elif then != now or type(then) is not type(now):
        yield place, then, now


def _shown(value: object) -> str:
    return "nothing" if value is _NOTHING else quoted(value, 60)
