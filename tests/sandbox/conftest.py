"""A tree to run in, and every mechanism that works here."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_ground import CHANGING, MEMBERS, PYTHON, READABLE, digest, working

from rootproof.sandbox.interface import Command, Completed, Limits, Sandbox


@pytest.fixture(params=sorted(MEMBERS))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Every mechanism."""
    return working(request.param)


@pytest.fixture(params=CHANGING)
def changing(request: pytest.FixtureRequest) -> Sandbox:
    """Every mechanism that can show a writable view to this user."""
    return working(request.param)


@pytest.fixture(params=["bubblewrap", "namespaces"])
def contained(request: pytest.FixtureRequest) -> Sandbox:
    """Every mechanism of level ``contained``."""
    return working(request.param)


@pytest.fixture
def namespaces() -> Sandbox:
    return working("namespaces")


@pytest.fixture
def tree() -> Iterator[Path]:
    """A small repository that every user may read."""
    folder = Path(tempfile.mkdtemp(prefix="rootproof-tree-")).resolve()
    folder.chmod(0o755)
    root = folder / "project"
    (root / "src" / "__pycache__").mkdir(parents=True)
    (root / "src" / "code.py").write_text("value = 1\n")
    (root / "src" / "__pycache__" / "code.pyc").write_text("stale")
    (root / "secret.env").write_text("TOKEN=1")
    (root / "keys").mkdir()
    (root / "keys" / "private.pem").write_text("key")
    (root / "tool.sh").write_text("exit 0\n")
    (root / "tool.sh").chmod(0o755)
    os.utime(root / "tool.sh", (1000, 1000))
    (root / "link").symlink_to("/tmp")
    yield root
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def run(tree: Path) -> Callable[..., Completed]:
    """Run a Python text in the tree, under one mechanism."""

    def start(member: Sandbox, text: str, *words: str, limits: Limits | None = None, **more: object) -> Completed:
        argv = (PYTHON, "-B", "-c", text, *words)
        return member.run(Command(argv, tree, tree, readable=READABLE, limits=limits or Limits(seconds=30), **more))

    return start


@pytest.fixture
def unchanged(tree: Path) -> Iterator[None]:
    """Fails the test if the tree was touched."""
    before = digest(tree)
    yield
    assert digest(tree) == before
