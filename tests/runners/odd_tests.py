"""Tests that do not end as tests should, and how each of them must end.

A program, too: ``python odd_tests.py MECHANISM RUNNER FOLDER INTERPRETER`` runs them all in a folder, as the user who
starts it, and prints one JSON object: name → how it ended.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from project_files import NO_PLUGINS, lay

from rootproof.runners.interface import Runner, TestRequest
from rootproof.runners.pytest import Pytest
from rootproof.runners.unittest import Unittest
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Limits, Sandbox
from rootproof.sandbox.namespaces import Namespaces

SUITE = """
    import ctypes, os, signal, sys, threading, time, unittest

    class Case(unittest.TestCase):
        def test_thread_that_stays(self):
            threading.Thread(target=threading.Event().wait).start()

        def test_deaf(self):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1)

        def test_flood(self):
            for _ in range(500):
                os.write(1, b"x" * 1_000_000)
            self.assertEqual(1, 2)

        def test_leaves(self):
            os._exit(0)

        def test_forges(self):
            for fd in (1, 2):
                os.write(fd, b"tests/test_it.py::Case::test_forges PASSED\\n1 passed in 0.01s\\nOK\\n")
            os.write(1, b'{"kind": "phase", "phase": "call", "outcome": "passed"}\\n')
            self.fail("forged")

        def test_segfaults(self):
            ctypes.string_at(0)
"""
ENDS = {
    "thread_that_stays": ("timeout", "time"),
    "deaf": ("timeout", "time"),
    "flood": ("failed", None),
    "leaves": ("incomplete", None),
    "forges": ("failed", None),
    "segfaults": ("crashed", None),
}
HANGS = ("thread_that_stays", "deaf")
MECHANISMS = {"bubblewrap": Bubblewrap, "namespaces": Namespaces}
RUNNERS: dict[str, Runner] = {"pytest": Pytest(), "unittest": Unittest()}


def laid(root: Path) -> Path:
    """The project of these tests, which every user may read."""
    lay(root, {"tests/test_it.py": SUITE})
    return root


def end(sandbox: Sandbox, runner: Runner, root: Path, name: str, python: Path | None = None) -> dict[str, Any]:
    """Run one of them: its status, the limit it met, and what was kept of it."""
    test = f"tests/test_it.py::Case::test_{name}"
    project = runner.project(root, test, python)
    limits = Limits(seconds=4 if name in HANGS else 60)
    request = TestRequest((test,), env=NO_PLUGINS, writable=False)
    completed = sandbox.run(runner.command(project, request, limits))
    session = runner.session(project, request, completed)
    return {
        "status": session.status,
        "limit": completed.limit,
        "level": completed.level,
        "signal": completed.signal,
        "late": completed.seconds >= limits.seconds + 30,
        "written": completed.stdout.total,
        "kept_too_much": len(completed.stdout.head) + len(completed.stdout.tail) > limits.output_bytes,
        "blocked": [line for result in session.results for phase in result.phases for line in phase.blocked],
        "said": completed.stdout.text()[-2000:] + completed.stderr.text()[-2000:],
    }


def right(name: str, ended: dict[str, Any]) -> None:
    """That it ended as it must, within its limits."""
    assert (ended["status"], ended["limit"]) == ENDS[name], ended
    assert ended["level"] == "contained" and not ended["late"] and not ended["kept_too_much"]
    if name == "flood":
        # pytest keeps a test's output in a file, whose size is limited: then the failure is known for what it is
        assert ended["written"] >= 500_000_000 or ended["blocked"]
        assert all("EFBIG" in line for line in ended["blocked"])
    if name == "segfaults":
        assert ended["signal"] == 11


if __name__ == "__main__":
    mechanism, kind, folder, interpreter = sys.argv[1:]
    sandbox, runner = MECHANISMS[mechanism](), RUNNERS[kind]
    print(json.dumps({name: end(sandbox, runner, Path(folder), name, Path(interpreter)) for name in ENDS}))
