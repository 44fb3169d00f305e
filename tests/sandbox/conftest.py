"""A tree to run in, and every mechanism that works here."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rootproof.sandbox.bare import Bare
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Completed, Limits, Sandbox
from rootproof.sandbox.namespaces import Namespaces

SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON = SYSTEM_PYTHON if Path(SYSTEM_PYTHON).exists() else sys.executable
READABLE = () if PYTHON == SYSTEM_PYTHON else (Path(sys.prefix), Path(sys.base_prefix))
MEMBERS = {"bare": Bare, "namespaces": Namespaces, "bubblewrap": Bubblewrap}
PROBES: dict[str, str] = {}


def working(name: str) -> Sandbox:
    """One mechanism, or a skip that says why it does not work here."""
    member = MEMBERS[name]()
    if name == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    if name not in PROBES:
        found = member.probe()
        as_root = name == "bubblewrap" and os.geteuid() == 0  # its self-test needs a writable view, which root has not
        PROBES[name] = "" if found.works or as_root else found.detail
    if PROBES[name]:
        pytest.skip(f"{name} does not work here: {PROBES[name]}")
    return member


@pytest.fixture(params=sorted(MEMBERS))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Every mechanism."""
    return working(request.param)


@pytest.fixture(params=sorted(MEMBERS))
def changing(request: pytest.FixtureRequest) -> Sandbox:
    """Every mechanism that can show a writable view to this user."""
    if request.param == "bubblewrap" and os.geteuid() == 0:
        pytest.skip("bwrap has no writable view for root")
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


def digest(root: Path) -> str:
    """Contents, modes, links and mtimes of a whole tree."""
    total = hashlib.sha256()
    for path in [root, *sorted(root.rglob("*"))]:
        found = path.lstat()
        total.update(f"{path.relative_to(root)} {found.st_mode} {found.st_mtime_ns} {found.st_uid}\0".encode())
        if path.is_symlink():
            total.update(str(path.readlink()).encode())
        elif path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()


@pytest.fixture
def unchanged(tree: Path) -> Iterator[None]:
    """Fails the test if the tree was touched."""
    before = digest(tree)
    yield
    assert digest(tree) == before


def alive(marker: str) -> list[int]:
    """Processes with a text in their command line, without the dead that nobody has collected."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
