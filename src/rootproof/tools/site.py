"""Where the cold runs of a tool happen: the project as its runner finds it, its tests, what must not change in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rootproof import contract, pattern
from rootproof.canonical import Json
from rootproof.contract import file_of
from rootproof.experiments.cold import Site, guard_files
from rootproof.runners.interface import Runner
from rootproof.sandbox.interface import Limits, Sandbox
from rootproof.scope import Scope

CHANNEL_BYTES = 64 << 20
"""Room for the records of a test file with thousands of cases: a cut record is worth nothing."""
AT_ONCE = 2
"""Cold runs side by side at most: more would disturb what they measure."""

Means = tuple[Runner, Sandbox, Path | None]
"""With what tests are run: runner, sandbox and the interpreter the user named."""


def site_of(scope: Scope, means: Means, settings: Mapping[str, Json], target: str) -> Site:
    """The site for one target.

    Raises:
        NotRunnable: nothing here can run the target.
    """
    runner, sandbox, interpreter = means
    root, hidden = scope.root, scope.secrets()
    project = replace(runner.project(root, file_of(target), interpreter), hidden=hidden)
    files = tuple(scope.files())
    tests = test_files(scope.terms, files, target)
    seconds, memory = settings.get("timeout_seconds"), settings.get("memory_mb")
    limit = float(seconds) if isinstance(seconds, int) else 60.0
    limits = Limits(seconds=limit, cpu_seconds=2 * limit, memory_mb=memory if isinstance(memory, int) else 2048)
    limits = replace(limits, channel_bytes=CHANNEL_BYTES)
    guards, jobs = guard_files(root, files, tests), min(len(os.sched_getaffinity(0)), AT_ONCE)
    return Site(root, project, runner, sandbox, tests, limits, guards, jobs, files)


def test_files(terms: contract.Scope, files: tuple[str, ...], target: str) -> tuple[str, ...]:
    """Of the files in scope those that the contract lists as tests; the target's own first."""
    own = file_of(target)
    listed = {file_of(entry) for entry in terms.tests}
    globs = [entry for entry in listed if pattern.is_glob(entry)]
    found = [f for f in files if f in listed or (any(pattern.matches(g, f) for g in globs) and _is_test(f))]
    return tuple(dict.fromkeys((own, *found)))


test_files.__test__ = False  # type: ignore[attr-defined]


def _is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return not name.endswith(".py") or name.startswith("test") or name.endswith("_test.py")
