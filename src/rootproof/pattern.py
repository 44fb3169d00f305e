"""Patterns over paths and over text, each in linear time.

Path globs: ``*`` and ``?`` match within one part, ``**`` matches any number of parts. Captures are RE2 expressions:
no look-around and no back-references, so no text can make them slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import re2


class BadPattern(ValueError):
    """The pattern cannot be compiled; the message says why."""


@lru_cache(maxsize=512)
def _glob(pattern: str, folded: bool) -> Any:
    return re2.compile(("(?is)" if folded else "(?s)") + _expression(pattern))


@lru_cache(maxsize=64)
def _denial(patterns: tuple[str, ...]) -> Any:
    """One expression for all, so that a scope of many files is judged in one pass over each name."""
    if not patterns:
        return re2.compile(r"[^\x00-\x{10FFFF}]")
    alternatives = "|".join(_expression(pattern) for pattern in patterns)
    return re2.compile(f"(?is)(?:.*/)?(?:{alternatives})(?:/.*)?")


def _expression(pattern: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at):
            parts.append(".*")
            at += 2
        else:
            character = pattern[at]
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(character, re2.escape(character)))
            at += 1
    return "".join(parts)


def is_glob(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def matches(pattern: str, path: str, *, folded: bool = False) -> bool:
    """Whether a root-relative path is one the pattern names."""
    return _glob(pattern, folded).fullmatch(path) is not None


def denied(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path, any folder above it, or some end of these is named; compared case-folded on every platform."""
    return _denial(tuple(patterns)).fullmatch(path) is not None


@lru_cache(maxsize=256)
def capture(pattern: str) -> Any:
    """Compile a capture.

    Raises:
        BadPattern: it is not an RE2 expression, or names no group.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0] if error.args else "not a pattern"
        raise BadPattern(detail.decode() if isinstance(detail, bytes) else str(detail)) from None
    if not compiled.groupindex:
        raise BadPattern("it has no named group (?P<name>...)")
    return compiled


def groups(pattern: str) -> tuple[str, ...]:
    """Names of the facts a capture gives."""
    return tuple(capture(pattern).groupindex)


def captures(pattern: str, text: str) -> Iterator[tuple[int, int, dict[str, str | None]]]:
    """Every match: start, end (character offsets) and its named groups."""
    for match in capture(pattern).finditer(text):
        yield match.start(), match.end(), match.groupdict()
