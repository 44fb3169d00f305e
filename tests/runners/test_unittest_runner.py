"""unittest, really run: phases told apart, class fixtures, subtests, expected failures, what cannot be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from project_files import lay, run

from rootproof.runners.interface import Session, TestRequest
from rootproof.runners.unittest import Unittest
from rootproof.sandbox.interface import Completed

CASES = """
    import unittest

    class Calls(unittest.TestCase):
        def test_differs(self):
            self.assertEqual("left", "right")

        def test_passes(self):
            pass

        @unittest.skip("not today")
        def test_marked(self):
            pass

        def test_skips_inside(self):
            self.skipTest("found out late")

        @unittest.expectedFailure
        def test_expected(self):
            self.fail("known")

        @unittest.expectedFailure
        def test_surprise(self):
            pass

        def test_parts(self):
            for n in range(3):
                with self.subTest("part", n=n):
                    self.assertNotEqual(n, 1)

    class BrokenSetUp(unittest.TestCase):
        def setUp(self):
            raise OSError("no setup")

        def test_never(self):
            pass

    class BrokenTearDown(unittest.TestCase):
        def tearDown(self):
            raise OSError("no teardown")

        def test_ran(self):
            pass

    class BrokenCleanup(unittest.TestCase):
        def test_ran(self):
            self.addCleanup(lambda: 1 / 0)

    class BrokenClass(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise ValueError("no class")

        def test_a(self):
            pass

        def test_b(self):
            pass

    class LateClass(unittest.TestCase):
        @classmethod
        def tearDownClass(cls):
            raise ValueError("late")

        def test_a(self):
            pass

    class SkippedClass(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise unittest.SkipTest("not here")

        def test_a(self):
            pass

    class Awaited(unittest.IsolatedAsyncioTestCase):
        async def test_a(self):
            self.assertEqual([1], [2])
"""

EXPECTED = {
    "Calls::test_differs": ("failed", True),
    "Calls::test_passes": ("passed", True),
    "Calls::test_marked": ("skipped", False),
    "Calls::test_skips_inside": ("skipped", True),
    "Calls::test_expected": ("xfailed", True),
    "Calls::test_surprise": ("xpassed_strict", True),
    "Calls::test_parts": ("failed", True),
    "BrokenSetUp::test_never": ("error", False),
    "BrokenTearDown::test_ran": ("error", True),
    "BrokenCleanup::test_ran": ("error", True),
    "BrokenClass::test_a": ("error", False),
    "BrokenClass::test_b": ("error", False),
    "LateClass::test_a": ("error", True),
    "SkippedClass::test_a": ("skipped", False),
    "Awaited::test_a": ("failed", True),
}


def go(tmp_path: Path, content: str, *tests: str) -> tuple[Session, Completed]:
    return run(Unittest(), lay(tmp_path, {"tests/test_all.py": content}), TestRequest(tests))


def test_every_outcome(tmp_path: Path) -> None:
    session, completed = go(tmp_path, CASES, "tests/test_all.py")
    found = {result.id.partition("::")[2]: (result.status, result.executed) for result in session.results}
    assert found == EXPECTED
    assert (session.status, session.finished, completed.exit_code) == ("error", True, 1)
    differs = session.result("tests/test_all.py::Calls::test_differs")
    assert differs is not None and differs.failure is not None
    assert differs.failure.actual is not None and differs.failure.actual.value == "left"
    assert differs.failure.expected is not None and differs.failure.expected.value == "right"
    assert (differs.failure.exception, differs.failure.path, differs.failure.line) == (
        "AssertionError",
        "tests/test_all.py",
        6,
    )
    parts = session.result("tests/test_all.py::Calls::test_parts")
    assert parts is not None and parts.subtests["[part] n=1"] == "failed"


def test_one_test_alone_in_the_order_asked_for(tmp_path: Path) -> None:
    content = """
        import unittest

        SEEN = []

        class Order(unittest.TestCase):
            def test_a(self):
                SEEN.append("a")

            def test_b(self):
                self.assertEqual(SEEN, ["a"])
    """
    one, other = "tests/test_all.py::Order::test_a", "tests/test_all.py::Order::test_b"
    alone, _ = go(tmp_path, content, other)
    assert (alone.status, alone.collected) == ("failed", (other,))
    root = tmp_path
    together, _ = run(Unittest(), root, TestRequest((one, other), order=(one, other)))
    assert (together.status, together.collected) == ("passed", (one, other))
    reversed_, _ = run(Unittest(), root, TestRequest((one, other), order=(other, one)))
    assert (reversed_.status, reversed_.collected) == ("failed", (other, one))


@pytest.mark.parametrize(
    ("content", "test", "status"),
    [
        ("import no_such_module_anywhere\n", "tests/test_all.py", "collection_error"),
        ("import unittest\nraise unittest.SkipTest('no')\n", "tests/test_all.py::T::test_a", "skipped"),
        ("NUMBER = 1\n", "tests/test_all.py", "no_tests"),
        ("NUMBER = 1\n", "tests/test_all.py::T::test_a", "not_found"),
        ("NUMBER = 1\n", "tests/test_other.py", "not_found"),
        ("import os, unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        os._exit(0)\n", "tests/test_all.py", "incomplete"),
        ("import os, unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        os.abort()\n", "tests/test_all.py", "crashed"),
        ("import atexit, os, unittest\natexit.register(os._exit, 0)\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.fail()\n", "tests/test_all.py", "unknown"),
    ],
)  # fmt: skip
def test_what_is_no_plain_outcome(tmp_path: Path, content: str, test: str, status: str) -> None:
    session, _ = go(tmp_path, content, test)
    assert session.status == status, session


def test_a_missing_module_is_answered_with_what_to_install(tmp_path: Path) -> None:
    session, _ = go(tmp_path, "import yaml_of_some_kind\n", "tests/test_all.py")
    assert session.mend == "pip install yaml_of_some_kind"
