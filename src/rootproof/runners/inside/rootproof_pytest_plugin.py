"""PYTEST_DONT_REWRITE

The pytest plugin that writes what happened to the private channel. Works with pytest 6 and later.

It also takes back what a project's ``addopts`` would do to the report: stopping early, retrying, distributing,
selecting by keyword, measuring coverage. Each option taken back is named in the ``start`` record.
"""

from __future__ import annotations

import os
import sys

import pytest
from rootproof_channel import Channel, bounded
from rootproof_failure import Comparison, Describer
from rootproof_watch import Watch

TAKEN_BACK = {
    "numprocesses": None,
    "maxprocesses": None,
    "dist": "no",
    "distload": False,
    "tx": [],
    "looponfail": False,
    "forked": False,
    "boxed": False,
    "maxfail": 0,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "cacheclear": False,
    "cacheshow": None,
    "stepwise": False,
    "stepwise_skip": False,
    "usepdb": False,
    "trace": False,
    "setuponly": False,
    "setupplan": False,
    "setupshow": False,
    "keepduplicates": False,
    "deselect": None,
    "count": 1,
    "color": "no",
    "verbose": 0,
}
SELECTORS = {"keyword": "", "markexpr": ""}
QUIET = ("color", "verbose")
"""Taken back for a stable message only: not worth a flag."""
RETRY_MODULES = ("pytest_rerunfailures", "flaky", "pytest_retry", "pytest_flakefinder")
CACHE_PLUGINS = ("lfplugin", "nfplugin", "stepwise", "stepwiseplugin")


class Reporter:
    """One session's hooks."""

    def __init__(self, channel: Channel, settings: dict[str, object], watch: Watch, root: str) -> None:
        self._channel = channel
        self._settings = settings
        self._watch = watch
        self._root = root
        self._describer = Describer(root)
        self._comparison: Comparison | None = None
        self._flags: list[str] = []
        self._rootdir = os.getcwd()

    # -- configuration ------------------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config):
        known = early_config.known_args_namespace
        if getattr(known, "cov_source", None):
            known.cov_source = []
            self._flags.append("addopts: coverage switched off")
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config):
        self._rootdir = str(getattr(config, "rootpath", None) or config.rootdir)
        plan = dict(TAKEN_BACK, collectonly=bool(self._settings["collect_only"]))
        if all("::" in test for test in self._settings["tests"]):
            plan.update(SELECTORS)
        for name, value in plan.items():
            self._take_back(config.option, name, value)
        for name in ("randomly_seed", "random_order_seed"):
            if hasattr(config.option, name):
                seed = self._settings["seed"]
                setattr(config.option, name, seed if name == "randomly_seed" else str(seed))
        yield

    def _take_back(self, option, name: str, value: object) -> None:
        found = getattr(option, name, value)
        if found == value:
            return
        setattr(option, name, value)
        if name not in QUIET and found:
            self._flags.append(f"addopts: {name}={str(found)[:80]} not followed")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        manager = session.config.pluginmanager
        for name, plugin in list(manager.list_name_plugin()):
            module = getattr(plugin, "__name__", "") or type(plugin).__module__
            if plugin is None:
                continue
            if name in CACHE_PLUGINS:
                manager.unregister(plugin)
            elif self._settings["retries_off"] and str(module).split(".")[0] in RETRY_MODULES:
                manager.unregister(plugin)
                self._flags.append(f"retries off: {str(module).split('.')[0]}")
        versions = {"python": sys.version.split()[0], "pytest": pytest.__version__}
        for _plugin, distribution in manager.list_plugin_distinfo():
            versions[str(distribution.project_name)] = str(distribution.version)
        self._channel.write("start", versions=versions, flags=list(dict.fromkeys(self._flags)))

    # -- collection ---------------------------------------------------------------------------------------------

    def identify(self, nodeid: str) -> str:
        """The id with its file relative to the repository instead of pytest's own root folder."""
        file, mark, rest = nodeid.partition("::")
        path = os.path.normpath(os.path.join(self._rootdir, file))
        return os.path.relpath(path, self._root).replace(os.sep, "/") + mark + rest

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            text = str(report.longrepr).replace(self._root + os.sep, "")
            self._channel.write("collect_error", id=self.identify(report.nodeid), text=bounded(text))
        elif report.outcome == "skipped":
            self._channel.write("collect_skip", id=self.identify(report.nodeid), text=reason_of(report))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        order = {test: place for place, test in enumerate(self._settings["order"])}
        if order:
            items.sort(key=lambda item: order.get(self.identify(item.nodeid), len(order)))

    def pytest_deselected(self, items):
        self._channel.write_ids("deselected", [self.identify(item.nodeid) for item in items])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        self._channel.write_ids("collected", [self.identify(item.nodeid) for item in session.items])

    # -- tests --------------------------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid):
        self._watch.clear()
        self._comparison = None
        self._channel.write("begin", id=self.identify(nodeid))

    def pytest_assertrepr_compare(self, op, left, right):
        frame = sys._getframe(1)
        while frame is not None and "@pytest_ar" not in frame.f_globals:
            frame = frame.f_back
        if op == "==" and frame is not None:
            self._comparison = Comparison(left, right, frame)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call):
        outcome = yield
        report = outcome.get_result()
        failure = None
        error = call.excinfo.value if call.excinfo is not None else None
        told = report.outcome == "failed" or hasattr(report, "wasxfail")
        blocked = []
        try:
            if error is not None and told and not isinstance(error, pytest.xfail.Exception):
                failure = self._describer.describe(error, report.when, self._comparison)
            blocked = self._watch.take(error if report.outcome == "failed" else None)
        except Exception as fault:  # A fault of ours must not become one of the session.
            self._channel.write("problem", what="unhandled", text=f"the plugin failed: {type(fault).__name__}: {fault}")
        report.rootproof = {"failure": failure, "blocked": blocked}
        self._comparison = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        told = getattr(report, "rootproof", None) or {"failure": None, "blocked": []}
        self._channel.write(
            "phase",
            id=self.identify(report.nodeid),
            phase=str(report.when),
            outcome=str(report.outcome),
            seconds=round(float(getattr(report, "duration", 0.0)), 6),
            mark=mark_of(report, told["failure"]),
            reason=reason_of(report),
            subtest=subtest_of(report),
            failure=told["failure"],
            blocked=told["blocked"],
        )

    # -- the end ------------------------------------------------------------------------------------------------

    def pytest_internalerror(self, excrepr):
        self._channel.write("problem", what="internal", text=bounded(str(excrepr)))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_sessionfinish(self, session, exitstatus):
        silence_summaries(session.config)
        yield
        code = getattr(session, "exitstatus", exitstatus)
        self._channel.write("finish", exit=int(code))


