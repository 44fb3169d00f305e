"""`rootproof diagnose --from report.xml`: reports that runners really wrote, and the ids they become; the rest says why."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof import diagnosis, red
from rootproof.assemble import Options
from rootproof.diagnosis import Question
from rootproof.errors import NotRunnable, UsageError
from rootproof.investigations.root_cause.targets import Found
from rootproof.runners.junit_xml import Case, read
from rootproof.runners.reported import Placed, match, place
from small_project import dedented

PYTHON = """
    import unittest

    import pytest


    @pytest.mark.parametrize("x", ["a b", "ü", "1"])
    def test_each(x):
        assert x == "1"


    class TestPlain:
        def test_method(self):
            assert 0


    class TestUnit(unittest.TestCase):
        def test_method(self):
            assert 0


    @pytest.fixture
    def broken():
        raise ValueError("no")


    def test_with_fixture(broken):
        pass


    def test_green():
        pass
    """
RED = [
    "tests/sub/test_a.py::test_each[a b]",
    "tests/sub/test_a.py::test_each[\\xfc]",
    "tests/sub/test_a.py::TestPlain::test_method",
    "tests/sub/test_a.py::TestUnit::test_method",
    "tests/sub/test_a.py::test_with_fixture",
]
NODE = """
    import { test, describe, it } from 'node:test'
    import assert from 'node:assert/strict'
    test('top one', () => { assert.equal(1, 2) })
    test('green', () => {})
    describe('group', () => {
      it('inner > arrow', () => { assert.equal(1, 3) })
      describe('deep', () => { it('top one', () => { assert.ok(false) }) })
    })
    """


def lay(root: Path, files: dict[str, str]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(dedented(content))
    return root


def found(root: Path, report: Path, **more: str) -> Found:
    options = Options(interpreter=Path(sys.executable) if not (root / "package.json").is_file() else None)
    return diagnosis.find(Question(root, report=report, **more), options, lambda text: None)[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        "pytest.ini": "[pytest]\n",
        "tests/sub/test_a.py": PYTHON,
        "tests/other/test_b.py": "def test_green(): pass\n",
    }
    return lay(tmp_path_factory.mktemp("project"), files)


@pytest.fixture(scope="module")
def written(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report in both forms that pytest has."""
    texts = {}
    for family in ("xunit1", "xunit2"):
        report = tmp_path_factory.mktemp(family) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "-p", "no:cacheprovider"]
        environment = {"PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
        subprocess.run([*command, "-o", f"junit_family={family}"], cwd=project, capture_output=True, env=environment)
        texts[family] = report.read_text()
    return texts


COLLECTED = (*RED, "tests/sub/test_a.py::test_each[1]", "tests/sub/test_a.py::test_green")


def matched(text: str) -> list[str]:
    """Of each failing case its one id, or why there is none."""
    files = ("tests/other/test_b.py", "tests/sub/test_a.py")
    cases = [case for case in read(text.encode()) if case.status == "failed"]
    placed = [(case, place(case, files, "/shop")) for case in cases]
    found = [at.why or match(case, at, COLLECTED, "::") for case, at in placed]
    return [each if isinstance(each, str) else "".join(each) for each in found]


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_what_pytest_writes(family: str, written: dict[str, str]) -> None:
    assert matched(written[family]) == RED


def test_absolute_paths_of_another_machine_and_tests_that_are_no_longer_here(written: dict[str, str]) -> None:
    text = written["xunit1"].replace('file="tests/', 'file="/home/runner/work/shop/shop/tests/')
    text = text.replace('name="test_with_fixture"', 'name="test_gone"').replace("test_each[a b]", "test_each[c d]")
    end = matched(text.replace("TestUnit", "TestGone"))
    assert end[1:3] == RED[1:3]
    assert all("holds no such test" in why for why in (end[0], *end[3:]))
    assert "test_each[" in end[0], "the nearest are named"


def test_a_file_that_could_not_be_collected_says_so() -> None:
    text = '<testsuite><testcase classname="" name="tests.sub.test_a"><error message="collection failure"/></testcase></testsuite>'
    assert "could not be collected" in matched(text)[0]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_what_node_writes(tmp_path: Path) -> None:
    root = lay(tmp_path / "project", {"package.json": '{"scripts": {"test": "node --test"}}', "test/a.test.mjs": NODE})
    done = subprocess.run(["node", "--test", "--test-reporter=junit"], cwd=root, capture_output=True)
    (tmp_path / "report.xml").write_bytes(done.stdout)
    end = found(root, tmp_path / "report.xml")
    assert set(end.tests) == {
        "test/a.test.mjs#top one",
        "test/a.test.mjs#group > inner > arrow",
        "test/a.test.mjs#group > deep > top one",
    }


VITEST_IDS = ("tests/a.test.ts#works", "tests/a.test.ts#group > works", "tests/a.test.ts#group > fails")
UNITTEST_IDS = ("tests/test_a.py::TestA::test_x", "tests/test_a.py::TestB::test_x", "tests/test_a.py::TestB::test_y[1]")


@pytest.mark.parametrize(
    ("case", "file", "ids"),
    [
        (Case("group > fails", "tests/a.test.ts", suites=("tests/a.test.ts",)), "tests/a.test.ts", VITEST_IDS[2:]),
        (Case("works", "tests/a.test.ts", suites=("tests/a.test.ts",)), "tests/a.test.ts", VITEST_IDS[:1]),
        (
            Case("fails", "group fails", "/ci/shop/tests/a.test.ts", suites=("group",)),
            "tests/a.test.ts",
            VITEST_IDS[2:],
        ),
        (Case("test_x", "tests.test_a.TestB"), "tests/test_a.py", UNITTEST_IDS[1:2]),
        (Case("test_x", "test_a.TestB"), "tests/test_a.py", UNITTEST_IDS[1:2]),
        (Case("test_x [message] (i=1)", "TestB", "tests/test_a.py"), "tests/test_a.py", UNITTEST_IDS[1:2]),
        (Case("test_x (i=1)", "tests.test_a.TestA", "tests\\test_a.py"), "tests/test_a.py", UNITTEST_IDS[:1]),
        (Case("test_y", "tests.test_a.TestB"), "tests/test_a.py", UNITTEST_IDS[2:]),
    ],
)
def test_the_forms_of_other_reports(case: Case, file: str, ids: tuple[str, ...]) -> None:
    files = ("tests/a.test.ts", "tests/b.test.ts", "tests/test_a.py")
    placed = place(case, files, "/shop")
    assert placed.file == file, placed
    separator = "::" if file.endswith(".py") else "#"
    assert match(case, placed, VITEST_IDS if separator == "#" else UNITTEST_IDS, separator) == ids


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case("test_x", "test_a.TestA"), "may be"),
        (Case("test_x", "tests.test_zz.TestA"), "no test file here is"),
        (Case("test_x", "", "/elsewhere/test_zz.py"), "no test file here is"),
        (Case("works"), "does not say in which file"),
    ],
)
def test_what_cannot_be_told_says_why(case: Case, why: str) -> None:
    assert why in place(case, ("one/test_a.py", "two/test_a.py"), "/shop").why


