"""Programs of the tests started as an ordinary user. Only root can become one: tests that do so carry ``only_root``."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SOURCES = Path(__file__).parents[1] / "src"
NOBODY_HAS = 1234
"""An id of a user whom the machine does not know."""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def said_as(user: int, words: Sequence[str | Path], stdin: str | None = None, seconds: float = 240) -> Any:
    """The JSON that a program says which this user starts, with our sources on its path and no home; it must end well."""
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        words, input=stdin, env=env, capture_output=True, text=True, timeout=seconds, cwd="/", check=False,
        user=user, group=user, extra_groups=[],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def give(folder: Path, user: int) -> None:
    """Give a folder and all that is in it to a user; links themselves, not what they lead to."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
