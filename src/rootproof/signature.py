"""The normalised signature of a failure: what makes two runs fail "the same way". Pure.

A signature is the exception's type, the failing phase, and the failure's own message without what differs from run to
run. Replaced, in this order, each by a word in angle brackets:

==================  =====================================================================================
``<time>``          dates with a clock time, clock times with seconds, seconds or milliseconds since 1970
``<id>``            UUIDs, and runs of 24 or more hexadecimal digits
``<address>``       ``0x`` with 6 or more digits; decimal numbers as large as CPython's object ids
``<temp>``          whole paths below the system's temporary folders, and names made by ``tempfile``
``<port>``          ports of the ephemeral range (32768 and above) behind a host or the word port
``<pid>``           numbers behind pid, process or a worker's name
``<duration>``      numbers with a unit of time
``<line>``          line and column numbers behind a file name or the word line
==================  =====================================================================================

The members of a set are put in one order, since the hash seed decides how they are shown. Of a failed ``assert`` only
the author's words and the line that says what was compared count: pytest's rendering of the difference follows the
hash seed too. Of any other failed assertion (``assertEqual`` and its kin) the lines after the first are such a
rendering, and are put in one order. White space at line ends is dropped.

Everything else stays, small numbers and dates among it: they are mostly what the test is about. The price is named:
two failures that differ in nothing but such a value have one signature.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from rootproof.runners.interface import Failure

MAX_LINE = 600
"""Characters of a signature's one line."""
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"), "<time>"),
    (re.compile(rf"(?<![\d:]){_CLOCK}(?![\d:])"), "<time>"),
    (re.compile(r"(?<![\d.])1[5-9]\d{8}(?:\d{3}|\.\d+)?(?![\d.])"), "<time>"),
    (re.compile(r"(?i)(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"), "<id>"),
    (re.compile(r"(?i)0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"(?i)(?<![0-9a-z])[0-9a-f]{24,}(?![0-9a-z])"), "<id>"),
    (re.compile(r"(?<![\d.])1[34]\d{13}(?![\d.])"), "<address>"),
    (re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'\"`<>()\[\]{},;:]+"), "<temp>"),
    (re.compile(r"(?<![A-Za-z0-9_])tmp[a-z0-9_]{8}(?![A-Za-z0-9_])"), "<temp>"),
    (re.compile(r"(?<=[\w\]]):(?:3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[45]\d{4}|6[0-5]\d{3})(?!\d)"), ":<port>"),
    (
        re.compile(r"(?i)(\bport\W{1,3})(?:3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[45]\d{4}|6[0-5]\d{3})(?!\d)"),
        r"\1<port>",
    ),
    (re.compile(r"(?i)(\b(?:pid|process)\W{1,3}|\b(?:thread|process|forkpoolworker|worker|gw)-?)\d+"), r"\1<pid>"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?|milliseconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"(?<=\.)([A-Za-z]{1,4}):\d+(?::\d+)?"), r"\1:<line>"),
    (re.compile(r"(?i)(\bline\s)\d+"), r"\1<line>"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


_SET = re.compile(r"\{[^{}:]*,[^{}:]*\}")
"""What is shown as a set: braces around a list without colons. A set of sets is left as it is."""


def _in_order(found: re.Match[str]) -> str:
    members = (member.strip() for member in found.group()[1:-1].split(","))
    return "{" + ", ".join(sorted(members)) + "}"


@dataclass(frozen=True)
class Signature:
    """How a test failed, apart from what differs from run to run."""

    exception: str
    phase: Literal["setup", "call", "teardown"]
    message: str

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits, for tables and comparison across machines."""
        whole = "\0".join((self.exception, self.phase, self.message))
        return hashlib.sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    def __str__(self) -> str:
        """One line of bounded length. What is cut off still counts: its digest stands for it."""
        told = " ".join(f"{self.exception} in {self.phase}: {self.message}".split())
        return told if len(told) <= MAX_LINE else f"{told[:MAX_LINE]}... [{self.digest}]"


def of(failure: Failure) -> Signature:
    """The signature of one failure."""
    return Signature(failure.exception, failure.phase, normalised(_said(failure)))


def line(failure: Failure | None, status: str) -> str:
    """The signature as one line. A failure without fields has the test's status for it."""
    return f"[{status}]" if failure is None else str(of(failure))


def _said(failure: Failure) -> str:
    """The message without what only renders a difference."""
    if failure.exception != "AssertionError":
        return failure.message
    lines = failure.message.split("\n")
    compared = next((place for place, line in enumerate(lines) if line.startswith("assert ")), None)
    if compared is not None:
        return "\n".join(lines[: compared + 1])
    return "\n".join((lines[0], *sorted(lines[1:])))


def normalised(text: str) -> str:
    """The text without what differs from run to run. ``normalised(normalised(t)) == normalised(t)``.

    One replacement can lay bare another, so the rules are applied until nothing changes; each application that changes
    something leaves fewer digits or fewer temporary names, or puts a set in order for good, so this ends.
    """
    while True:
        after = _SET.sub(_in_order, text)
        for pattern, word in _RULES:
            after = pattern.sub(word, after)
        if after == text:
            return after
        text = after
