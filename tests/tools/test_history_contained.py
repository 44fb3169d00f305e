"""`history` contained, as root and under bubblewrap as an ordinary user, over a repository whose own settings name programs.

Nothing that the repository names runs; git gives its answer all the same, whoever owns the files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from git_repository import git
from ordinary_user import give, only_root, said_as
from rootproof.contract import Scope as Terms
from rootproof.place import Located
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.namespaces import Namespaces
from rootproof.scope import Scope
from rootproof.tools.history import History, arguments, command
from rootproof.tools.interface import Observation, Request

HERE = Path(__file__).parent
SYSTEM_PYTHON = "/usr/bin/python3"
ORDINARY = 65534
ASKED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"what": "log"}, "number + 2"),
    ({"what": "log", "start": 1, "end": 2}, "off by one more"),
    ({"what": "blame"}, "return number"),
    ({"what": "diff"}, "+    return number + 1"),
    ({"what": "diff", "revision": "HEAD~1"}, ""),
)

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("bwrap") is None or shutil.which("git") is None,
    reason="needs Linux, bwrap and git",
)


def hostile(marks: Path, repository: Path) -> str:
    """Settings that would start a program for all that git can start one for; each leaves a mark."""

    def touch(name: str) -> str:
        return f"/usr/bin/touch {marks}/{name} {repository}/{name}-ran"

    return f"""[core]
\tfsmonitor = {touch("fsmonitor")}; false
\tpager = {touch("pager")}
\thooksPath = hooks
\tsshCommand = {touch("ssh")}
\tattributesFile = .gitattributes
[pager]
\tlog = {touch("pager")}
\tdiff = {touch("pager")}
\tblame = {touch("pager")}
[diff]
\texternal = {touch("external")}
[diff "evil"]
\ttextconv = {touch("textconv")}; cat
\tcommand = {touch("command")}
[filter "evil"]
\tclean = {touch("clean")}; cat
\tsmudge = {touch("smudge")}; cat
\tprocess = {touch("process")}
\trequired = true
[alias]
\tlog = "!{touch("alias")}"
\tblame = "!{touch("alias")}"
\tdiff = "!{touch("alias")}"
[include]
\tpath = ../more.config
[log]
\tshowSignature = true
[gpg]
\tprogram = {touch("gpg")}
"""


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    place = tmp_path / "marks"
    place.mkdir()
    place.chmod(0o777)
    return place


@pytest.fixture
def repository(tmp_path: Path, marks: Path) -> Iterator[Path]:
    root = tmp_path / "project"
    root.mkdir()
    source = "def f(number):\n    return number + 1\n"
    (root / "basket.py").write_text(source)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "basket.py").write_text(source.replace("number + 1", "number + 2"))
    git(root, "commit", "-q", "-a", "-m", "off by one more")
    (root / "basket.py").write_text(source)
    (root / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    (root / ".git" / "info" / "attributes").write_text("*.py diff=evil filter=evil\n")
    (root / ".git" / "config").write_text(hostile(marks, root))
    (root / "more.config").write_text(f"[core]\n\tpager = /usr/bin/touch {marks}/included\n")
    for folder in (root / "hooks", root / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "fsmonitor-watchman", "reference-transaction", "post-index-change"):
            (folder / name).write_text(f"#!/bin/sh\n/usr/bin/touch {marks}/hook {root}/hook-ran\n")
            (folder / name).chmod(0o755)
    yield root
    assert list(marks.iterdir()) == [], "a program that the repository names has run"
    assert [path.name for path in root.rglob("*-ran")] == []


def test_the_traps_are_set(repository: Path, marks: Path) -> None:
    """Without these precautions git does start what the repository names."""
    subprocess.run(["git", "-p", "diff"], cwd=repository, capture_output=True, check=False)
    ran = {path.name for path in marks.iterdir()}
    assert ran & {"external", "textconv", "command", "fsmonitor", "pager"}
    for place in (*marks.iterdir(), *repository.rglob("*-ran")):
        place.unlink()


@pytest.mark.parametrize("owner", [os.geteuid(), ORDINARY])
def test_contained_whoever_owns_it(owner: int, repository: Path) -> None:
    if owner != os.geteuid():
        if os.geteuid() != 0:
            pytest.skip("only root can give files away")
        give(repository, ORDINARY)
    scope = Scope(repository, Terms(read=("**/*.py",)))
    sandbox = Bubblewrap() if os.geteuid() else Namespaces()  # bwrap is never run as root
    found = sandbox.probe()
    if not found.works:
        pytest.skip(f"containment does not work here: {found.detail}")
    tool = History(scope, sandbox, {})
    for given, wanted in ASKED:
        place = scope.locate("basket.py")
        assert isinstance(place, Located)
        request = Request("history", {"revision": "HEAD", "path": "basket.py", **given}, {"path": place})
        seen = tool.run(request)
        assert isinstance(seen, Observation)
        assert seen.fields["problem"] == "" and wanted in str(seen.fields["text"]), (given, seen.fields)


@only_root
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"no {SYSTEM_PYTHON}, which every user can reach")
def test_as_an_ordinary_user(repository: Path) -> None:
    give(repository, ORDINARY)
    for folder in repository.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    program = shutil.which("git") or ""
    for given, wanted in ASKED:
        span = (given["start"], given["end"]) if "start" in given else None
        made = command(program, repository, arguments(given["what"], "basket.py", span, given.get("revision", "HEAD")))
        changes = {path: data.decode() for path, data in made.changes.items()}
        asked = {"argv": made.argv, "root": str(repository), "env": dict(made.env), "changes": changes}
        told = said_as(ORDINARY, [SYSTEM_PYTHON, HERE / "command_as_another.py"], json.dumps(asked), seconds=120)
        assert (told["exit"], told["level"]) == (0, "contained"), told
        assert wanted in told["out"], (given, told)
