"""Any test program that writes JUnit XML, such as Maven, go with go-junit-report, PHPUnit or RSpec.

What is started is never in a contract: a user's own configuration defines the program, once, under an alias. Ids are
PATH#NAME. Reports name classes rather than files in most dialects, so a case belongs to a file where the report says
so, or where its class name and the file's path end alike.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rootproof.errors import UsageError
from rootproof.runners import junit_xml, outcome, python_project, records, test_id
from rootproof.runners.interface import Failure, Phase, Project, Session, TestRequest, TestResult, TestStatus
from rootproof.sandbox.interface import Command, Completed, Limits

INSIDE = Path(__file__).with_name("inside")
SETTINGS_VARIABLE = "ROOTPROOF_SETTINGS"
SEPARATOR = "#"
MAX_REPORT = junit_xml.MAX_BYTES
_PLACE = re.compile(r"\{(?:file|name|stem|folder)\}")


@dataclass(frozen=True)
class Program:
    """A test program as the user's configuration defines it."""

    argv: tuple[str, ...]
    """``{file}``, ``{stem}`` (its name without ending), ``{folder}`` and ``{name}`` are filled in, each inside its own
    argument; no shell ever sees them. An argument that names a part the request does not have is left out."""
    reports: tuple[str, ...]
    """Where the reports appear: globs relative to the package root."""
    readable: tuple[Path, ...] = ()
    """Further prefixes the program needs."""


@dataclass
class CommandRunner:
    """One configured program."""

    program: Program
    name: str = "command"
    separator: str = SEPARATOR
    arranges: bool = False
    seeded: bool = False
    together: bool = False

    def detect(self, root: Path) -> str | None:
        """Never: it is chosen by its alias."""
        return None

    def file_names(self, root: Path) -> tuple[str, ...]:
        """The usual names."""
        return ("test*",)

    def project(self, root: Path, test: str, interpreter: Path | None) -> Project:
        """The program runs in the repository root."""
        return Project(
            root, root, readable=self.program.readable, reason=f"{self.program.argv[0]} in the repository root"
        )

    def command(self, project: Project, request: TestRequest, limits: Limits) -> Command:
        """The program behind our starter, which hands its reports out.

        Raises:
            UsageError: more than one test, or an id that must never reach a runner.
        """
        if len(request.tests) != 1:
            raise UsageError("a configured program runs one test or file at a time", "ask for each apart")
        fault = test_id.fault(request.tests[0], SEPARATOR)
        if fault:
            raise UsageError(f"the test id cannot be used: {fault}", "name tests as PATH#NAME, relative to the root")
        settings = json.dumps({"nonce": request.nonce, "reports": self.program.reports})
        python = Path(sys.executable)
        argv = (str(python), str(INSIDE / "start_command.py"), *self._filled(request.tests[0]))
        return Command(
            argv=argv,
            root=project.root,
            cwd=project.package_root,
            env={**request.env, "PYTHONDONTWRITEBYTECODE": "1", SETTINGS_VARIABLE: settings},
            readable=(*project.readable, *python_project.readable(python, project.root), INSIDE),
            hidden=project.hidden,
            writable=True,
            changes=request.changes,
            channel=True,
            limits=limits,
        )

    def _filled(self, test: str) -> tuple[str, ...]:
        file, name = test_id.split(test, SEPARATOR)
        path = PurePosixPath(file)
        values = {"{file}": test_id.argument(file), "{name}": name, "{stem}": path.stem, "{folder}": str(path.parent)}
        kept = (item for item in self.program.argv if name or "{name}" not in item)
        return tuple(_PLACE.sub(lambda found: values[found.group()], item) for item in kept)

    def session(self, project: Project, request: TestRequest, completed: Completed) -> Session:
        """Read the reports that came over the channel."""
        transcript = records.read(completed.channel, request.nonce)
        if transcript.fault:
            return Session("unknown", problem=transcript.fault)
        killed = outcome.cut_short(completed)
        if killed is not None:
            return Session(killed.status, problem=killed.problem)
        try:
            return self._judged(_Told.of(transcript.records), project, request, completed)
        except ValueError as fault:
            return Session("unknown", problem=str(fault))

    def _judged(self, told: _Told, project: Project, request: TestRequest, completed: Completed) -> Session:
        if told.problem:
            return Session("config_error", problem=told.problem)
        if told.finish is None:
            return Session("incomplete", problem="the process ended before its reports were handed out")
        if told.finish != completed.exit_code:
            return Session(
                "unknown", problem=f"the program ended with {told.finish}, the process with {completed.exit_code}"
            )
        if not told.reports:
            said = outcome.tail(completed)
            return Session("config_error", problem=f"the program wrote no report\n{said}".strip(), finished=True)
        cases = [case for content in told.reports.values() for case in junit_xml.read(content)]
        results = _results(cases, request.tests[0], project)
        return self._session(results, bool(cases), request, completed)

    def _session(
        self, results: tuple[TestResult, ...], any_case: bool, request: TestRequest, completed: Completed
    ) -> Session:
        bad = any(result.status in outcome.BAD for result in results)
        plain = Session("no_tests", results, tuple(r.id for r in results), finished=True)
        if not results:
            wanted = test_id.split(request.tests[0], SEPARATOR)[1]
            status: TestStatus = "not_found" if wanted and (any_case or completed.exit_code != 0) else "no_tests"
            return replace(plain, status=status, problem="no case of the reports has this id")
        if completed.exit_code == 0 and bad:
            return _doubted(plain, "the process ended with 0 although a test failed")
        if completed.exit_code != 0 and not bad:
            return _doubted(plain, f"the process ended with {completed.exit_code} although no test asked for failed")
        return replace(plain, status=max((r.status for r in results), key=outcome.RANK.index))


