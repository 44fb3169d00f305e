"""From a transcript and the way the process ended to one :class:`Session`. Pure; shared by all channel runners.

The private channel is the only witness. The exit code is used twice: to contradict it, and to tell how a session
that never got to its tests went wrong. Nothing here reads stdout for an outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rootproof.runners.interface import Failure, Session, TestRequest, TestResult, TestStatus
from rootproof.runners.records import Malformed, Transcript, visible
from rootproof.runners.story import Story, TestStory, tell
from rootproof.runners.test_id import covers
from rootproof.sandbox.interface import Completed

RANK: tuple[TestStatus, ...] = (
    "passed",
    "xfailed",
    "skipped",
    "xpassed",
    "xpassed_strict",
    "failed",
    "error",
    "no_tests",
    "not_addressable",
    "not_found",
    "incomplete",
    "collection_error",
    "config_error",
    "timeout",
    "crashed",
    "unknown",
)
"""From best to worst; a session's status is the worst over what was requested."""
BAD: frozenset[TestStatus] = frozenset({"failed", "error", "xpassed_strict"})
"""What makes a runner exit with 1."""
_PROBLEMS: dict[str, TestStatus] = {"internal": "crashed", "unhandled": "unknown"}
"""``unhandled``: an error outside every test; whether it belongs to one of them cannot be told."""
PROBLEM_LIMIT = 6000
EXIT_USAGE = 4


@dataclass(frozen=True)
class Dialect:
    """Where runners differ."""

    separator: str = "::"
    exit_none: int | None = 5
    """Exit code for "no tests were run"; None: the runner has none of its own."""


@dataclass(frozen=True)
class Verdict:
    """A session's status and what was captured about it."""

    status: TestStatus
    problem: str = ""


def session(transcript: Transcript, request: TestRequest, completed: Completed, dialect: Dialect) -> Session:
    """Judge one run. Never raises."""
    if transcript.fault:
        return Session("unknown", problem=transcript.fault)
    try:
        story = tell(transcript.records)
    except Malformed as malformed:
        return Session("unknown", problem=str(malformed))
    results = _results(story)
    unreported = tuple(t for t in story.collected or () if t not in results and not request.collect_only)
    verdict = _verdict(story, results, unreported, _Case(request, completed, dialect))
    return Session(
        status=verdict.status,
        results=tuple(_with_the_rest(story, results, verdict)),
        collected=tuple(story.collected or ()),
        unreported=unreported,
        last_started=story.last_started,
        finished=story.finish is not None,
        problem=verdict.problem,
        versions=story.versions,
        flags=story.flags + (("retried",) if any(t.retried for t in story.tests.values()) else ()),
    )


@dataclass(frozen=True)
class _Case:
    request: TestRequest
    completed: Completed
    dialect: Dialect


def _results(story: Story) -> dict[str, TestResult]:
    return {test: _result(test, told) for test, told in story.tests.items() if told.complete}


def _result(test: str, told: TestStory) -> TestResult:
    status = _status(told)
    return TestResult(
        id=test,
        status=status,
        executed="call" in told.phases,
        phases=tuple(told.phases.values()),
        failure=_cause(told.failures, status),
        subtests=told.subtests,
        reason=told.reason,
        seconds=sum(phase.seconds for phase in told.phases.values()),
    )


def _cause(failures: list[Failure], status: TestStatus) -> Failure | None:
    """The failure that the status speaks of: the first of the call, else the first."""
    if status not in ("failed", "error", "xfailed"):
        return None
    return next((f for f in failures if f.phase == "call"), failures[0] if failures else None)


def _status(told: TestStory) -> TestStatus:
    call = told.phases.get("call")
    if (call is not None and call.outcome == "failed") or "failed" in told.subtests.values():
        return "xpassed_strict" if told.marks.get("call") == "strict" else "failed"
    if any(phase.outcome == "failed" for phase in told.phases.values()):
        return "error"
    if "xfail" in told.marks.values():
        return "xpassed" if call is not None and call.outcome == "passed" else "xfailed"
    if any(phase.outcome == "skipped" for phase in told.phases.values()):
        return "skipped"
    return "passed"


def _with_the_rest(story: Story, results: dict[str, TestResult], verdict: Verdict) -> Iterable[TestResult]:
    """All results, with those that were cut short; nothing keeps its own status in an unknown session."""
    for test in story.tests:
        result = results.get(test)
        if result is None:
            late = verdict.status == "crashed" and test == story.running  # Its news may lag behind the crash.
            sure = verdict.status in ("timeout", "crashed") and not late
            ended: TestStatus = verdict.status if sure else "incomplete"
            result = replace(_result(test, story.tests[test]), status=ended)
        yield replace(result, status="unknown") if verdict.status == "unknown" else result
    for place, reason in story.collect_skips:
        yield TestResult(place, "skipped", executed=False, reason=reason)


