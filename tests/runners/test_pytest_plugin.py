"""What the plugin inside pytest records, and what nobody else can write or learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from project_files import NO_PLUGINS, QUICK, lay, run

from rootproof.runners.interface import Failure, Operand, Session, TestRequest
from rootproof.runners.pytest import Pytest
from rootproof.sandbox.interface import Sandbox
from rootproof.sandbox.namespaces import Namespaces


def go(tmp_path: Path, content: str, *tests: str, files: Mapping[str, str] | None = None, **asked: object) -> Session:
    lay(tmp_path, {"test_a.py": content, **(files or {})})
    request = replace(TestRequest(tests or ("test_a.py",)), **asked)  # type: ignore[arg-type]
    session, _ = run(Pytest(), tmp_path, request)
    return session


def failure(session: Session, name: str) -> Failure:
    result = session.result(f"test_a.py::{name}")
    assert result is not None and result.failure is not None, session
    return result.failure


OPERANDS = """
    import pytest

    class Odd:
        def __repr__(self):
            raise RuntimeError("no")

    def helper(a, b):
        assert a == b

    def test_text():
        assert "/" == "/settings"

    def test_numbers():
        assert 1 + 1 == 3.5

    def test_truth():
        assert True == None

    def test_other_types():
        assert [1] == {2}

    def test_not_finite():
        assert float("nan") == float("inf")

    def test_huge():
        assert 10 ** 30 == 2 ** 53 + 1

    def test_long():
        assert "a" * 5000 == "b"

    def test_surrogate():
        assert "\\ud800" == ""

    def test_odd():
        assert Odd() == 1

    def test_multi_line():
        assert (
            "left"
            ==
            "right"
        )

    def test_in_a_helper():
        helper(1, 2)

    def test_an_earlier_comparison_that_was_caught():
        try:
            assert 1 == 2
        except AssertionError:
            pass
        assert not "plain"

    def test_raises_around_another_comparison():
        with pytest.raises(AssertionError):
            assert 1 == 2
        raise AssertionError("own words")

    def test_negated():
        assert not 1 == 1

    def test_more_than_a_comparison():
        assert 1 == 1 and 2 == 3

    def test_unequal():
        assert 1 != 1

    def test_no_comparison():
        raise KeyError("gone")
"""


def test_operands(tmp_path: Path) -> None:
    session = go(tmp_path, OPERANDS)

    def sides(name: str) -> tuple[Operand | None, Operand | None]:
        return failure(session, name).actual, failure(session, name).expected

    assert sides("test_text") == (Operand("/"), Operand("/settings"))
    assert sides("test_numbers") == (Operand(2), Operand(3.5))
    assert sides("test_truth") == (Operand(True), Operand(None))
    assert sides("test_other_types") == (Operand("[1]", "repr"), Operand("{2}", "repr"))
    assert sides("test_not_finite") == (Operand("nan", "repr"), Operand("inf", "repr"))
    assert sides("test_huge") == (Operand(str(10**30), "repr"), Operand(str(2**53 + 1), "repr"))
    assert sides("test_multi_line") == (Operand("left"), Operand("right"))
    assert sides("test_in_a_helper") == (Operand(1), Operand(2))
    long, surrogate, odd = (sides(name)[0] for name in ("test_long", "test_surrogate", "test_odd"))
    assert long is not None and long.by == "repr" and isinstance(long.value, str) and "characters cut" in long.value
    assert surrogate == Operand("'\\ud800'", "repr")
    assert odd == Operand("<repr() of Odd raised RuntimeError>", "repr")
    for name in ("an_earlier_comparison_that_was_caught", "raises_around_another_comparison", "negated", "more_than_a_comparison", "unequal", "no_comparison"):  # fmt: skip
        assert sides(f"test_{name}") == (None, None), name


def test_places_and_frames_are_relative_to_the_root(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/work.py": "def outer():\n    inner()\n\ndef inner():\n    raise ValueError('bad')\n",
    }
    content = "from pkg.work import outer\n\ndef test_one():\n    try:\n        outer()\n    except ValueError as e:\n        raise RuntimeError('wrapped') from e\n\ndef test_two():\n    outer()\n"
    session = go(tmp_path, content, files=files)
    two = failure(session, "test_two")
    assert (two.path, two.line, two.exception, two.message) == ("pkg/work.py", 5, "ValueError", "bad")
    assert two.frames == (("test_a.py", 10, "test_two"), ("pkg/work.py", 2, "outer"), ("pkg/work.py", 5, "inner"))
    one = failure(session, "test_one")
    assert (one.path, one.line) == ("test_a.py", 7)
    assert 'File "pkg/work.py", line 5, in inner' in one.traceback
    assert "direct cause" in one.traceback
    assert str(tmp_path) not in one.traceback and "_pytest" not in one.traceback


def test_a_deep_recursion_stays_bounded(tmp_path: Path) -> None:
    session = go(tmp_path, "def f(n):\n    f(n + 1)\n\ndef test_deep():\n    f(0)\n")
    deep = failure(session, "test_deep")
    assert deep.exception == "RecursionError"
    assert len(deep.frames) <= 60
    assert len(deep.traceback) < 13000


def test_an_error_whose_own_words_fail(tmp_path: Path) -> None:
    content = "class E(Exception):\n    def __str__(self):\n        raise OSError\n\ndef test_e():\n    raise E\n"
    assert failure(go(tmp_path, content), "test_e").message == "<str() of the exception raised OSError>"


TAKEN_BACK = """
    def test_a():
        assert False

    def test_b():
        assert "x" * 300 == "y" * 300

    def test_c():
        pass