def test_another_class_is_no_match() -> None:
    case = Case("test_y", "tests.test_a.TestA")
    assert isinstance(
        match(case, Placed("tests/test_a.py", ("TestA",)), ("tests/test_a.py::TestC::test_y",), "::"), str
    )


names = st.text(max_size=30)


@given(names, names, names, st.lists(names, max_size=3), names)
def test_whatever_a_report_says_the_answer_is_one_of_what_is_there(
    name: str, classname: str, file: str, suites: list[str], detail: str
) -> None:
    case = Case(name, classname, file, suites=tuple(suites), detail=detail)
    files = ("tests/test_a.py", "tests/a.test.ts")
    placed = place(case, files, "/shop")
    assert bool(placed.file) != bool(placed.why) and placed.file in ("", *files)
    ids = match(case, placed, UNITTEST_IDS, "::")
    assert isinstance(ids, str) or set(ids) <= set(UNITTEST_IDS)


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file"),
        (BOMB, "has a document type"),
        (b"<testsuite><testcase", "no well-formed XML"),
        (b"<html/>", "not a test suite"),
        (b"", "no well-formed XML"),
        (b" " * (red.MAX_REPORT + 1), "larger than"),
    ],
    ids=["missing", "entities", "cut", "other", "empty", "huge"],
)
def test_a_report_that_is_none_is_named_with_what_to_do(content: bytes | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "report.xml").write_bytes(content)
    with pytest.raises(UsageError, match=words) as caught:
        red.failing_cases(tmp_path / "report.xml")
    assert str(tmp_path / "report.xml") in str(caught.value) and "--junitxml" in caught.value.remedy


def test_a_folder_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        red.failing_cases(tmp_path)


def test_a_report_without_failures(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    with pytest.raises(NotRunnable, match=r"none of the 1 tests in .* failed"):
        red.failing_cases(tmp_path / "report.xml")


@pytest.mark.contained
def test_a_report_of_another_repository(project: Path, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(
        '<testsuite><testcase name="a" classname="x.Y"><failure/></testcase></testsuite>'
    )
    with pytest.raises(
        NotRunnable, match=r"none of the 1 failing tests .* is a test of this repository \(x.Y > a: no test"
    ) as caught:
        found(project, tmp_path / "report.xml")
    assert "--root" in caught.value.remedy


@pytest.mark.contained
def test_the_command_line_lists_what_is_not_diagnosed(project: Path, written: dict[str, str], tmp_path: Path) -> None:
    text = written["xunit2"].replace('name="test_with_fixture"', 'name="test_gone"')
    failed = '<testcase classname="tests.sub.test_a" name="test_green"><failure message="no"/></testcase>'
    report = tmp_path / "report.xml"
    report.write_text(text.replace("</testsuite>", f"{failed}</testsuite>"))
    command = [sys.executable, "-m", "rootproof", "diagnose", "--from", str(report), "--dry-run"]
    command += ["--root", str(project), "--store", str(tmp_path / "runs.db"), "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"4 red tests (failing in {report})" in done.stdout
    assert all(f"  {test}\n" in done.stdout for test in RED[:4])
    assert "not diagnosed: tests.sub.test_a > test_gone: tests/sub/test_a.py holds no such test" in done.stdout
    assert "not diagnosed: tests/sub/test_a.py::test_green: it passes here" in done.stdout
    both = subprocess.run([*command, RED[0]], capture_output=True, text=True, timeout=120)
    assert both.returncode == 2 and "--from names the tests already" in both.stderr