def _verdict(story: Story, results: dict[str, TestResult], unreported: tuple[str, ...], case: _Case) -> Verdict:
    completed = case.completed
    killed = cut_short(completed)
    if killed is not None:
        return killed
    for what, said in story.problems:
        return Verdict(_PROBLEMS.get(what, "config_error"), said)
    if not story.started:
        return _unstarted(story, completed)
    if story.collect_errors and not results:
        return Verdict("collection_error", "\n\n".join(said for _id, said in story.collect_errors)[:PROBLEM_LIMIT])
    if story.finish is None:
        return Verdict("incomplete", "the process ended before the session finished")
    if story.finish != completed.exit_code or story.end not in (None, story.finish):
        return Verdict("unknown", f"the session finished with {story.finish}, the process with {completed.exit_code}")
    if story.collect_errors:
        return Verdict("collection_error", "\n\n".join(said for _id, said in story.collect_errors)[:PROBLEM_LIMIT])
    if case.request.collect_only:
        return Verdict("no_tests", "collected only, nothing was run")
    if unreported and completed.exit_code == EXIT_USAGE and not results:
        return Verdict("config_error", tail(completed))
    if unreported:
        return Verdict("incomplete", "tests were collected and never reported")
    return _judged(story, results, case)


def cut_short(completed: Completed) -> Verdict | None:
    """A limit or a signal ended the process: that is the outcome, whatever had been reported. None: neither did."""
    if completed.limit is not None:
        ended: TestStatus = "timeout" if completed.limit in ("time", "cpu") else "crashed"
        return Verdict(ended, f"the {completed.limit} limit was reached")
    if completed.signal is not None:
        return Verdict("crashed", f"signal {completed.signal}\n{tail(completed)}".strip())
    return None


def _unstarted(story: Story, completed: Completed) -> Verdict:
    """The runner never got as far as a session: its settings, plugins or conftest are broken, or it was killed."""
    if completed.exit_code == 0:
        return Verdict("incomplete", "the process ended before the session started")
    if story.end is None and completed.exit_code != EXIT_USAGE:
        return Verdict("config_error", tail(completed) or f"the runner ended with {completed.exit_code}")
    return Verdict("config_error", tail(completed))


def _judged(story: Story, results: dict[str, TestResult], case: _Case) -> Verdict:
    """The session ran to its end: what was asked for, and does the exit code agree?"""
    statuses: list[TestStatus] = []
    for requested in case.request.tests:
        found = _statuses(requested, story, results, case.dialect.separator)
        if not found:
            return _absent(story, requested, case)
        statuses.extend(found)
    contradiction = _contradiction(results, case)
    if contradiction:
        return Verdict("unknown", contradiction)
    return Verdict(max(statuses, key=RANK.index, default="no_tests"))


def _statuses(requested: str, story: Story, results: dict[str, TestResult], separator: str) -> list[TestStatus]:
    """What a requested id stands for; a module that skipped itself stands for every test of it."""
    found = [result.status for result in results.values() if covers(requested, result.id, separator)]
    found.extend("skipped" for place, _reason in story.collect_skips if covers(place, requested, separator))
    return found


def _absent(story: Story, requested: str, case: _Case) -> Verdict:
    if any(covers(requested, d, case.dialect.separator) for d in story.deselected):
        return Verdict("no_tests", "deselected by the project's own options")
    if case.dialect.separator in requested:
        return Verdict("not_found", f"no test has the id {visible(requested)}")
    if case.completed.exit_code == EXIT_USAGE:
        return Verdict("not_found", tail(case.completed))
    return Verdict("no_tests", f"{visible(requested)} holds no tests")


def _contradiction(results: dict[str, TestResult], case: _Case) -> str:
    """How the exit code disagrees with the reports; empty where they agree."""
    code = case.completed.exit_code
    bad = any(result.status in BAD for result in results.values())
    if code == 0 and bad:
        return "the process ended with 0 although a test failed"
    if code != 0 and not bad and not (code in (case.dialect.exit_none, EXIT_USAGE) and not results):
        return f"the process ended with {code} although no test failed"
    if code not in (0, 1) and bad:
        return f"the process ended with {code}, which is no code for failed tests"
    return ""


def tail(completed: Completed) -> str:
    """The end of what the runner said about itself: stderr, else stdout. Text for people, never an outcome."""
    said = visible(completed.stderr.text()).strip() or visible(completed.stdout.text()).strip()
    return said[-PROBLEM_LIMIT:]
