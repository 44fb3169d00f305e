"""``run_test``: one test, really run, its outcome read from the runner's private channel alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rootproof import contract
from rootproof.canonical import Json
from rootproof.errors import NotRunnable
from rootproof.evidence import POSSIBLY_CONTAINMENT
from rootproof.runners.interface import Project, Runner, Session, TestRequest, TestResult, TestStatus
from rootproof.sandbox.interface import Capture, Completed, Limits, Sandbox
from rootproof.text import visible
from rootproof.tools.interface import Cut, Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec

OUTPUT_SHOWN = 3_000
MESSAGE = 4_000

SPEC = ToolSpec(
    name="run_test",
    version="1",
    doc="Run one test of the contract and report its outcome.",
    fields=(
        Field("test", "name", "a test id of the contract, or a file of it for all its tests", of="tests", most=1000),
        Field("seed", "integer", "hash seed of the run", required=False, default=0, least=0, most=2**31),
    ),
    settings=(
        Field("runner", "choice", "which test runner", choices=("auto", "pytest", "unittest", "vitest", "node_test")),
        Field("timeout_seconds", "integer", "longest time of one run", least=1, most=3600),
        Field("memory_mb", "integer", "most memory of one run", least=64, most=65536),
    ),
    results=(
        Result("test", "text", "the test that was asked for", required=True),
        Result("status", "text", "its outcome", required=True, choices=get_args(TestStatus)),
        Result("exit_code", "integer", "exit code of the runner, where it had one"),
        Result("signal", "integer", "signal that ended it"),
        Result("limit", "text", "limit that ended it; empty where none did"),
        Result("exception", "text", "type of the exception"),
        Result("message", "text", "the failure's own message"),
        Result("expected", "scalar", "right side of the failed comparison"),
        Result("actual", "scalar", "left side of the failed comparison"),
        Result("compared_by", "text", "value or repr"),
        Result("phase", "text", "phase that failed: setup, call or teardown"),
        Result("path", "text", "file of the failing line"),
        Result("line", "integer", "the failing line"),
        Result("executed", "flag", "whether the test's body was entered"),
        Result("tests_run", "integer", "how many tests were reported"),
        Result("outcomes", "object", "status of each test, where a file was asked for"),
        Result("unreported", "list", "collected and never reported"),
        Result("last_started", "text", "the test that was running last"),
        Result("subtests", "object", "failing subtests"),
        Result("problem", "text", "what was captured where no test ran"),
        Result("mend", "text", "what to install"),
        Result("blocked", "list", "what containment may have refused"),
        Result("outcome", "text", "test and status in one line"),
        Result("runner", "text", "which runner ran it", required=True),
        Result("containment", "text", "level it ran at", required=True),
    ),
    reaches=("files", "processes"),
    echoes=("test",),
    repeatable=True,
    checks=True,
    records=(Record("test_outcomes", "outcome", "append", about=("test",)),),
    test_runs=1,
)


@dataclass(frozen=True)
class RunTest:
    """Runs tests of one root through one runner and one sandbox."""

    root: Path
    scope: contract.Scope
    runner: Runner
    sandbox: Sandbox
    settings: Mapping[str, Json]
    interpreter: Path | None = None
    hidden: tuple[str, ...] = ()
    """Secret files of the root: not there for the code under test."""
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        test = str(request.input["test"])
        seed = request.input.get("seed") or 0
        try:
            project = self._project(test)
        except NotRunnable as error:
            fields = {"status": "config_error", "problem": f"{error}", "mend": error.remedy}
            return Observation({**self._named(test), **fields}, f"{error}\n{error.remedy}")
        asked = TestRequest(tests=(test,), seed=seed if type(seed) is int else 0)
        completed = self.sandbox.run(self.runner.command(project, asked, self._limits(request)))
        session = self.runner.session(project, asked, completed)
        spent = Spend(completed.seconds, completed.cpu_seconds, 1)
        if session.status == "not_found" and test not in self.scope.tests:
            reason = f"there is no test {test!r}"
            return Declined(reason, f"collected were {', '.join(session.collected[:5]) or 'none'}", spent)
        return self._observation(test, asked, session, completed, spent)

    def _project(self, test: str) -> Project:
        found = self.runner.project(self.root, contract.file_of(test), self.interpreter)
        return replace(found, hidden=self.hidden)

    def _limits(self, request: Request) -> Limits:
        seconds = self.settings.get("timeout_seconds", 60)
        memory = self.settings.get("memory_mb", 2048)
        limit = min(float(seconds) if isinstance(seconds, int) else 60.0, request.seconds)
        return Limits(
            seconds=max(limit, 0.1),
            cpu_seconds=max(min(limit * 2, request.cpu_seconds), 0.1),
            memory_mb=memory if isinstance(memory, int) else 2048,
        )

    def _named(self, test: str) -> dict[str, object]:
        return {"test": test, "runner": self.runner.name, "containment": self.sandbox.level}

    def _observation(
        self, test: str, asked: TestRequest, session: Session, completed: Completed, spent: Spend
    ) -> Observation:
        result = session.result(test)
        fields = {**self._named(test), **_ending(completed), **_session_fields(session), **_failure_fields(result)}
        fields["outcome"] = f"{test} {session.status}"
        blocked = _blocked(session, test)
        flags = list(session.flags)
        if blocked:
            fields["blocked"] = blocked
            if session.status not in ("passed", "xfailed", "skipped"):
                flags.append(POSSIBLY_CONTAINMENT)
        if completed.stdout.dropped or completed.stderr.dropped:
            flags.append("truncated")
        return Observation(
            fields=fields,
            excerpt=_excerpt(result, session, completed),
            attachments=_captures(completed),
            conditions={"seed": asked.seed, "containment": self.sandbox.level},
            cut=_cut(completed),
            flags=tuple(dict.fromkeys(flags)),
            spent=spent,
        )


def _ending(completed: Completed) -> dict[str, object]:
    return {"exit_code": completed.exit_code, "signal": completed.signal, "limit": completed.limit or ""}


def _cut(completed: Completed) -> Cut:
    if completed.limit == "time":
        return "timeout"
    return completed.limit or ("crashed" if completed.signal is not None else "")


def _session_fields(session: Session) -> dict[str, object]:
    fields: dict[str, object] = {
        "status": session.status,
        "tests_run": len(session.results),
        "unreported": list(session.unreported[:20]),
        "last_started": session.last_started,
    }
    if session.problem:
        fields["problem"] = visible(session.problem[:MESSAGE])
    if session.mend:
        fields["mend"] = session.mend
    if len(session.results) > 1:
        fields["outcomes"] = {r.id: r.status for r in session.results[:100]}
    return fields


def _failure_fields(result: TestResult | None) -> dict[str, object]:
    if result is None:
        return {}
    fields: dict[str, object] = {"executed": result.executed}
    if result.subtests:
        fields["subtests"] = dict(list(result.subtests.items())[:20])
    failure = result.failure
    if failure is None:
        return fields
    fields |= {"exception": failure.exception, "message": failure.message[:MESSAGE], "phase": failure.phase}
    if failure.path:
        fields |= {"path": failure.path, "line": failure.line}
    for name, operand in (("expected", failure.expected), ("actual", failure.actual)):
        if operand is not None:
            fields[name] = operand.value[:MESSAGE] if isinstance(operand.value, str) else operand.value
            fields["compared_by"] = operand.by
    return fields


def _blocked(session: Session, test: str) -> list[str]:
    results = [r for r in session.results if r.id == test] or list(session.results)
    return [line for result in results for phase in result.phases for line in phase.blocked][:20]


def _captures(completed: Completed) -> dict[str, bytes]:
    streams = {"stdout": completed.stdout, "stderr": completed.stderr, "channel": completed.channel}
    return {name: _kept(capture) for name, capture in streams.items() if capture.total}


def _kept(capture: Capture) -> bytes:
    middle = f"\n[... {capture.dropped} bytes dropped ...]\n".encode() if capture.dropped else b""
    return capture.head + middle + capture.tail


def _excerpt(result: TestResult | None, session: Session, completed: Completed) -> str:
    parts = []
    if session.problem:
        parts.append(session.problem[:MESSAGE])
    if result is not None and result.failure is not None:
        parts.append(result.failure.traceback or f"{result.failure.exception}: {result.failure.message[:MESSAGE]}")
    for name, capture in (("stdout", completed.stdout), ("stderr", completed.stderr)):
        text = capture.text().strip()
        if text:
            shown = text if len(text) <= OUTPUT_SHOWN else f"[...] {text[-OUTPUT_SHOWN:]}"
            parts.append(f"--- {name} ---\n{shown}")
    return visible("\n".join(parts))
