"""Which folder and interpreter a Python test runs with, found without starting anything of the repository."""

from __future__ import annotations

import ast
import base64
import hashlib
import os
import sys
import venv
from pathlib import Path

import pytest
from project_files import lay, run

from rootproof.errors import NotRunnable
from rootproof.runners import mend
from rootproof.runners.detect import choose
from rootproof.runners.interface import Runner, TestRequest
from rootproof.runners.node_project import find as find_node
from rootproof.runners.node_test import NodeTest
from rootproof.runners.pytest import INSIDE, Pytest
from rootproof.runners.python_project import find, readable
from rootproof.runners.unittest import Unittest
from rootproof.runners.vitest import Vitest

RUNNERS: tuple[Runner, ...] = (Pytest(), Unittest(), Vitest(), NodeTest())


def environment(place: Path, home: str = "/usr/bin") -> Path:
    """A folder that looks like a virtual environment."""
    lay(place, {"pyvenv.cfg": f"home = {home}\n"})
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(sys.executable)
    return place / "bin" / "python"


@pytest.mark.parametrize(
    ("place", "lock", "words"),
    [
        (".venv", "", ".venv/bin/python (virtual environment)"),
        ("venv", "", "venv/bin/python (virtual environment)"),
        (".venv", "uv.lock", "virtual environment, uv"),
        (".venv", "poetry.lock", "virtual environment, poetry"),
        ("packages/one/.venv", "", "packages/one/.venv/bin/python"),
    ],
)
def test_environments_inside_the_repository(tmp_path: Path, place: str, lock: str, words: str) -> None:
    python = environment(tmp_path / place)
    if lock:
        (tmp_path / lock).write_text("")
    found = find(tmp_path, "packages/one/tests/test_a.py::test_a", None)
    assert found.interpreter == python
    assert words in found.reason


def test_the_nearest_environment_wins(tmp_path: Path) -> None:
    environment(tmp_path / ".venv")
    near = environment(tmp_path / "one" / ".venv")
    assert find(tmp_path, "one/tests/test_a.py", None).interpreter == near
    assert find(tmp_path, "two/tests/test_a.py", None).interpreter == tmp_path / ".venv/bin/python"


def test_poetry_outside_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = lay(tmp_path / "work", {"pyproject.toml": '[tool.poetry]\nname = "My Shop"\n'})
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(root.resolve())).digest()).decode()[:8]
    monkeypatch.setenv("POETRY_CACHE_DIR", str(tmp_path / "cache"))
    python = environment(tmp_path / "cache" / "virtualenvs" / f"my_shop-{digest}-py3.11")
    found = find(root, "test_a.py", None)
    assert found.interpreter == python
    assert "poetry" in found.reason
    assert python.parent.parent in found.readable


def test_a_named_interpreter(tmp_path: Path) -> None:
    python = environment(tmp_path / "elsewhere")
    assert find(tmp_path, "test_a.py", python).interpreter == python
    assert find(tmp_path, "test_a.py", tmp_path / "elsewhere").interpreter == python
    with pytest.raises(NotRunnable, match="no interpreter"):
        find(tmp_path, "test_a.py", tmp_path / "absent")


def test_no_environment_says_whose_python_is_taken(tmp_path: Path) -> None:
    found = find(tmp_path, "test_a.py", None)
    assert found.interpreter == Path(sys.executable)
    assert "--python" in found.reason


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "."),
        ({"one/pyproject.toml": "[project]\n"}, "one"),
        ({"one/pyproject.toml": "[project]\n", "pyproject.toml": "[tool.pytest.ini_options]\n"}, "."),
        ({"one/pytest.ini": "", "pyproject.toml": "[tool.pytest.ini_options]\n"}, "one"),
        ({"one/setup.cfg": "[tool:pytest]\n"}, "one"),
        ({"one/tox.ini": "[pytest]\n"}, "one"),
    ],
)
def test_the_tests_own_package(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    lay(tmp_path, {**files, "one/tests/test_a.py": ""})
    assert find(tmp_path, "one/tests/test_a.py::t", None).package_root == (tmp_path / expected).absolute().resolve()


def test_ids_are_relative_to_the_root_in_a_monorepo(tmp_path: Path) -> None:
    files = {"one/pytest.ini": "[pytest]\n", "one/tests/test_a.py": "def test_a():\n    assert 1 == 2\n"}
    session, _ = run(Pytest(), lay(tmp_path, files), TestRequest(("one/tests/test_a.py::test_a",)))
    assert session.status == "failed"
    assert session.results[0].id == "one/tests/test_a.py::test_a"
    failure = session.results[0].failure
    assert failure is not None and failure.path == "one/tests/test_a.py"


def test_a_hostile_environment_opens_no_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    lay(home, {".ssh/id": "secret"})
    monkeypatch.setenv("HOME", str(home))
    root = tmp_path / "work"
    for lie in (f"{home}/bin", f"{home}/.ssh/bin", f"{tmp_path}/bin", "/bin"):
        place = root / lie.replace("/", "_")
        python = environment(place, lie)
        assert not [p for p in readable(python, root) if p == home or p in home.parents or ".ssh" in p.parts]


def test_a_link_out_of_the_tree_opens_only_an_interpreter(tmp_path: Path) -> None:
    secret = lay(tmp_path / "keys", {"bin/python": "#!/bin/sh\n", "id": "secret"})
    place = tmp_path / "work" / ".venv"
    lay(place, {"pyvenv.cfg": "home = /usr/bin\n"})
    (place / "bin").symlink_to(secret / "bin")
    assert not [p for p in readable(place / "bin" / "python", tmp_path / "work") if "keys" in p.parts]


def test_an_environment_without_pytest_says_so(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", with_pip=False)
    session, _ = run(Pytest(), lay(tmp_path, {"test_a.py": "def test_a():\n    pass\n"}), TestRequest(("test_a.py",)))
    assert (session.status, session.mend) == ("config_error", "pip install pytest")


def test_what_runs_inside_is_old_enough_python() -> None:
    for file in INSIDE.glob("*.py"):
        ast.parse(file.read_text("utf-8"), str(file), feature_version=(3, 8))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E   ModuleNotFoundError: No module named 'yaml'", "pip install PyYAML"),
        ("ModuleNotFoundError: No module named 'PIL.Image'", "pip install Pillow"),
        ("ModuleNotFoundError: No module named 'requests'", "pip install requests"),
        ("ModuleNotFoundError: No module named 'google.protobuf'", "pip install protobuf"),
        (
            "ModuleNotFoundError: No module named 'shop'",
            "pip install -e . (the repository's own package shop cannot be imported)",
        ),
        ("ModuleNotFoundError: No module named 'x; rm -rf /'", ""),
        ("ImportError: cannot import name 'a' from 'b'", ""),
    ],
)
def test_what_to_install(text: str, expected: str) -> None:
    assert mend.for_python(text, lambda name: name == "shop") == expected


