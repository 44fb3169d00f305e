"""A configured program with JUnit reports, really started; the program here is a few lines of Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from project_files import lay, run
from test_junit_xml import GO, PHPUNIT, RSPEC, SUREFIRE

from rootproof.errors import UsageError
from rootproof.runners.command import CommandRunner, Program, belongs
from rootproof.runners.interface import Session, TestRequest
from rootproof.runners.junit_xml import Case, read
from rootproof.sandbox.interface import Limits

WRITE = """
    import json, pathlib, sys
    report, code = sys.argv[1], int(sys.argv[2])
    pathlib.Path("out").mkdir(exist_ok=True)
    pathlib.Path("out/report.xml").write_bytes(pathlib.Path(report).read_bytes())
    print("all 5 tests passed")
    sys.exit(code)
"""


def go(tmp_path: Path, content: bytes, test: str, code: int, script: str = WRITE) -> Session:
    root = lay(tmp_path, {"write.py": script})
    (root / "recorded.xml").write_bytes(content.replace(b"/repo/", f"{root}/".encode()))
    program = Program((sys.executable, "write.py", "recorded.xml", str(code)), ("out/*.xml",))
    session, _ = run(CommandRunner(program), root, TestRequest((test,)))
    return session


LOGIN = "src/test/java/org/shop/auth/LoginTest.java"


@pytest.mark.parametrize(
    ("content", "test", "code", "status"),
    [
        (SUREFIRE, f"{LOGIN}#returnsToPage", 1, "failed"),
        (SUREFIRE, LOGIN, 1, "failed"),
        (SUREFIRE, f"{LOGIN}#absent", 1, "not_found"),
        (SUREFIRE, "src/test/java/org/shop/auth/OtherTest.java#works", 1, "not_found"),
        (SUREFIRE, f"{LOGIN}#works", 0, "passed"),
        (SUREFIRE, f"{LOGIN}#works", 1, "unknown"),
        (SUREFIRE, f"{LOGIN}#returnsToPage", 0, "unknown"),
        (GO, "auth/login_test.go#TestLogin", 1, "failed"),
        (GO, "auth/login_test.go#TestSlow", 0, "skipped"),
        (RSPEC, "spec/login_spec.rb#Login returns to the page", 1, "failed"),
        (b"<testsuite/>", LOGIN, 0, "no_tests"),
        (b"<testsuite", LOGIN, 0, "unknown"),
    ],
)
def test_recorded_reports(tmp_path: Path, content: bytes, test: str, code: int, status: str) -> None:
    session = go(tmp_path, content, test, code)
    assert session.status == status, session


def test_a_failure_carries_its_message(tmp_path: Path) -> None:
    session = go(tmp_path, SUREFIRE, f"{LOGIN}#returnsToPage", 1)
    failure = session.results[0].failure
    assert failure is not None
    assert failure.message == "expected: </settings> but was: </>"


def test_no_report_is_no_pass(tmp_path: Path) -> None:
    assert go(tmp_path, SUREFIRE, LOGIN, 0, "print('ok')\n").status == "config_error"


def test_a_report_left_from_before_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.xml").write_bytes(SUREFIRE)
    assert go(tmp_path, SUREFIRE, f"{LOGIN}#works", 0, "print('ok')\n").status == "config_error"
    assert (tmp_path / "out" / "report.xml").read_bytes() == SUREFIRE


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    script = "import os\nos.mkdir('out')\nos.symlink('/etc/passwd', 'out/report.xml')\n"
    session = go(tmp_path, SUREFIRE, LOGIN, 0, script)
    assert session.status == "unknown"
    assert "root:" not in session.problem


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    program = Program(("./no-such-program", "{file}"), ("out/*.xml",))
    session, _ = run(CommandRunner(program), lay(tmp_path, {"a.rb": ""}), TestRequest(("a.rb",)))
    assert session.status == "config_error"


def test_values_stay_inside_their_argument_and_shells_see_none(tmp_path: Path) -> None:
    program = Program(("prog", "--test={stem}#{name}", "{folder}", "{file}"), ("out/*.xml",))
    runner = CommandRunner(program)
    project = runner.project(tmp_path, "", None)
    hostile = "a b/T.java#x; $(rm -rf {file}) {name}"
    argv = runner.command(project, TestRequest((hostile,)), Limits()).argv
    assert argv[2:] == ("prog", "--test=T#x; $(rm -rf {file}) {name}", "a b", "a b/T.java")
    assert runner.command(project, TestRequest(("T.java",)), Limits()).argv[2:] == ("prog", ".", "T.java")
    with pytest.raises(UsageError):
        runner.command(project, TestRequest(("--version#x",)), Limits())


@pytest.mark.parametrize(
    ("case", "file", "expected"),
    [
        (Case("a", "org.shop.LoginTest"), "core/src/test/java/org/shop/LoginTest.java", True),
        (Case("a", "org.shop.LoginTest"), "src/test/java/org/shop/OtherLoginTest.java", False),
        (Case("a", "Shop\\Tests\\LoginTest"), "tests/LoginTest.php", False),
        (Case("a", "", file="/r/tests/LoginTest.php"), "tests/LoginTest.php", True),
        (Case("a", "", file="./spec/a_spec.rb"), "spec/a_spec.rb", True),
        (Case("a", "x.y/web"), "web/a_test.go", True),
        (Case("a", "x.y/web"), "other/a_test.go", False),
    ],
)
def test_which_file_a_case_belongs_to(case: Case, file: str, expected: bool) -> None:
    assert belongs(case, file, Path("/r")) is expected


def test_phpunit_names_its_files(tmp_path: Path) -> None:
    cases = read(PHPUNIT)
    assert all(belongs(case, "tests/LoginTest.php", Path("/repo")) for case in cases)
