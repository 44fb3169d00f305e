"""Test ids: what may reach a runner, and what a requested id stands for."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.errors import UsageError
from rootproof.runners.interface import Runner, TestRequest
from rootproof.runners.node_test import NodeTest
from rootproof.runners.pytest import Pytest
from rootproof.runners.test_id import argument, covers, fault, split
from rootproof.runners.unittest import Unittest
from rootproof.sandbox.interface import Limits

RUNNERS: tuple[Runner, ...] = (Pytest(), Unittest(), NodeTest())

REFUSED = [
    "@.env",
    "-x",
    "--pdb",
    "-p no:x",
    "",
    "  ",
    "::test",
    "/etc/passwd::x",
    "../a.py::b",
    "a/../../b.py",
    "a\\b.py",
    "a.py::b\n",
    "a\0.py",
    "a.py::\ud800",
    "a" * 5000,
]
FINE = ["test_a.py", "tests/test_a.py::T::test_b[x::y/z w]", "a b/test_é.py::test_x", "x.test.ts#a > b", "t.py::test[-k]", "a.py::@x", "..a.py"]  # fmt: skip


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
@pytest.mark.parametrize("test", REFUSED)
def test_what_never_reaches_a_runner(test: str, runner: Runner, tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert fault(test.replace("::", runner.separator), runner.separator)
    if isinstance(runner, NodeTest) and shutil.which("node") is None:
        pytest.skip("node is not installed")
    project = runner.project(tmp_path, "a.py", None)
    with pytest.raises(UsageError):
        runner.command(project, TestRequest((test.replace("::", runner.separator),)), Limits())


@pytest.mark.parametrize("test", REFUSED)
def test_what_never_becomes_an_order(test: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        Pytest().command(Pytest().project(tmp_path, "a.py", None), TestRequest(("a.py",), order=(test,)), Limits())


@pytest.mark.parametrize("test", FINE)
def test_what_may(test: str) -> None:
    assert fault(test, "::") == ""


@given(st.text(max_size=40))
def test_no_accepted_id_can_be_an_option_or_leave_the_root(test: str) -> None:
    if fault(test, "::"):
        return
    file, _name = split(test, "::")
    assert file[0] not in "-@/"
    assert ".." not in file.split("/")
    assert argument(file) == file


def test_an_option_seen_from_a_package_is_no_option(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name in ("-x.py", "@args.py"):
        (tmp_path / "pkg").mkdir(exist_ok=True)
        (tmp_path / "pkg" / "setup.py").write_text("")
        project = Pytest().project(tmp_path, f"pkg/{name}", None)
        assert project.package_root == tmp_path / "pkg"
        argv = Pytest().command(project, TestRequest((f"pkg/{name}::test_a",)), Limits()).argv
        assert argv[-1] == f"./{name}::test_a"


def test_an_id_is_one_argument_after_ours(tmp_path) -> None:  # type: ignore[no-untyped-def]
    test = "test_a.py::test_a[a b; rm -rf / $(x) 'y' -k z]"
    argv = Pytest().command(Pytest().project(tmp_path, test, None), TestRequest((test,)), Limits()).argv
    assert argv[-1] == test
    assert "-k" not in argv and "-c" not in argv


@pytest.mark.parametrize(
    ("requested", "test", "expected"),
    [
        ("a.py", "a.py::t", True),
        ("a.py", "ab.py::t", False),
        ("a.py::t", "a.py::t", True),
        ("a.py::t", "a.py::t[1]", True),
        ("a.py::t", "a.py::t2", False),
        ("a.py::T", "a.py::T::t", True),
        ("a.py::t[1]", "a.py::t[11]", False),
        ("tests", "tests/a.py::t", True),
    ],
)
def test_what_an_id_stands_for(requested: str, test: str, expected: bool) -> None:
    assert covers(requested, test, "::") is expected
