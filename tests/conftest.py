"""For all tests: the folder of the shared test modules (``casework``) on the import path, skips that cannot hide, and
repositories that nothing may write to.

A skip is counted and named at the end of a run. Where ``ROOTPROOF_NO_SKIP`` is 1 it is a failure: a machine that
promises every runtime must have them all.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from gate.real import contained
from postgres import Cluster, cluster
from tree_guard import TARGETS, Manifest, changed, manifest, watched


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """One Postgres, where there is one, for all who need it."""
    with cluster() as running:
        yield running


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture: many of them run tests."""
    if item.get_closest_marker("contained") and not contained():
        pytest.skip("nothing on this machine contains a test run (rootproof doctor)")


def pytest_configure() -> None:
    """A shell's background job ignores Ctrl-C, and so would everything it starts; here that is to be tested."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


NO_SKIP = os.environ.get("ROOTPROOF_NO_SKIP") == "1"


def _reason(report: Any) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


def _refuse_skip(report: Any) -> None:
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped where no skip is allowed: {reason}"


INSTALLED = "node_modules"
"""Thousands of files: compared once, at the end."""


CACHE = f"{INSTALLED}/.vite"
"""Vitest's own cache, written through a link by tests that run it without containment."""


def _targets(without: str = "") -> dict[Path, Manifest]:
    return {target: manifest(target, without) for target in TARGETS}


def _installed() -> dict[Path, Manifest]:
    """The examples with all that is installed in them, but for what belongs to vitest's cache."""
    return {
        target: {name: entry for name, entry in found.items() if name != INSTALLED and not name.startswith(CACHE)}
        for target, found in _targets().items()
    }


@pytest.fixture(scope="session")
def _examples() -> Iterator[dict[Path, Manifest]]:
    whole = _installed()
    yield _targets(INSTALLED)
    assert _installed() == whole, "a repository of the examples was written"


@pytest.fixture(autouse=True)
def _repositories_are_only_read(request: pytest.FixtureRequest, _examples: dict[Path, Manifest]) -> Iterator[None]:
    """Fails a test after which a repository of the examples, or a tree that a command was given, is not what it was."""
    with watched() as found:
        yield
    now = _targets(INSTALLED)
    found += [f"{target}: {one}" for target in TARGETS for one in changed(_examples[target], now[target])]
    _examples.update(now)  # the next test is not to blame
    if found and request.node.get_closest_marker("writes_its_tree") is None:
        pytest.fail("a repository was written: " + "; ".join(found[:5]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    _refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    terminalreporter.section(f"skipped: {len(skipped)}, because something they need is not here")
    for report in skipped:
        terminalreporter.write_line(f"{report.nodeid}: {_reason(report)}")
