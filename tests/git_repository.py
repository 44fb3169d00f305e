"""Git repositories of the tests: commits by one invented author, whatever the machine's own settings say."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

_AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


def git(root: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
    """One git command in a folder; it must end well. The variables of ``env``, if given, stand for the process's own."""
    subprocess.run(["git", *_AUTHOR, *words], cwd=root, env=env, check=True, capture_output=True)
