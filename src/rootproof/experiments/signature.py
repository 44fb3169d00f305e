"""The signature of a failure: equal for the same failure in another process, folder, hour or hash seed.

Made of the exception's type, the failing phase and the failure's own message without what varies by itself. For a
failed assertion the first line of the message says what was compared; the lines after it are the runner's rendering.
"""

from __future__ import annotations

import re

from rootproof.runners.interface import Failure

MAX_MESSAGE = 600
_VARYING = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(r"(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)/[^\s'\"<>)\],;:]*"), "<temporary>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:e-?\d+)? ?(?:ns|us|µs|ms|s|seconds?|secs?)\b"), "<duration>"),
    (re.compile(r"\bid=\d{6,}\b"), "id=<address>"),
    (re.compile(r"\bpid[= ]\d+\b"), "pid <number>"),
)
_SET = re.compile(r"\{([^{}:]*)\}")


def signature(failure: Failure | None, status: str = "failed") -> str:
    """One line. A failure without fields has the run's status as its signature."""
    if failure is None:
        return f"[{status}]"
    message = failure.message
    if failure.exception == "AssertionError":
        message = message.split("\n", 1)[0]
    return f"{failure.exception} in {failure.phase}: {plain(message)}"


def plain(message: str) -> str:
    """The message without addresses, times and temporary paths, its sets in one order, as one bounded line."""
    for pattern, shown in _VARYING:
        message = pattern.sub(shown, message)
    message = _SET.sub(_in_order, message)
    message = " ".join(message.split())
    return message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "..."


def _in_order(match: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(part.strip() for part in match.group(1).split(","))) + "}"
