"""Runs pytest with our plugin: collects once, then hands the collected tests to the work to be done.

The project's own added options, coverage, random order, reruns and parallel runs are switched off; its
configuration, markers, fixtures and other plugins stay.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from .lines import Files
from .story import simple

SILENCED = ("pytest_cov", "xdist", "randomly", "random_order", "rerunfailures", "flaky", "sugar", "html", "benchmark")
TEXT = 2000


class Outcome:
    """What one run of one test did."""

    def __init__(self, test: str) -> None:
        self.test = test
        self.phases: dict[str, str] = {}
        self.xfail = False
        self.failure: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        """``passed`` only if set-up, call and tear-down each passed and nothing was expected to fail."""
        seen = self.phases
        if self.xfail:
            return "xfail"
        if "failed" in (seen.get("setup"), seen.get("teardown")):
            return "error"
        if seen.get("call") == "failed":
            return "failed"
        if "skipped" in seen.values():
            return "skipped"
        whole = all(seen.get(phase) == "passed" for phase in ("setup", "call", "teardown"))
        return "passed" if whole else "incomplete"

    def record(self) -> dict[str, Any]:
        return {"test": self.test, "status": self.status, "failure": self.failure}


class Plugin:
    """Takes pytest's run loop over and keeps the outcome of the test that is running."""

    def __init__(self, files: Files, work: Callable[[Plugin], None]) -> None:
        self.files = files
        self.work = work
        self.items: dict[str, Any] = {}
        self.problems: list[dict[str, str]] = []
        self.outcome: Outcome | None = None
        self.operands: list[Any] | None = None
        self.brief = False
        """Whether an explanation of a failed comparison may be short: it only has to differ where failures do."""
        self.around: Any = None
        """Called as ``around(phase, run)`` for every phase of a test, or None."""

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.problems.append({"where": report.nodeid, "what": str(report.longrepr)[-TEXT:]})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        for item in session.items:
            self.items.setdefault(item.nodeid, item)
        self.work(self)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        """Nobody reads the summaries, and what plugins import for theirs can cost more than the tests."""
        for implementation in session.config.hook.pytest_terminal_summary.get_hookimpls():
            round_others = getattr(implementation, "hookwrapper", False) or getattr(implementation, "wrapper", False)
            implementation.function = _nothing_round if round_others else _nothing

    def run(self, item: Any, following: Any = None) -> Outcome:
        """Run one collected test now; ``following`` decides which fixtures are kept for the next."""
        outcome = self.outcome = Outcome(item.nodeid)
        self.operands = None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return outcome

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: Any, right: Any) -> list[str] | None:
        one, other = simple(left), simple(right)
        self.operands = [op, one, other, type(left).__name__, type(right).__name__]
        if self.brief and one is not None and other is not None:
            return [f"{one} {op} {other}"]  # instead of a full difference, which nobody will read
        return None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self) -> Any:
        yield from self._phase("setup")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Any:
        yield from self._phase("call")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self) -> Any:
        yield from self._phase("teardown")

    def _phase(self, name: str) -> Any:
        if self.around is None:
            yield
            return
        self.around(name, True)
        try:
            yield
        finally:
            self.around(name, False)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        result = yield
        report = result.get_result()
        outcome = self.outcome
        if outcome is None or outcome.test != item.nodeid or report.when is None:
            return
        outcome.phases[report.when] = report.outcome
        outcome.xfail = outcome.xfail or hasattr(report, "wasxfail")
        if report.outcome == "failed" and outcome.failure is None and call.excinfo is not None:
            outcome.failure = self._failure(call.excinfo, report.when)

    def _failure(self, excinfo: Any, phase: str) -> dict[str, Any]:
        frames = []
        operands = self.operands
        for entry in excinfo.traceback:
            code = entry.frame.code.raw
            path = self.files.path(code.co_filename)
            if path is not None:
                frames.append([path, entry.lineno + 1, code.co_name, code.co_firstlineno])
            elif code.co_name.startswith("assert") and operands is None:
                operands = _unittest_operands(entry.frame.f_locals, code.co_name)
        message = str(excinfo.value)
        return {
            "exception": excinfo.type.__name__,
            "message": message[:TEXT],
            "phase": phase,
            "frames": frames,
            "operands": operands,
        }


def _nothing(*_told: Any) -> None:
    """In place of a summary."""


def _nothing_round(*_told: Any) -> Any:
    """In place of something round the summaries."""
    return (yield)


def _unittest_operands(names: dict[str, Any], method: str) -> list[Any] | None:
    """Both sides of ``TestCase.assertEqual`` and its relatives, in the order they were given."""
    for left, right in (("first", "second"), ("a", "b"), ("member", "container"), ("expr1", "expr2")):
        if left in names and right in names:
            one, other = names[left], names[right]
            return [method, simple(one), simple(other), type(one).__name__, type(other).__name__]
    return None


def run_pytest(request: dict[str, Any], plugin: Plugin) -> int:
    """Collect the requested files and run the plugin's work over them; pytest's own exit code."""
    scratch = tempfile.mkdtemp(prefix="rootproof-")
    args = [
        "-o",
        "addopts=",
        "-o",
        "cache_dir=" + os.path.join(scratch, "cache"),
        "-q",
        "--continue-on-collection-errors",
    ]
    for name in SILENCED:
        args += ["-p", "no:" + name]
    args += ["--rootdir", request["root"], *request["files"]]
    os.environ["PYTEST_ADDOPTS"] = ""
    owner = os.getpid()
    try:
        return int(pytest.main(args, plugins=[plugin]))
    finally:
        if os.getpid() == owner:
            shutil.rmtree(scratch, ignore_errors=True)
