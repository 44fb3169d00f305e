"""The command line, entered as ``rootproof`` enters it: in this process, or where that matters in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rootproof.apps.cli.app import start


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit status."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout as the one JSON document it must be."""
        return json.loads(self.out)

    def clear(self, code: int, *words: str) -> None:
        """A clear error: this exit status, these words, a remedy, no traceback and nothing on stdout."""
        assert self.code == code, (self.out, self.err)
        assert self.err.startswith("error: ") and "hint: " in self.err and "Traceback" not in self.err
        assert "internal" not in self.err.splitlines()[0]
        for word in words:
            assert word in self.err, (word, self.err)


class Cli:
    """Commands over one store."""

    def __init__(self, store: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = store
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *words: object, store: bool = True) -> Said:
        given = [str(word) for word in words] + (["--store", str(self.store)] if store else [])
        self._monkeypatch.setattr(sys, "argv", ["rootproof", *given])
        self._capsys.readouterr()
        code = 0
        try:
            start()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        said = self._capsys.readouterr()
        return Said(code, said.out, said.err)


def program(*words: object, cwd: Path | None = None, stdin: str = "", **environment: str) -> Said:
    """``python -m rootproof`` in a process of its own, bounded in time."""
    command = [sys.executable, "-m", "rootproof", *map(str, words)]
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120, env=env)
    return Said(done.returncode, done.stdout, done.stderr)
