"""Which of the tests that somebody names are red here: on a command line, in a JUnit report, in a runner's record.

Assembly: it starts the project's own runner. A test that passes here, or that is not there, is no target; it is told
with the reason, never left out in silence.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rootproof.contract import file_of
from rootproof.errors import NotRunnable, UsageError
from rootproof.investigations.root_cause import targets
from rootproof.investigations.root_cause.targets import RED, Found, Workshop
from rootproof.runners import junit_xml, reported
from rootproof.runners.interface import Session, TestRequest, TestResult
from rootproof.runners.test_id import covers, fault
from rootproof.sandbox.interface import Limits
from rootproof.text import one_line

MAX_REPORT = 32 * 1024 * 1024
NEAREST = 3
AGAIN = (1, 2)
"""Seeds of the further runs of what passed."""

Unmatched = tuple[str, str]
"""A test, and why it is no target."""
Tell = Callable[[str], None]


def report_cases(path: Path) -> tuple[junit_xml.Case, ...]:
    """The cases of a JUnit report.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    remedy = "name the JUnit XML file that the test run wrote, as pytest --junitxml=FILE does"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"the report {path} is no regular file", remedy)
            return junit_xml.read(file.read(MAX_REPORT + 1), MAX_REPORT)
    except OSError as error:
        raise UsageError(f"the report {path} cannot be read: {error.strerror}", remedy) from None
    except junit_xml.Refused as refused:
        raise UsageError(f"the report {path} is refused: {refused}", remedy) from None


def failing_cases(report: Path) -> tuple[junit_xml.Case, ...]:
    """Those that failed, of a report's cases.

    Raises:
        UsageError: the report cannot be read.
        NotRunnable: nothing in it failed.
    """
    cases = report_cases(report)
    failing = tuple(case for case in cases if case.status == "failed")
    if not failing:
        raise NotRunnable(
            f"nothing to diagnose: none of the {len(cases)} tests in {report} failed",
            "name the report of a run with failures",
        )
    return failing


def hint(cases: Iterable[junit_xml.Case], root: Path) -> str:
    """A file of the repository that a report names, by which its runner can be chosen; empty where it names none."""
    for case in cases:
        dotted = case.classname.replace(".", "/")
        for told in (case.file, case.classname, *(f"{dotted[:at]}.py" for at in _ends(dotted))):
            path = os.path.normpath(told) if told else ""
            if path and not path.startswith(("/", "..")) and (root / path).is_file():
                return path
    return ""


def _ends(path: str) -> list[int]:
    return [len(path), *(at for at, c in enumerate(path) if c == "/")]


def from_report(shop: Workshop, report: Path, failing: Sequence[junit_xml.Case], limits: Limits, tell: Tell) -> Found:
    """The failing tests of a report, by the ids they have here.

    Raises:
        NotRunnable: none of it is a test of this repository.
    """
    files = targets.test_files(shop.root, shop.runner)
    tell(f"{len(failing)} failing tests in {report}; looking for them in {len(files)} test files")
    placed = [(case, reported.place(case, files, str(shop.root))) for case in failing]
    ids = known_ids(shop, dict.fromkeys(place.file for _, place in placed if place.file), limits)
    tests: dict[str, None] = {}
    unmatched: list[Unmatched] = []
    for case, place in placed:
        found = place.why or reported.match(case, place, ids.get(place.file, ()), shop.runner.separator)
        if isinstance(found, str):
            unmatched.append((reported.label(case), found))
        else:
            tests.update(dict.fromkeys(found))
    if not tests:
        shown = "; ".join(f"{name}: {why}" for name, why in unmatched[:NEAREST])
        raise NotRunnable(
            f"none of the {len(failing)} failing tests in {report} is a test of this repository ({shown})",
            "name the repository the report was made in with --root, its runner with --runner, or tests as PATH::NAME",
        )
    return Found(tuple(tests), f"failing in {report}", unmatched=tuple(unmatched))


def known_ids(shop: Workshop, files: Iterable[str], limits: Limits) -> dict[str, tuple[str, ...]]:
    """The ids of each file, as the runner collects them; where it cannot only collect, the file is run."""
    found: dict[str, tuple[str, ...]] = {}
    for group in shop.groups(files):
        session = _collected(shop, group, limits)
        if not session.collected and len(group) > 1:
            sessions = [_collected(shop, (file,), limits) for file in group]
        else:
            sessions = [session]
        for test in (test for each in sessions for test in each.collected):
            file = file_of(test)
            found[file] = (*found.get(file, ()), test)
    return found


def _collected(shop: Workshop, files: Sequence[str], limits: Limits) -> Session:
    return shop.ask(TestRequest(tests=tuple(files), collect_only=shop.runner.separator == "::"), limits)


