"""Runs tests with the standard library's unittest and writes what happened to the private channel.

Set-up, call and tear-down are told apart by the frames of a failure. What the watch noted belongs to the whole test
and is reported with its call, or with its set-up where there was no call. An error of a class or module set-up is
reported for every test that it kept from running, one of their tear-down for the test that ran last.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
import unittest
from collections.abc import Iterator

from rootproof_channel import Channel, bounded
from rootproof_failure import Describer
from rootproof_watch import Watch

PHASE_OF_FRAME = {
    "_callSetUp": "setup",
    "_callTestMethod": "call",
    "_callTearDown": "teardown",
    "_callCleanup": "teardown",
    "doCleanups": "teardown",
}


class Driver:
    """Loads and runs one session."""

    def __init__(self, channel: Channel, settings: dict[str, object], watch: Watch, root: str) -> None:
        self._channel = channel
        self._settings = settings
        self._watch = watch
        self._root = root
        self._missing = False

    def run(self) -> int:
        """The session's exit code: 0 all well, 1 failures, 5 no tests, 2 errors while loading, 4 nothing of that id."""
        self._channel.write("start", versions={"python": sys.version.split()[0]}, flags=[])
        chosen: dict[str, unittest.TestCase] = {}
        broken = False
        for requested in self._settings["tests"]:
            found = self._load(requested)
            broken = broken or found is None
            chosen.update(found or {})
        order = {test: place for place, test in enumerate(self._settings["order"])}
        ids = sorted(chosen, key=lambda test: order.get(test, len(order))) if order else list(chosen)
        self._channel.write_ids("collected", ids)
        code = 2 if broken else self._run({test: chosen[test] for test in ids})
        self._channel.write("finish", exit=code)
        return code

    def _run(self, chosen: dict[str, unittest.TestCase]) -> int:
        if self._settings["collect_only"]:
            return 5
        if not chosen:
            return 4 if self._missing or any("::" in test for test in self._settings["tests"]) else 5
        result = Result(self._channel, self._watch, Describer(self._root), chosen)
        unittest.TestSuite(chosen.values()).run(result)
        result.settle()
        return 0 if result.well else 1

    def _load(self, requested: str) -> dict[str, unittest.TestCase] | None:
        """Tests by id; None where the module could not be loaded."""
        file, _mark, name = requested.partition("::")
        path = os.path.join(self._root, file)
        if not os.path.isfile(path):
            self._missing = True
            return {}
        try:
            suite = unittest.TestLoader().loadTestsFromModule(import_file(path))
        except unittest.SkipTest as skip:
            self._channel.write("collect_skip", id=file, text=str(skip))
            return {}
        except Exception as error:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self._channel.write("collect_error", id=file, text=bounded(text.replace(self._root + os.sep, "")))
            return None
        found = {}
        for test in flat(suite):
            test_id = "{}::{}::{}".format(file, type(test).__qualname__, getattr(test, "_testMethodName", str(test)))
            if not name or test_id == requested or test_id.startswith(requested + "::"):
                found[test_id] = test
        return found