def silence_summaries(config) -> None:
    """What other plugins would print under the report is no outcome, and can cost more than the tests themselves."""
    for implementation in config.hook.pytest_terminal_summary.get_hookimpls():
        if implementation.plugin_name == "terminalreporter":
            continue
        if getattr(implementation, "hookwrapper", False) or getattr(implementation, "wrapper", False):
            implementation.function = say_nothing_round
        else:
            implementation.function = say_nothing


def say_nothing(*_told) -> None:
    """In place of a summary."""


def say_nothing_round(*_told):
    """In place of something round the summaries."""
    return (yield)


def mark_of(report, failure: object) -> str:
    """``xfail`` for an expected failure or an unexpected pass, ``strict`` for a pass that strictness made a failure."""
    if hasattr(report, "wasxfail"):
        return "xfail"
    if report.outcome == "failed" and failure is None and str(report.longrepr).startswith("[XPASS(strict)]"):
        return "strict"
    return ""


def reason_of(report) -> str:
    """Why a test was skipped or was expected to fail."""
    reason = str(getattr(report, "wasxfail", ""))
    told = report.longrepr
    if not reason and report.outcome == "skipped":
        reason = str(told[2]) if isinstance(told, tuple) and len(told) == 3 else str(told)
    if not reason and report.outcome == "failed" and isinstance(told, str):
        reason = told
    return bounded(reason, 500)


def subtest_of(report) -> str | None:
    """The words that name a subtest; None for a report about the whole test."""
    context = getattr(report, "context", None)
    if context is None:
        return None
    parts = [] if context.msg is None else [f"[{context.msg}]"]
    parts.extend(f"{key}={context.kwargs[key]}" for key in context.kwargs)
    return bounded(" ".join(parts) or "(subtest)", 300)
