"""Which runner runs a test, all the way from the command line: detection, monorepos, --runner, the user's own programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from project_files import lay

from rootproof import assemble, configuration
from rootproof.errors import UsageError
from rootproof.investigations.root_cause.terms import Numbers, terms

SUITE = """
    import unittest

    class Case(unittest.TestCase):
        def test_it(self):
            self.assertEqual(1, 2)
"""
WRITE = """
    import pathlib, sys
    xml = '<testsuite><testcase file="{0}" classname="c" name="works"/>'
    xml += '<testcase file="{0}" classname="c" name="fails"><failure type="E" message="lost"/></testcase></testsuite>'
    pathlib.Path("out").mkdir(exist_ok=True)
    pathlib.Path("out/report.xml").write_text(xml.format(sys.argv[1]))
    sys.exit(1)
"""


def contract(*tests: str, runner: str = "") -> str:
    named = f'runner = "{runner}"\n' if runner else ""
    return f"""
schema = "rootproof/contract/1"
goal = "see how it fails"
[scope]
root = "project"
read = ["**"]
tests = {json.dumps(list(tests))}
[budget]
max_steps = 8
[tools.run_test]
{named}timeout_seconds = 60
[[evidence]]
id = "seen"
tool = "run_test"
where = {{ test = "{tests[-1]}" }}
expect = {{ status = "failed" }}
[completion]
all = ["seen"]
"""


def go(tmp_path: Path, *more: str, config: str = "", says: list[Any] | None = None) -> dict[str, Any]:
    """``rootproof run`` as a user would: its JSON document, with exit status and what it said."""
    (tmp_path / "config.toml").write_text(config)
    (tmp_path / "says.json").write_text(json.dumps(says or []))
    command = [sys.executable, "-m", "rootproof", "run", str(tmp_path / "contract.toml"), "--json", *more]
    command += ["--store", str(tmp_path / "runs.db"), "--model", f"scripted:{tmp_path / 'says.json'}"]
    command += ["--containment", "none", "--trust-this-repository", "--python", sys.executable]
    env = {**os.environ, configuration.VARIABLE: str(tmp_path / "config.toml")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
    document = json.loads(done.stdout) if done.stdout else {}
    return {**document, "exit": done.returncode, "said": done.stderr}


def asks(*tests: str) -> list[Any]:
    moves: list[Any] = [{"type": "action", "tool": "run_test", "input": {"test": test}} for test in tests]
    return [*moves, {"type": "final"}]


def test_each_package_of_a_monorepo_has_its_own_runner(tmp_path: Path) -> None:
    files = {
        "one/pytest.ini": "",
        "one/tests/test_a.py": "def test_it(tmp_path):\n    assert 1 == 2\n",
        "two/tests/test_b.py": SUITE,
        "pyproject.toml": "",
    }
    lay(tmp_path / "project", files)
    tests = ("one/tests/test_a.py::test_it", "two/tests/test_b.py::Case::test_it")
    (tmp_path / "contract.toml").write_text(contract(*tests))
    run = go(tmp_path, says=asks(*tests))
    assert run["status"] == "success", run
    assert "tests run with pytest: test_a.py holds pytest tests in one/tests" in run["said"]
    assert "tests run with unittest: test_b.py holds unittest cases in two/tests" in run["said"]


def test_the_flag_overrules_the_contract_and_the_reason_is_shown(tmp_path: Path) -> None:
    lay(tmp_path / "project", {"tests/test_b.py": SUITE})
    test = "tests/test_b.py::Case::test_it"
    (tmp_path / "contract.toml").write_text(contract(test, runner="pytest"))
    run = go(tmp_path, "--runner", "unittest", says=asks(test))
    assert run["status"] == "success", run
    assert "tests run with unittest, as named" in run["said"]


def test_a_program_of_the_users_own_behind_an_alias(tmp_path: Path) -> None:
    lay(tmp_path / "project", {"spec/a_spec.rb": "", "write.py": WRITE})
    test = "spec/a_spec.rb#fails"
    config = f'[test_programs.own]\nargv = ["{sys.executable}", "write.py", "{{file}}"]\nreports = ["out/*.xml"]\n'
    (tmp_path / "contract.toml").write_text(contract(test, runner="command:own"))
    run = go(tmp_path, config=config, says=asks(test))
    assert run["status"] == "success", run
    again = go(tmp_path, says=asks(test))
    assert again["exit"] == 2
    assert "no test program has the alias 'own'" in again["said"]


def test_a_contract_names_no_program(tmp_path: Path) -> None:
    lay(tmp_path / "project", {"a.py": ""})
    for runner, exit_status in (("command:/bin/sh", 2), ("/bin/sh", 2), ("jest", 2)):
        (tmp_path / "contract.toml").write_text(contract("a.py#x", runner=runner))
        run = go(tmp_path, says=[])
        assert run["exit"] == exit_status, run
        assert "Traceback" not in run["said"]


class TestConfiguration:
    @pytest.fixture
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv(configuration.VARIABLE, str(tmp_path / "config.toml"))
        (tmp_path / "project").mkdir()
        return tmp_path / "config.toml"

    def test_a_program(self, file: Path) -> None:
        file.write_text('[test_programs.mvn]\nargv = ["mvn", "test"]\nreports = ["r/*.xml"]\nreadable = ["/opt/jdk"]\n')
        found = configuration.program("mvn", file.parent / "project")
        assert found == configuration.Program(("mvn", "test"), ("r/*.xml",), (Path("/opt/jdk"),))

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "known: none"),
            ("[test_programs.b]\n", "known: b"),
            ("[test_programs]\na = 1\n", "no table"),
            ("[test_programs.a]\nargv = []\nreports = ['x']\n", "argv must be"),
            ("[test_programs.a]\nargv = ['x']\n", "reports must be"),
            ("[test_programs.a]\nargv = ['x']\nreports = ['y']\nshell = true\n", "unknown key 'shell'"),
            ("[test_programs.a]\nargv = ['x', 1]\nreports = ['y']\n", "argv must be"),
            ("not toml", "cannot be read"),
        ],
    )
    def test_its_faults(self, file: Path, text: str, fault: str) -> None:
        file.write_text(text)
        with pytest.raises(UsageError, match=fault):
            configuration.program("a", file.parent / "project")

    def test_none_at_all(self, file: Path) -> None:
        with pytest.raises(UsageError, match="known: none"):
            configuration.program("a", file.parent / "project")

    def test_a_repository_cannot_bring_its_own(self, file: Path) -> None:
        file.write_text("[test_programs.a]\nargv = ['x']\nreports = ['y']\n")
        with pytest.raises(UsageError, match="lies in the repository"):
            configuration.program("a", file.parent)


def test_a_generated_contract_may_name_a_program_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a():\n    assert False\n")
    document = terms("test_a.py::test_a", "command:own", ("test_a.py",), Numbers())
    loaded = assemble.load_document(document, tmp_path, "contract")
    named = {name: found["runner"] for name, found in loaded.contract.tools.items() if "runner" in found}
    assert named == dict.fromkeys(("run_test", "try_change", "try_condition"), "command:own")
