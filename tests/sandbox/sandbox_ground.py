"""What the tests of the sandbox share: members, an interpreter that every user can reach, digests, traces of processes."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from rootproof.sandbox.bare import Bare
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Sandbox
from rootproof.sandbox.namespaces import Namespaces

SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON = SYSTEM_PYTHON if Path(SYSTEM_PYTHON).exists() else sys.executable
READABLE = () if PYTHON == SYSTEM_PYTHON else (Path(sys.prefix), Path(sys.base_prefix))
MEMBERS = {"bare": Bare, "namespaces": Namespaces, "bubblewrap": Bubblewrap}
CHANGING = sorted(set(MEMBERS) - ({"bubblewrap"} if os.geteuid() == 0 else set()))
"""Those that can show a writable view to this user; bwrap has none for root."""
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