"""


def test_addopts_that_would_change_the_report_are_taken_back(tmp_path: Path) -> None:
    plain = go(tmp_path / "plain", TAKEN_BACK)
    ini = (
        "[pytest]\naddopts = -x --lf --ff --color=yes -vv --tb=no -p no:terminalreporter --setup-plan --assert=plain\n"
    )
    session = go(tmp_path / "other", TAKEN_BACK, files={"pytest.ini": ini})
    assert [(r.id, r.status, r.failure) for r in session.results] == [
        (r.id, r.status, r.failure) for r in plain.results
    ]
    assert "addopts: maxfail=1 not followed" in session.flags
    assert "addopts: setupplan=True not followed" in session.flags


def test_a_named_test_is_run_whatever_the_projects_selection(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = -k test_c --deselect test_a.py::test_a\n"}
    assert go(tmp_path, TAKEN_BACK, "test_a.py::test_a", files=files).status == "failed"
    assert go(tmp_path, TAKEN_BACK, "test_a.py", files=files).collected == ("test_a.py::test_c",)


def test_the_order_asked_for(tmp_path: Path) -> None:
    one, two, three = (f"test_a.py::test_{n}" for n in "abc")
    session = go(tmp_path, TAKEN_BACK, one, two, three, order=(three, one, two))
    assert session.collected == (three, one, two)


def test_one_seed_for_hashes(tmp_path: Path) -> None:
    content = "def test_h():\n    assert hash('word') == 0\n"
    actual = [
        failure(go(tmp_path / f"{seed}{n}", content, seed=seed), "test_h").actual for n in "ab" for seed in (1, 2)
    ]
    assert actual[0] == actual[2] != actual[1] == actual[3]


def test_collecting_alone_runs_nothing_and_is_no_pass(tmp_path: Path) -> None:
    session = go(tmp_path, TAKEN_BACK, collect_only=True)
    assert (session.status, session.results, len(session.collected)) == ("no_tests", (), 3)


def test_nothing_is_written_into_the_tree(tmp_path: Path) -> None:
    lay(tmp_path, {"test_a.py": "def test_a(cache):\n    cache.set('a/b', 1)\n"})
    session, _ = run(Pytest(), tmp_path, TestRequest(("test_a.py",), writable=False))
    assert session.status == "passed"
    assert [p.name for p in tmp_path.iterdir()] == ["test_a.py"]


FORGERS = {
    "a child of fork, through every descriptor it has": """
        import os

        def test_a():
            pid = os.fork()
            if pid == 0:
                for fd in range(3, 1024):
                    try:
                        os.write(fd, b'{"kind": "finish"}\\n')
                    except OSError:
                        pass
                os._exit(0)
            os.waitpid(pid, 0)
            assert False
    """,
    "a forked pytest, which goes on as its parent would": """
        import os

        def test_a():
            if os.fork() == 0:
                return
            os.wait()
            assert False
    """,
    "a child of exec, through every descriptor it has": """
        import subprocess, sys

        def test_a():
            code = "import os\\nfor fd in range(3, 1024):\\n try: os.write(fd, b'x\\\\n')\\n except OSError: pass"
            subprocess.run([sys.executable, "-c", code], close_fds=False, check=True)
            assert False
    """,
    "the environment": """
        import os, subprocess

        def test_a():
            seen = subprocess.run(["env"], capture_output=True, text=True).stdout
            assert "ROOTPROOF_SETTINGS" not in seen and "ROOTPROOF_CHANNEL" not in seen
            assert "ROOTPROOF_SETTINGS" not in os.environ and "ROOTPROOF_CHANNEL_FD" not in os.environ
            assert False
    """,
    "report files of its own": """
        import pathlib

        def test_a():
            for name in ("junit.xml", "results.json", "report.xml"):
                pathlib.Path(name).write_text('<testsuite><testcase name="test_a"/></testsuite>')
            assert False
    """,
}


@pytest.mark.parametrize("who", FORGERS)
def test_forged_outcomes_do_not_replace_the_true_one(tmp_path: Path, who: str) -> None:
    session = go(tmp_path, FORGERS[who], "test_a.py::test_a")
    assert session.status == "failed", session


def test_a_second_writer_with_the_channel_itself_makes_it_unknown(tmp_path: Path) -> None:
    content = """
        import os

        def test_a():
            for fd in range(200, 1024):
                try:
                    os.write(fd, b'{"kind": "phase", "outcome": "passed"}\\n')
                except OSError:
                    pass
            assert False
    """
    assert go(tmp_path, content).status == "unknown"


def test_a_closed_channel_is_no_pass_and_no_file_of_the_test_gets_records(tmp_path: Path) -> None:
    content = """
        import os

        def test_a(tmp_path):
            os.closerange(3, 1024)
            kept = [open(tmp_path / str(n), "w") for n in range(300)]
            test_a.kept = kept

        def test_b():
            for file in test_a.kept:
                file.close()
                assert open(file.name).read() == ""
    """
    assert go(tmp_path, content).status == "incomplete"


@pytest.fixture(scope="module")
def contained() -> Sandbox:
    probe = Namespaces().probe()
    if not probe.works:
        pytest.skip(f"user namespaces do not work here: {probe.detail}")
    return Namespaces()


BLOCKED = """
    import os, socket, sys
    import pytest

    def test_quiet():
        pass

    def test_connect():
        with pytest.raises(OSError):
            socket.create_connection(("192.0.2.7", 5432), timeout=2)

    def test_lookup():
        with pytest.raises(OSError):
            socket.getaddrinfo("db.internal.example", 5432)

    def test_loopback():
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname()).close()

    def test_service_that_is_not_there():
        socket.create_connection(("localhost", 5432))

    def test_refusal_that_is_handled():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("localhost", 5432))

    def test_write():
        with pytest.raises(OSError):
            open("made.txt", "w")

    def test_hidden():
        try:
            assert "secret" not in open(".env").read()
        except OSError:
            pass

    def test_temporary(tmp_path):
        (tmp_path / "x").write_text("y")

    @pytest.fixture
    def service():
        raise RuntimeError("could not connect to server: Connection refused")

    def test_fixture(service):
        pass