@dataclass(frozen=True)
class _Told:
    """The records of one run, sorted."""

    reports: Mapping[str, bytes]
    finish: int | None
    problem: str

    @classmethod
    def of(cls, told: tuple[records.Record, ...]) -> _Told:
        reports: dict[str, bytes] = {}
        finish, problem = None, ""
        for record in told:
            kind = record["kind"]
            if kind == "report":
                name, fault = records.text(record, "name"), records.text(record, "fault")
                if fault:
                    raise records.Malformed(f"the report {records.visible(name)} is {fault}")
                part = base64.b64decode(records.text(record, "part"), validate=True)
                reports[name] = reports.get(name, b"") + part
                if len(reports[name]) > MAX_REPORT:
                    raise records.Malformed(f"the report {records.visible(name)} is too large")
            elif kind == "finish":
                finish = int(records.number(record, "exit"))
            elif kind == "problem":
                problem = records.shown(record, "text")
        return cls(reports, finish, problem)


def _doubted(session: Session, problem: str) -> Session:
    results = tuple(replace(result, status="unknown") for result in session.results)
    return replace(session, status="unknown", results=results, problem=problem)


def _results(cases: list[junit_xml.Case], requested: str, project: Project) -> tuple[TestResult, ...]:
    """The cases that the requested id stands for; of several with one id the worst counts."""
    file, name = test_id.split(requested, SEPARATOR)
    found: dict[str, TestResult] = {}
    for case in cases:
        if not belongs(case, file, project.root):
            continue
        case_id = f"{file}{SEPARATOR}{records.visible(case.name)}"
        if name and not test_id.covers(requested, case_id, SEPARATOR) and not case.name.startswith(f"{name}("):
            continue
        result = _result(case, case_id, file)
        known = found.get(case_id)
        if known is None or outcome.RANK.index(known.status) < outcome.RANK.index(result.status):
            found[case_id] = result
    return tuple(found.values())


def belongs(case: junit_xml.Case, file: str, root: Path) -> bool:
    """Whether a case stands in a file of the repository."""
    if case.file:
        told = os.path.normpath(case.file)
        return told in (file, str(root / file)) or (told[0] != "/" and file.endswith("/" + told))
    path = PurePosixPath(file).with_suffix("").as_posix()
    name = case.classname.replace("\\", "/").replace("::", "/").replace("$", "/")
    dotted = name if "/" in name else name.replace(".", "/")
    folder = PurePosixPath(file).parent.as_posix()
    if file.endswith("_test.go") and folder == ".":
        return True  # Only the package of this folder was run, and reports call it by its module's name.
    return _ends_alike(path, dotted) or ("/" in name and folder != "." and _ends_alike(name, folder))


def _ends_alike(whole: str, ending: str) -> bool:
    """``whole`` ends with the path ``ending``, or the other way round."""
    return bool(ending) and (("/" + whole).endswith("/" + ending) or ("/" + ending).endswith("/" + whole))


def _result(case: junit_xml.Case, case_id: str, file: str) -> TestResult:
    failure = None
    if case.status == "failed":
        failure = Failure(case.exception or "failure", case.message, path=file, line=case.line, traceback=case.detail)
    ran = case.status != "skipped"
    phase = Phase("call", "failed" if failure else "passed" if ran else "skipped", case.seconds)
    return TestResult(case_id, case.status, ran, (phase,), failure, reason=case.reason, seconds=case.seconds)
