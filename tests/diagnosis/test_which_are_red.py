"""A bare `rootproof diagnose`: first what the runner itself noted as last failed, else the whole suite, with its progress."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rootproof import diagnosis, installed
from rootproof.assemble import Options
from rootproof.contract import file_of
from rootproof.diagnosis import Question
from rootproof.errors import NotRunnable
from rootproof.investigations.root_cause.targets import Counting, Found, last_failed
from small_project import small

pytestmark = pytest.mark.contained

FILES = {
    "pytest.ini": "[pytest]\n",
    "test_a.py": "def test_red():\n    assert 0\n\n\ndef test_green():\n    pass\n",
    "inner/test_b.py": "def test_also_red():\n    assert 0\n",
}


class Heard:
    """What a diagnosis said while it looked for red tests."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.counted: list[str] = []

    def find(self, root: Path, *tests: str, python: bool = True, last: bool = False) -> Found:
        interpreter = Path(sys.executable) if python else None
        options = Options(interpreter=interpreter, tell=self.counted.append)
        return diagnosis.find(Question(root, tests, last_failed=last), options, self.told.append)[1]


@pytest.fixture
def heard() -> Heard:
    return Heard()


def run_pytest(root: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "pytest", "-q", *words], cwd=root, capture_output=True, check=False)


def test_what_pytest_noted_comes_first_and_what_is_mended_since_is_told(tmp_path: Path, heard: Heard) -> None:
    root = small(tmp_path, FILES).root
    run_pytest(root)
    (root / "inner" / "test_b.py").write_text("def test_also_red():\n    pass\n")
    found = heard.find(root)
    assert found.tests == ("test_a.py::test_red",) and found.how == "noted by pytest as last failed"
    assert found.unmatched[0][0] == "inner/test_b.py::test_also_red" and "it passes here" in found.unmatched[0][1]
    assert not any("whole suite" in text for text in heard.told)
    (root / "test_a.py").write_text("def test_red():\n    pass\n")
    with pytest.raises(NotRunnable, match="all 2 tests of the suite pass"):
        heard.find(root)
    assert heard.told[0] == "nothing noted by pytest as last failed is red any more"
    assert heard.told[1].startswith("running the whole suite once to see what is red (2 test files; at most 600 s)")


def test_without_a_record_the_suite_is_run_and_counts_are_shown(tmp_path: Path, heard: Heard) -> None:
    root = small(tmp_path, FILES).root
    with pytest.raises(NotRunnable, match="has noted no failed test"):
        heard.find(root, last=True)
    found = heard.find(root)
    assert set(found.tests) == {"test_a.py::test_red", "inner/test_b.py::test_also_red"}
    assert found.how == "red in one run of the whole suite (3 tests)"
    assert heard.counted[-1].startswith("3 tests begun, 2 red so far, ") and heard.counted[-1].endswith(
        "of at most 600 s"
    )


def test_the_file_of_a_named_test_is_one_of_tests_whatever_its_name(tmp_path: Path, heard: Heard) -> None:
    files = {"pytest.ini": "[pytest]\n", "checks.py": "def test_red():\n    assert 0\n", "test_a.py": ""}
    root, target = small(tmp_path, files).root, "checks.py::test_red"
    assert heard.find(root, target).tests == (target,)
    document = diagnosis.document_for(Question(root, (target,)), target)
    assert set(installed.load_document(document, root, "test").contract.scope.tests) == {"checks.py", "test_a.py"}


def test_names_that_the_settings_give_are_looked_for(tmp_path: Path, heard: Heard) -> None:
    files = {"pytest.ini": "[pytest]\npython_files = tests.py\n", "shop/tests.py": "def test_red():\n    assert 0\n"}
    root = small(tmp_path, files).root
    run_pytest(root)
    assert heard.find(root).how == "noted by pytest as last failed"
    shutil.rmtree(root / ".pytest_cache")
    assert heard.find(root).tests == ("shop/tests.py::test_red",)


def test_a_named_file_stands_for_its_red_tests(tmp_path: Path, heard: Heard) -> None:
    root = small(tmp_path, FILES).root
    assert heard.find(root, "test_a.py").tests == ("test_a.py::test_red",)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_runner_of_one_file_at_a_time_runs_every_file(tmp_path: Path, heard: Heard) -> None:
    test = "import { test } from 'node:test'\ntest('calls A::b', () => { throw new Error('no') })\n"
    files = {"package.json": '{"scripts": {"test": "node --test"}}\n', "a.test.mjs": test, "b.test.mjs": test}
    found = heard.find(small(tmp_path, files).root, python=False)
    assert found.tests == ("a.test.mjs#calls A::b", "b.test.mjs#calls A::b")
    assert [file_of(test) for test in found.tests] == ["a.test.mjs", "b.test.mjs"]


def note(place: Path, content: object) -> None:
    place.parent.mkdir(parents=True)
    place.write_text(content if isinstance(content, str) else json.dumps(content))


def test_the_record_of_a_package_counts_from_the_root(tmp_path: Path) -> None:
    note(tmp_path / "api/.pytest_cache/v/cache/lastfailed", {"tests/test_a.py::test_x": True, "tests/gone.py::t": True})
    found = last_failed(tmp_path, ["api/tests/test_a.py", "web/test_b.py"], "pytest")
    assert found is not None and found.tests == ("api/tests/test_a.py::test_x",)


def test_what_vitest_noted(tmp_path: Path) -> None:
    rows = [
        [":tests/a.test.ts", {"failed": True}],
        [":tests/b.test.ts", {"failed": False}],
        [":gone.test.ts", {"failed": True}],
    ]
    note(tmp_path / "node_modules/.vite/vitest/abc/results.json", {"version": "4", "results": rows})
    found = last_failed(tmp_path, ["tests/a.test.ts", "tests/b.test.ts"], "vitest")
    assert found is not None and found.tests == ("tests/a.test.ts",) and "vitest" in found.how


@pytest.mark.parametrize(
    "content", ["", "[", "[1]", '{"results": 3}', '{"results": [3, [], ["a"], ["a", 1]]}', "[" * 100_000]
)
@pytest.mark.parametrize("runner", ["pytest", "vitest"])
def test_a_record_that_is_none_is_passed_over(content: str, runner: str, tmp_path: Path) -> None:
    note(tmp_path / ".pytest_cache/v/cache/lastfailed", content)
    note(tmp_path / "node_modules/.vite/vitest/abc/results.json", content)
    assert last_failed(tmp_path, ["test_a.py"], runner) is None


def test_counting_bears_whatever_a_suite_writes() -> None:
    said: list[str] = []
    counting: Callable[[bytes], None] = Counting(said.append, 60)
    for piece in (
        b'{"kind": "beg',
        b'in"}\n{"kind":"begin"}\n',
        b"\xff\n",
        b'{"kind": "phase", "outcome": "failed"}\n',
        b"x" * 100_000,
    ):
        counting(piece)
    assert said[-1].startswith("2 tests begun, 1 red so far")