"""


def test_what_containment_refused_is_noted_per_phase(tmp_path: Path, contained: Sandbox) -> None:
    root = lay(tmp_path, {"test_a.py": BLOCKED, ".env": "TOKEN=secret\n"})
    request = TestRequest(("test_a.py",), writable=False, env=NO_PLUGINS)
    project = replace(Pytest().project(root, "test_a.py", None), hidden=(".env",))
    completed = contained.run(Pytest().command(project, request, QUICK))
    session = Pytest().session(project, request, completed)
    found = {r.id.partition("::test_")[2]: {p.name: p.blocked for p in r.phases if p.blocked} for r in session.results}
    assert found == {
        "quiet": {},
        "connect": {"call": ("connect 192.0.2.7:5432",)},
        "lookup": {"call": ("lookup db.internal.example",)},
        "loopback": {},
        "service_that_is_not_there": {"call": found["service_that_is_not_there"].get("call")},
        "refusal_that_is_handled": {},
        "write": {"call": ("write made.txt: refused",)},
        "hidden": {"call": ("open .env: hidden",)},
        "temporary": {},
        "fixture": {"setup": ("RuntimeError: could not connect to server: Connection refused",)},
    }
    assert "connect 127.0.0.1:5432: refused" in str(found["service_that_is_not_there"])
    assert "secret" not in repr(session) + completed.stdout.text()


RETRIES = """
    from _pytest.runner import runtestprotocol

    def pytest_runtest_protocol(item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for left in (2, 1, 0):
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            for report in reports:
                if report.failed and left:
                    report.outcome = "rerun"
                item.ihook.pytest_runtest_logreport(report=report)
            if not any(report.outcome == "rerun" for report in reports):
                break
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
"""


def test_retries_are_off_unless_asked_for_and_then_told(tmp_path: Path) -> None:
    files = {
        "pytest_rerunfailures.py": RETRIES,
        "pytest.ini": "[pytest]\naddopts = -p pytest_rerunfailures\npythonpath = .\n",
    }
    content = "SEEN = []\n\ndef test_a():\n    SEEN.append(1)\n    assert len(SEEN) == 3\n"
    off = go(tmp_path, content, files=files)
    assert (off.status, failure(off, "test_a").actual) == ("failed", Operand(1))
    assert "retries off: pytest_rerunfailures" in off.flags
    on = go(tmp_path, content, files=files, retries_off=False)
    assert (on.status, on.flags) == ("passed", ("retried",))


def test_the_same_tree_elsewhere_gives_the_same_failures(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/work.py": "import pathlib\n\ndef where():\n    raise ValueError(str(pathlib.Path(__file__).parent))\n",
    }
    content = "from pkg.work import where\n\ndef test_a():\n    where()\n\ndef test_b():\n    assert __file__ == ''\n"
    one, other = (go(tmp_path / name, content, files=files) for name in ("here", "quite/another/place"))
    assert [(r.id, r.status) for r in one.results] == [(r.id, r.status) for r in other.results]
    assert failure(one, "test_a") == failure(other, "test_a")


def test_a_missing_module_is_answered_with_what_to_install(tmp_path: Path) -> None:
    session = go(tmp_path, "import yaml_of_some_kind\n\ndef test_a():\n    pass\n", "test_a.py::test_a")
    assert (session.status, session.mend) == ("collection_error", "pip install yaml_of_some_kind")
