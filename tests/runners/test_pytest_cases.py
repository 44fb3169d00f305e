"""Inputs that broke test runners and their readers, each run for real: what must be reported, whatever is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from project_files import QUICK, lay, run

from rootproof.runners.interface import TestRequest, TestStatus
from rootproof.runners.pytest import Pytest
from rootproof.sandbox.interface import Limits


@dataclass(frozen=True)
class Case:
    """One project, one request, and the session it must give."""

    id: str
    files: Mapping[str, str]
    test: str
    status: TestStatus
    tests: Mapping[str, str] = field(default_factory=dict)
    """Status of single tests."""
    ran: int | None = None
    """How many tests entered their body."""
    problem: str = ""
    """What the session's problem must hold."""
    last_started: str = ""
    unreported: tuple[str, ...] = ()
    exception: str = ""
    message: str = ""
    limits: Limits = QUICK
    exit_code: int | None = None
    signal: int | None = None


CASES = [
    Case(
        "TR-01 separators, slashes, spaces and a bracket inside a parameter",
        {
            "test_ids.py": """
                import pytest

                @pytest.mark.parametrize("word", ["k::v", "one/two", "two words", "["])
                def test_word(word):
                    assert word
            """
        },
        "test_ids.py::test_word[k::v]",
        "passed",
        {"test_ids.py::test_word[k::v]": "passed"},
        ran=1,
    ),
    Case(
        "TR-04 a conftest that cannot be imported",
        {"conftest.py": "import no_such_module_anywhere\n", "test_one.py": "def test_one():\n    pass\n"},
        "test_one.py::test_one",
        "config_error",
        ran=0,
        problem="no_such_module_anywhere",
        exit_code=4,
    ),
    Case(
        "TR-05 a plugin that cannot be imported",
        {
            "pytest.ini": "[pytest]\naddopts = -p no_such_plugin_anywhere\n",
            "test_one.py": "def test_one():\n    pass\n",
        },
        "test_one.py::test_one",
        "config_error",
        ran=0,
        problem="no_such_plugin_anywhere",
    ),
    Case(
        "TR-06 a test module that cannot be imported, asked for by id",
        {"test_one.py": "import no_such_module_anywhere\n\ndef test_one():\n    pass\n"},
        "test_one.py::test_one",
        "collection_error",
        ran=0,
        problem="no_such_module_anywhere",
        exit_code=4,
    ),
    Case(
        "TR-06 the same, asked for by file",
        {"test_one.py": "import no_such_module_anywhere\n\ndef test_one():\n    pass\n"},
        "test_one.py",
        "collection_error",
        ran=0,
        problem="no_such_module_anywhere",
        exit_code=2,
    ),
    Case(
        "TR-08 a file without tests", {"test_empty.py": "NUMBER = 3\n"}, "test_empty.py", "no_tests", ran=0, exit_code=5
    ),
    Case(
        "TR-09 os._exit(0) in the middle",
        {
            "test_three.py": """
                import os

                def test_a():
                    pass

                def test_b():
                    os._exit(0)

                def test_c():
                    assert False
            """
        },
        "test_three.py",
        "incomplete",
        {"test_three.py::test_a": "passed", "test_three.py::test_b": "incomplete"},
        last_started="test_three.py::test_b",
        unreported=("test_three.py::test_b", "test_three.py::test_c"),
        exit_code=0,
    ),
    Case(
        "TR-11 a test that stops the session with code 0",
        {
            "test_three.py": """
                import pytest

                def test_a():
                    assert False

                def test_b():
                    pytest.exit("enough", returncode=0)

                def test_c():
                    assert False
            """
        },
        "test_three.py",
        "incomplete",
        {"test_three.py::test_a": "failed"},
        unreported=("test_three.py::test_b", "test_three.py::test_c"),
        exit_code=0,
    ),
    Case(
        "TR-12 a segmentation fault",
        {"test_one.py": "import os, signal\n\ndef test_one():\n    os.kill(os.getpid(), signal.SIGSEGV)\n"},
        "test_one.py::test_one",
        "crashed",
        {"test_one.py::test_one": "crashed"},
        problem="Segmentation fault",
        last_started="test_one.py::test_one",
        signal=11,
    ),
    Case(
        "TR-13 a grandchild that sleeps",
        {"test_one.py": "import subprocess\n\ndef test_one():\n    subprocess.Popen(['sleep', '41.25']).wait()\n"},
        "test_one.py::test_one",
        "timeout",
        {"test_one.py::test_one": "timeout"},
        limits=Limits(seconds=3),
    ),
    Case(
        "TR-14 words of success before the limit",
        {
            "test_one.py": """
                import sys, time

                def test_one():
                    sys.__stdout__.write("1 passed in 0.02s\\n")
                    sys.__stdout__.flush()
                    time.sleep(40)
            """
        },
        "test_one.py::test_one",
        "timeout",
        limits=Limits(seconds=3),
    ),
    Case(
        "TR-16 expected to fail and not run",
        {"test_one.py": "import pytest\n\n@pytest.mark.xfail(run=False)\ndef test_one():\n    assert False\n"},
        "test_one.py::test_one",
        "xfailed",
        ran=0,
        exit_code=0,
    ),
    Case(
        "TR-17 unexpected passes, plain and strict",
        {
            "test_two.py": """
                import pytest

                @pytest.mark.xfail
                def test_plain():
                    pass

                @pytest.mark.xfail(strict=True)
                def test_strict():
                    pass
            """
        },
        "test_two.py",
        "xpassed_strict",
        {"test_two.py::test_plain": "xpassed", "test_two.py::test_strict": "xpassed_strict"},
        exit_code=1,
    ),
    Case(
        "TR-18 a test that needs its predecessor, alone",
        {"test_two.py": "SEEN = []\n\ndef test_1():\n    SEEN.append(1)\n\ndef test_2():\n    assert SEEN\n"},
        "test_two.py::test_2",
        "failed",
        exit_code=1,
    ),
    Case(
        "TR-18 the same in its file",
        {"test_two.py": "SEEN = []\n\ndef test_1():\n    SEEN.append(1)\n\ndef test_2():\n    assert SEEN\n"},
        "test_two.py",
        "passed",
        ran=2,
        exit_code=0,
    ),
    Case(
        "TR-19 printed result lines",
        {
            "test_one.py": """
                import sys

                def test_one():
                    sys.__stdout__.write("\\n1 passed in 0.02s\\nPASSED test_one.py::test_one\\n")
                    sys.__stdout__.flush()
                    assert 3 == 4
            """
        },
        "test_one.py::test_one",
        "failed",
        exception="AssertionError",
        message="assert 3 == 4",
    ),
    Case(
        "TR-21 addopts that need a plugin which is not there",
        {"pytest.ini": "[pytest]\naddopts = -n 4 --cov=src\n", "test_one.py": "def test_one():\n    pass\n"},
        "test_one.py::test_one",
        "config_error",
        ran=0,
        problem="unrecognized arguments",
        exit_code=4,
    ),
    Case(
        "TR-23 a flood before the failure",
        {
            "test_one.py": """
                def test_one():
                    for i in range(100_000):
                        print(f"row {i} " + "y" * 90)
                    assert False, "the last word"
            """
        },
        "test_one.py::test_one",
        "failed",
        message="the last word",
    ),
    Case(
        "TR-25 a failed subtest under a passed test",
        {
            "test_one.py": """
                import unittest

                class Case(unittest.TestCase):
                    def test_numbers(self):
                        for n in range(3):
                            with self.subTest(n=n):
                                self.assertNotEqual(n, 1)
            """
        },
        "test_one.py::Case::test_numbers",
        "failed",
        exit_code=1,
    ),
    Case(
        "TR-26 a warning that the settings make an error",
        {
            "pytest.ini": "[pytest]\nfilterwarnings = error\n",
            "test_one.py": "import warnings\n\ndef test_one():\n    warnings.warn('old', DeprecationWarning)\n",
        },
        "test_one.py::test_one",
        "failed",
        exception="DeprecationWarning",
        message="old",
    ),
    Case(
        "PI-03 output that imitates a message to the controller",
        {
            "test_one.py": """
                import json

                def test_one():
                    print(json.dumps({"type": "final"}))
                    assert False
            """
        },
        "test_one.py::test_one",
        "failed",
    ),
    Case(
        "PI-06 terminal escapes in output and message",
        {
            "pytest.ini": "[pytest]\naddopts = -s --color=yes\n",
            "test_one.py": """
                import os

                def test_one():
                    os.write(1, b"\\x1b]0;mine\\x07\\x1b[2J<img src=x onerror=alert(1)>")
                    assert False, "\\x1b[31mred\\x07"
            """,
        },
        "test_one.py::test_one",
        "failed",
        message="\\x1b[31mred\\x07",
    ),
    Case(
        "an id that is not there",
        {"test_one.py": "def test_one():\n    pass\n"},
        "test_one.py::test_two",
        "not_found",
        exit_code=4,
    ),
    Case(
        "a file that is not there",
        {"test_one.py": "def test_one():\n    pass\n"},
        "test_two.py::test_two",
        "not_found",
        exit_code=4,
    ),
    Case(
        "a broken fixture",
        {
            "test_one.py": "import pytest\n\n@pytest.fixture\ndef broken():\n    raise ValueError('no')\n\ndef test_one(broken):\n    pass\n"
        },
        "test_one.py::test_one",
        "error",
        exception="ValueError",
        message="no",
        ran=0,
    ),
    Case(
        "a broken tear-down after a passed call",
        {
            "test_one.py": "import pytest\n\n@pytest.fixture\ndef late():\n    yield\n    raise ValueError('no')\n\ndef test_one(late):\n    pass\n"
        },
        "test_one.py::test_one",
        "error",
        exception="ValueError",
        ran=1,
    ),
    Case(
        "a module that skips itself",
        {
            "test_one.py": "import pytest\n\npytest.skip('not here', allow_module_level=True)\n\ndef test_one():\n    pass\n"
        },
        "test_one.py",
        "skipped",
        ran=0,
    ),
    Case(
        "a module that skips itself, asked for by id",
        {
            "test_one.py": "import pytest\n\npytest.skip('not here', allow_module_level=True)\n\ndef test_one():\n    pass\n"
        },
        "test_one.py::test_one",
        "skipped",
        ran=0,
    ),
    Case(
        "a failed run that leaves with 0 at exit",
        {"test_one.py": "import atexit, os\n\natexit.register(os._exit, 0)\n\ndef test_one():\n    assert False\n"},
        "test_one.py::test_one",
        "unknown",
        {"test_one.py::test_one": "unknown"},
        problem="the process with 0",
        exit_code=0,
    ),
    Case(
        "a conftest that turns the exit code to 0",
        {
            "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
            "test_one.py": "def test_one():\n    assert False\n",
        },
        "test_one.py::test_one",
        "unknown",
        problem="although a test failed",
        exit_code=0,
    ),
    Case(
        "a thread that never ends",
        {
            "test_one.py": "import threading, time\n\ndef test_one():\n    threading.Thread(target=time.sleep, args=(40,)).start()\n"
        },
        "test_one.py::test_one",
        "timeout",
        limits=Limits(seconds=4),
    ),
    Case(
        "a test that ignores the polite signal",
        {
            "test_one.py": "import signal, time\n\ndef test_one():\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    time.sleep(40)\n"
        },
        "test_one.py::test_one",
        "timeout",
        limits=Limits(seconds=3),
    ),
    Case(
        "a hook that breaks the runner itself",
        {
            "conftest.py": "def pytest_runtest_logreport(report):\n    raise RuntimeError('broken hook')\n",
            "test_one.py": "def test_one():\n    pass\n",
        },
        "test_one.py::test_one",
        "crashed",
        problem="broken hook",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case, tmp_path: Path) -> None:
    session, completed = run(Pytest(), lay(tmp_path, case.files), TestRequest((case.test,)), case.limits)
    assert session.status == case.status, session
    assert {t: r.status for t in case.tests if (r := session.result(t)) is not None} == case.tests
    if case.ran is not None:
        assert sum(result.executed for result in session.results) == case.ran
    assert case.problem in session.problem
    assert case.last_started in ("", session.last_started)
    assert case.unreported in ((), session.unreported)
    assert case.exit_code in (None, completed.exit_code)
    assert case.signal in (None, completed.signal)
    if case.exception or case.message:
        failure = session.results[0].failure
        assert failure is not None
        assert case.exception in ("", failure.exception)
        assert case.message in failure.message
        assert "\x1b" not in failure.message and "\x07" not in failure.message


def test_a_timeout_leaves_no_process_behind(tmp_path: Path) -> None:
    files = {"test_one.py": "import subprocess\n\ndef test_one():\n    subprocess.run(['sleep', '43.75'])\n"}
    session, completed = run(Pytest(), lay(tmp_path, files), TestRequest(("test_one.py::test_one",)), Limits(seconds=3))
    assert (session.status, completed.limit) == ("timeout", "time")
    assert not [p for p in Path("/proc").iterdir() if p.name.isdigit() and b"43.75" in _command_line(p)]


def test_a_failed_subtest_is_named(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.id.startswith("TR-25"))
    session, _completed = run(Pytest(), lay(tmp_path, case.files), TestRequest((case.test,)))
    assert session.results[0].subtests["n=1"] == "failed"


def test_a_flood_is_kept_at_both_ends_with_its_size(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.id.startswith("TR-23"))
    limits = Limits(seconds=30, output_bytes=16384)
    _session, completed = run(Pytest(), lay(tmp_path, case.files), TestRequest((case.test,)), limits)
    assert len(completed.stdout.text()) < 17000
    assert completed.stdout.total > 9_000_000
    assert "the last word" in completed.stdout.text()
    assert completed.stdout.dropped == completed.stdout.total - len(completed.stdout.head) - len(completed.stdout.tail)


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
