"""The guard over all tests finds what it is there for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_ground import PYTHON

from rootproof.sandbox.bare import Bare
from rootproof.sandbox.interface import Command
from tree_guard import changed, manifest, watched

DEEDS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a content": (lambda root: (root / "src/code.py").write_text("value = 2\n"), ["src/code.py was changed"]),
    "a mode": (lambda root: (root / "tool.sh").chmod(0o700), ["tool.sh was changed"]),
    "a time": (lambda root: os.utime(root / "tool.sh", (1, 1)), ["tool.sh was changed"]),
    "a new file": (lambda root: (root / "src/new").touch(), ["src was changed", "src/new is new"]),
    "a removal": (lambda root: (root / "secret.env").unlink(), [". was changed", "secret.env is gone"]),
    "inside .git": (lambda root: (root / ".git/HEAD").write_text("other"), [".git/HEAD was changed"]),
}


@pytest.fixture
def repository(tree: Path) -> Path:
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return tree


@pytest.mark.parametrize("name", DEEDS)
def test_every_kind_of_change_is_named(repository: Path, name: str) -> None:
    deed, expected = DEEDS[name]
    before = manifest(repository)
    deed(repository)
    assert changed(before, manifest(repository)) == expected


def test_content_is_compared_where_size_and_times_are_the_same(repository: Path) -> None:
    file = repository / "src" / "code.py"
    before, found = manifest(repository), file.stat()
    file.write_text("value = 7\n")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert changed(before, manifest(repository)) == ["src/code.py was changed"]


@pytest.mark.writes_its_tree
def test_what_a_command_did_is_laid_at_its_door(repository: Path) -> None:
    command = Command((PYTHON, "-c", "open('src/code.py', 'a').write('#')"), repository, repository)
    with watched() as found:
        Bare().run(command)
    assert len(found) == 1
    assert found[0].startswith(f"{repository}: src/code.py was changed by {PYTHON}")