@pytest.mark.parametrize(
    ("text", "has_modules", "expected"),
    [
        ("Cannot find package 'left-pad' imported from /x", True, "npm install left-pad"),
        ("Cannot find package '@scope/left-pad' imported from /x", True, "npm install @scope/left-pad"),
        ("Cannot find module 'left-pad'\nRequire stack:", True, "npm install left-pad"),
        ("Cannot find package 'left-pad'", False, "npm install"),
        ("Cannot find module '/repo/src/a.js'", True, ""),
        ("Cannot find module './a.js'", True, ""),
    ],
)
def test_what_to_install_for_node(text: str, has_modules: bool, expected: str) -> None:
    assert mend.for_node(text, has_modules) == expected


@pytest.mark.parametrize(
    ("files", "test", "expected"),
    [
        ({"pytest.ini": ""}, "", "pytest: pytest.ini is there"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "", "pytest: pyproject.toml has a [tool.pytest section"),
        ({"requirements-dev.txt": "ruff\npytest>=8\n"}, "", "pytest: requirements-dev.txt asks for pytest"),
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, "", "pytest: tests/test_a.py holds pytest tests"),
        ({"tests/test_a.py": "import unittest\n"}, "", "unittest: tests/test_a.py holds unittest cases"),
        ({"vitest.config.ts": ""}, "", "vitest: vitest.config.ts is there"),
        ({"package.json": '{"devDependencies": {"vitest": "4"}}'}, "", "vitest: package.json asks for vitest"),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "", "node_test: a script in package.json calls node --test"),
        ({"test/a.test.mjs": "import test from 'node:test'\n"}, "", "node_test: test/a.test.mjs imports node:test"),
        ({"pytest.ini": "", "web/package.json": '{"devDependencies": {"vitest": "4"}}'}, "web/src/a.test.ts#x", "vitest: package.json asks for vitest in web"),
        ({"pytest.ini": "", "tests/test_a.py": "import unittest\n"}, "tests/test_a.py::x", "pytest: pytest.ini is there"),
        ({"a/tests/test_a.py": "import unittest\n"}, "a/**", "unittest: tests/test_a.py holds unittest cases in a"),
        ({"pytest.ini": "", "package.json": '{"devDependencies": {"vitest": "4"}}'}, "test_a.py::x", "pytest: pytest.ini is there"),
    ],
)  # fmt: skip
def test_the_runner_is_recognised_with_its_reason(
    tmp_path: Path, files: dict[str, str], test: str, expected: str
) -> None:
    assert choose(RUNNERS, lay(tmp_path, files), test).reason == expected


def test_a_named_runner_wins_and_an_unknown_one_lists_the_known(tmp_path: Path) -> None:
    assert choose(RUNNERS, lay(tmp_path, {"pytest.ini": ""}), named="unittest").runner.name == "unittest"
    with pytest.raises(Exception, match="no runner 'jest'"):
        choose(RUNNERS, tmp_path, named="jest")
    with pytest.raises(NotRunnable):
        choose(RUNNERS, lay(tmp_path / "empty", {"a.txt": ""}))


def test_a_node_package_in_a_monorepo(tmp_path: Path) -> None:
    lay(tmp_path, {"package.json": "{}", "web/package.json": "{}", "web/src/a.test.ts": ""})
    lay(tmp_path, {"bin/node": ""})
    found = find_node(tmp_path, "web/src/a.test.ts#x", tmp_path / "bin" / "node")
    assert (found.package_root, found.config) == (tmp_path / "web", "web/package.json")
    lay(tmp_path, {"node_modules/vitest/vitest.mjs": ""})
    assert Vitest().project(tmp_path, "web/src/a.test.ts#x", tmp_path / "bin" / "node").package_root == tmp_path / "web"


def test_vitest_that_is_not_installed_is_not_runnable(tmp_path: Path) -> None:
    lay(tmp_path, {"package.json": "{}", "bin/node": ""})
    with pytest.raises(NotRunnable) as refused:
        Vitest().project(tmp_path, "a.test.ts", tmp_path / "bin" / "node")
    assert refused.value.remedy == "npm install"