class Result(unittest.TestResult):
    """One test at a time; its last record waits, since a class tear-down may still fail on its account."""

    def __init__(self, channel, watch, describer, chosen) -> None:
        super().__init__()
        self._channel = channel
        self._watch = watch
        self._describer = describer
        self._ids = {id(test): test_id for test_id, test in chosen.items()}
        self._waiting = list(chosen)
        self._errors: list[tuple[str, BaseException]] = []
        self._skip: tuple[str, str] | None = None
        self._mark = ""
        self._started = 0.0
        self._late: dict[str, object] | None = None
        self.well = True

    def startTest(self, test) -> None:
        super().startTest(test)
        self.settle()
        self._errors, self._skip, self._mark = [], None, ""
        self._begin(self._ids[id(test)])
        self._watch.clear()
        self._started = time.perf_counter()

    def _begin(self, test_id: str) -> None:
        self._waiting.remove(test_id)
        self._channel.write("begin", id=test_id)

    def stopTest(self, test) -> None:
        super().stopTest(test)
        seconds = time.perf_counter() - self._started
        failed = {phase for phase, _error in self._errors}
        cause = self._errors[0][1] if self._errors and not self._mark else None
        blocked = self._watch.take(cause)
        test_id = self._ids[id(test)]
        setup = "failed" if "setup" in failed else "skipped" if self._skip and self._skip[0] == "setup" else "passed"
        self._phase(test_id, "setup", setup, blocked if setup != "passed" else [])
        if setup == "passed":
            self._phase(test_id, "call", self._call_outcome(failed), blocked, seconds)
        self._late = {"id": test_id, "outcome": "failed" if "teardown" in failed else "passed"}

    def _call_outcome(self, failed) -> str:
        if self._mark == "xfail" or (self._skip and self._skip[0] == "call"):
            return "skipped"
        return "failed" if "call" in failed or self._mark == "strict" else "passed"

    def settle(self) -> None:
        """Write the record that waits."""
        if self._late is not None:
            self._phase(str(self._late["id"]), "teardown", str(self._late["outcome"]), [])
        self._late = None

    def _phase(self, test_id: str, phase: str, outcome: str, blocked, seconds: float = 0.0) -> None:
        error = next((e for place, e in self._errors if place == phase), None)
        self._channel.write(
            "phase",
            id=test_id,
            phase=phase,
            outcome=outcome,
            seconds=round(seconds, 6),
            mark=self._mark if phase == "call" else "",
            reason=bounded(self._skip[1], 500) if self._skip and outcome == "skipped" else "",
            failure=None if error is None else self._describer.describe(error, phase, None),
            blocked=blocked,
        )

    def _note(self, error: BaseException, phase: str) -> None:
        self.well = False
        self._errors.append((phase, error))
        told = traceback.TracebackException(type(error), error, error.__traceback__)
        sys.stderr.write("".join(told.format()))

    def addError(self, test, err) -> None:
        if id(test) in self._ids:
            self._note(err[1], phase_of(err[2]))
        else:
            self._group_error(test, err[1])

    addFailure = addError

    def _group_error(self, holder, error: BaseException) -> None:
        """``setUpClass``, ``setUpModule`` or their tear-down failed; the holder's words say which, and whose."""
        words = str(holder)
        if words.startswith("tearDown") and self._late is not None:
            self._errors = []
            self._note(error, "teardown")
            self._late["outcome"] = "failed"
            return self.settle()
        self.settle()
        owner = words.partition("(")[2].rstrip(")")
        self._errors, self._skip, self._mark = [], None, ""
        self._note(error, "setup")
        for test_id in [t for t in self._waiting if self._belongs(t, owner)]:
            self._begin(test_id)
            self._phase(test_id, "setup", "failed", self._watch.take(error))
            self._phase(test_id, "teardown", "passed", [])
        return None

    def _belongs(self, test_id: str, owner: str) -> bool:
        """The owner is a module, or a module and a class."""
        file, name, _method = test_id.split("::", 2)
        module = file[:-3].replace("/", ".")
        whole = module + "." + name
        return whole == owner or whole.endswith("." + owner) or module == owner or module.endswith("." + owner)

    def addSkip(self, test, reason) -> None:
        method = getattr(test, getattr(test, "_testMethodName", ""), None)
        marked = getattr(type(test), "__unittest_skip__", False) or getattr(method, "__unittest_skip__", False)
        place = "setup" if marked or phase_of(sys.exc_info()[2]) == "setup" else "call"
        self._skip = (place, str(reason))
        if id(test) not in self._ids:
            self._group_skip(test)

    def _group_skip(self, holder) -> None:
        self.settle()
        owner = str(holder).partition("(")[2].rstrip(")")
        for test_id in [t for t in self._waiting if self._belongs(t, owner)]:
            self._begin(test_id)
            self._errors, self._mark = [], ""
            self._phase(test_id, "setup", "skipped", [])
            self._phase(test_id, "teardown", "passed", [])

    def addExpectedFailure(self, test, err) -> None:
        self._mark = "xfail"
        self._errors.append(("call", err[1]))

    def addUnexpectedSuccess(self, test) -> None:
        self._mark, self.well = "strict", False

    def addSubTest(self, test, subtest, err) -> None:
        message, values = getattr(subtest, "_message", None), getattr(subtest, "params", {})
        parts = [f"[{message}]"] if isinstance(message, str) else []
        parts.extend(f"{key}={values[key]}" for key in values)
        name = bounded(" ".join(parts) or "(subtest)", 300)
        failure = None
        if err is not None:
            self.well = False
            failure = self._describer.describe(err[1], "call", None)
        outcome = "passed" if err is None else "failed"
        test_id = self._ids[id(test)]
        self._channel.write(
            "phase", id=test_id, phase="call", outcome=outcome, subtest=name, failure=failure, blocked=[]
        )


def phase_of(trace) -> str:
    """The phase whose frame stands in a traceback; the call where none does."""
    for frame, _line in traceback.walk_tb(trace):
        if "unittest" in frame.f_code.co_filename and frame.f_code.co_name in PHASE_OF_FRAME:
            return PHASE_OF_FRAME[frame.f_code.co_name]
    return "call"


def import_file(path: str):
    """Import a file as discovery would: its name counted from the first folder above it that is no package."""
    top = os.path.dirname(path)
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    if top not in sys.path:
        sys.path.insert(0, top)
    return importlib.import_module(os.path.relpath(path, top)[: -len(".py")].replace(os.sep, "."))


def flat(suite) -> Iterator[unittest.TestCase]:
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from flat(entry)
        else:
            yield entry
