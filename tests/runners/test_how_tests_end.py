"""Tests that do not end as tests should, contained: the right status within the limits, and nothing is left alive."""

from __future__ import annotations

from pathlib import Path

import pytest
from project_files import NO_PLUGINS, lay

from rootproof.errors import ContainmentUnavailable
from rootproof.runners.interface import Runner, TestRequest
from rootproof.runners.pytest import Pytest
from rootproof.runners.unittest import Unittest
from rootproof.sandbox.choose import strongest
from rootproof.sandbox.interface import Limits, Sandbox

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
RUNNERS: dict[str, Runner] = {"pytest": Pytest(), "unittest": Unittest()}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return strongest("contained")
    except ContainmentUnavailable as refused:
        pytest.skip(f"no containment on this machine: {refused}")


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
@pytest.mark.parametrize("name", ENDS)
def test_the_right_status_within_the_limits(runner: Runner, sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o755)
    root = lay(tmp_path / "project", {"tests/test_it.py": SUITE})
    test = f"tests/test_it.py::Case::test_{name}"
    request = TestRequest((test,), env=NO_PLUGINS, writable=False)
    project = runner.project(root, test, None)
    limits = Limits(seconds=4 if name in HANGS else 60)
    completed = sandbox.run(runner.command(project, request, limits))
    session = runner.session(project, request, completed)
    assert (session.status, completed.limit) == ENDS[name], session
    assert completed.level == "contained"
    if name == "flood":
        # pytest keeps a test's output in a file, whose size is limited: then the failure is known for what it is
        blocked = [line for result in session.results for phase in result.phases for line in phase.blocked]
        assert completed.stdout.total >= 500_000_000 or blocked
        assert all("EFBIG" in line for line in blocked)
        assert len(completed.stdout.head) + len(completed.stdout.tail) <= limits.output_bytes
    if name == "segfaults":
        assert completed.signal == 11
    assert completed.seconds < limits.seconds + 30