def still(shop: Workshop, found: Found, limits: Limits, *, twice: bool = True) -> Found:
    """Of the tests found those that are red here; a file or class stands for its red tests.

    Args:
        twice: look again at what passed; it may follow order, seed or chance.

    Raises:
        NotRunnable: none is red, with why.
        UsageError: a test id that no runner may be given.
    """
    tests: dict[str, None] = {}
    why: list[Unmatched] = list(found.unmatched)
    sessions: list[Session] = []
    for group in shop.groups(_fit(shop, found.tests)):
        runs = _runs(shop, group, limits)
        sessions.extend(session for _, session in runs)
        passed = [test for test, session in runs if _passes(shop, test, session)]
        again = _again(shop, passed, limits) if twice and passed else []
        for test, session in runs:
            red, reason = _standing(shop, test, [session, *again], limits)
            tests.update(dict.fromkeys(red))
            why.extend([(test, reason)] if reason else [])
    if tests:
        return replace(found, tests=tuple(tests), unmatched=tuple(why))
    broken = next((each for each in sessions if each.mend or each.status in targets.BROKEN), None)
    if broken is not None:
        raise targets.not_runnable(broken, "", shop.project(file_of(found.tests[0])).interpreter)
    shown = "; ".join(f"{one_line(test, 160)}: {reason}" for test, reason in why[:NEAREST])
    raise NotRunnable(f"nothing to diagnose: {shown}", "name a test that fails here, as PATH::NAME or PATH#NAME")


def _fit(shop: Workshop, tests: Sequence[str]) -> Sequence[str]:
    for test in tests:
        problem = fault(test, shop.runner.separator)
        if problem:
            raise UsageError(f"the test id {one_line(test, 160)!r} cannot be used: {problem}", "name it as PATH::NAME")
    return tests


def _runs(shop: Workshop, group: Sequence[str], limits: Limits) -> list[tuple[str, Session]]:
    """One run of all; where that tells nothing of each, one run of each."""
    session = shop.ask(TestRequest(tests=tuple(group)), limits)
    if len(group) == 1 or session.status in ("passed", *RED):
        return [(test, session) for test in group]
    return [(test, shop.ask(TestRequest(tests=(test,)), limits)) for test in group]


def _standing(shop: Workshop, test: str, sessions: Sequence[Session], limits: Limits) -> tuple[tuple[str, ...], str]:
    """(the red tests that one id stands for, why there is none), by its run and those of the second look."""
    first, *again = sessions
    for session in sessions:
        red = tuple(result.id for result in _covered(shop, test, session) if result.status in RED)
        if red:
            return red, ""
    results = _covered(shop, test, first)
    if any(result.status == "passed" for result in results):
        many = f"all {len(results)} tests of it pass" if len(results) > 1 else "it passes"
        return (), f"{many} here{', also in the order of its file' if again else ''}"
    if results:
        reason = one_line(results[0].reason.removeprefix("Skipped: "), 160)
        return (), f"it is {results[0].status}{': ' if reason else ''}{reason}"
    if first.status in ("not_found", "no_tests", "not_addressable"):
        return (), _unknown(shop, test, limits)
    return (), f"its run ended as {first.status}: {one_line(first.problem, 300)}"


def _covered(shop: Workshop, test: str, session: Session) -> list[TestResult]:
    return [result for result in session.results if covers(test, result.id, shop.runner.separator)]


def _passes(shop: Workshop, test: str, session: Session) -> bool:
    statuses = {result.status for result in _covered(shop, test, session)}
    return "passed" in statuses and statuses.isdisjoint(RED)


def _again(shop: Workshop, tests: Sequence[str], limits: Limits) -> list[Session]:
    """What passed is run in the order of its file, and once more as before: it may follow order, seed or chance."""
    files = tuple(dict.fromkeys(file_of(test) for test in tests))
    asked = [files, tuple(tests)] if files != tuple(tests) else [files]
    return [shop.ask(TestRequest(tests=each, seed=seed), limits) for each, seed in zip(asked, AGAIN, strict=False)]


def _unknown(shop: Workshop, test: str, limits: Limits) -> str:
    """That there is no such test, with those whose names are nearest."""
    files = targets.test_files(shop.root, shop.runner)
    file = file_of(test)
    if not (shop.root / file).is_file():
        near = difflib.get_close_matches(file, files, NEAREST, 0.5)
        return f"there is no file {one_line(file, 160)}" + (f"; near are {', '.join(near)}" if near else "")
    ids = known_ids(shop, (file,), limits).get(file, ())
    near = difflib.get_close_matches(test, ids, NEAREST, 0.4) or list(ids[:NEAREST])
    return "there is no such test" + (f"; near are {', '.join(one_line(each, 160) for each in near)}" if near else "")
