"""JUnit XML, the report nearly every test runner can write, read as the hostile input it is.

No document type, no entities of its own, no external anything: a report with a DOCTYPE is refused whole. Size, depth,
and number of elements are bounded. There is no standard for the format; what is read here is what the dialects of
Maven surefire, Gradle, go-junit-report, gotestsum, PHPUnit, RSpec, pytest and jest-junit share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from xml.parsers import expat

from rootproof.runners.interface import TestStatus
from rootproof.runners.records import visible

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 24
MAX_ELEMENTS = 200_000
MAX_TEXT = 64 * 1024
MESSAGE_LIMIT = 4000

_BAD: dict[str, TestStatus] = {"failure": "failed", "error": "failed", "warning": "failed", "rerunFailure": "failed"}
"""Dialects use ``error`` for any exception but a failed assertion, so it does not tell set-up from call."""
_OTHER: dict[str, TestStatus] = {"skipped": "skipped", "disabled": "skipped", "ignored": "skipped"}
_RETRIED = ("flakyFailure", "flakyError")
"""Surefire: the test failed at first and passed when it was run again. Its first attempt counts."""


class Refused(ValueError):
    """The report is not one that can be read safely. The text says why."""


@dataclass(frozen=True)
class Case:
    """One ``testcase`` element."""

    name: str
    classname: str = ""
    file: str = ""
    line: int = 0
    seconds: float = 0.0
    status: TestStatus = "passed"
    exception: str = ""
    message: str = ""
    detail: str = ""
    reason: str = ""
    suites: tuple[str, ...] = ()
    """Names of the suites around it, outermost first."""


def read(content: bytes, most: int = MAX_BYTES) -> tuple[Case, ...]:
    """All test cases of one report, in their order.

    Args:
        most: bytes that a report may have.

    Raises:
        Refused: it is too large, malformed, has a document type, or holds no test suite.
    """
    if len(content) > most:
        raise Refused(f"the report is larger than {most} bytes")
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.EntityDeclHandler = _refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(content, True)
    except expat.ExpatError as fault:
        raise Refused(f"the report is no well-formed XML: {fault}") from None
    except (ValueError, LookupError) as fault:
        raise Refused(str(fault)) from None
    return tuple(reader.cases)


def _refuse_doctype(*_declared: object) -> None:
    raise Refused("the report has a document type, which no test runner writes")


class _Reader:
    """Collects cases while the parser walks."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self._open: list[str] = []
        self._elements = 0
        self._file = [""]
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._marks: list[tuple[str, dict[str, str], str]] = []
        self._text: list[str] = []
        self._length = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        self._elements += 1
        if len(self._open) >= MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise Refused("the report is nested too deeply or holds too many elements")
        if not self._open and name not in ("testsuites", "testsuite"):
            raise Refused(f"the report's outermost element is {name[:40]!r}, not a test suite")
        self._open.append(name)
        if name == "testsuite":
            self._file.append(attributes.get("file") or attributes.get("filepath") or self._file[-1])
            self._suites.append(attributes.get("name", ""))
        elif name == "testcase":
            if self._case is not None:
                raise Refused("a testcase stands inside another one")
            self._case, self._marks = dict(attributes), []
        elif self._case is not None and self._open[-2] == "testcase":
            self._marks.append((name, dict(attributes), ""))
        self._text, self._length = [], 0

    def characters(self, data: str) -> None:
        if self._length < MAX_TEXT:
            self._text.append(data[: MAX_TEXT - self._length])
            self._length += len(data)

    def end(self, name: str) -> None:
        name = self._open.pop()
        if name == "testsuite":
            self._file.pop()
            self._suites.pop()
        elif name == "testcase" and self._case is not None:
            case = _case(self._case, self._marks, self._file[-1])
            self.cases.append(replace(case, suites=tuple(self._suites)))
            self._case = None
        elif self._case is not None and self._open[-1] == "testcase":
            kind, attributes, _text = self._marks[-1]
            self._marks[-1] = (kind, attributes, "".join(self._text))
        self._text, self._length = [], 0


def _case(attributes: dict[str, str], marks: list[tuple[str, dict[str, str], str]], suite_file: str) -> Case:
    status, told = _status(attributes, marks)
    kind, found, text = told or ("", {}, "")
    message = (found.get("message") or text).strip()
    is_bad = status == "failed"
    return Case(
        name=attributes.get("name", ""),
        classname=attributes.get("classname") or attributes.get("class", ""),
        file=attributes.get("file") or attributes.get("filepath") or suite_file,
        line=_whole(attributes.get("line", "")),
        seconds=_seconds(attributes.get("time", "")),
        status=status,
        exception=visible(found.get("type", "")) if is_bad else "",
        message=visible(message)[:MESSAGE_LIMIT] if is_bad else "",
        detail=visible(text.strip())[:MAX_TEXT] if is_bad else "",
        reason=visible(message)[:500] if kind in _OTHER or kind in _RETRIED else "",
    )


def _status(
    attributes: dict[str, str], marks: list[tuple[str, dict[str, str], str]]
) -> tuple[TestStatus, tuple[str, dict[str, str], str] | None]:
    for kinds in (_BAD, dict.fromkeys(_RETRIED, "failed"), _OTHER):
        for mark in marks:
            if mark[0] in kinds:
                return kinds[mark[0]], mark  # type: ignore[return-value]
    if attributes.get("status", "run") in ("notrun", "skipped", "disabled", "ignored"):
        return "skipped", None
    if attributes.get("result", "completed") in ("suppressed", "skipped"):
        return "skipped", None
    return "passed", None


def _whole(digits: str) -> int:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def _seconds(text: str) -> float:
    """Some writers group thousands with commas."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e9 else 0.0
