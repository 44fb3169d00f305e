"""A copy of the Python project whose contract a test spoils; and a user without rights."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from gate import real
from gate.cli import Cli, Said

NAME = "contract.toml"


class Place:
    """A copy of the Python project, and its contract to spoil."""

    def __init__(self, folder: Path, cli: Cli, store: Path) -> None:
        self.root = real.project(folder / "repository")
        self.file = self.root / NAME
        self.cli = cli
        self.store = store
        self.canary = folder / "canary"

    def run(self, *words: object) -> Said:
        """``rootproof run``, with a model that must never be asked."""
        script = self.root / "model.py"
        script.write_text(f"open({str(self.canary)!r}, 'w')\ndef propose(view):\n    return ''\n")
        return self.cli("run", self.file, "--model", f"scripted:{script}", *words)

    def spoil(self, old: str, new: str) -> Said:
        text = self.file.read_text()
        assert text.count(old) >= 1, old
        self.file.write_text(text.replace(old, new))
        return self.run()

    def refused(self, said: Said, *words: str) -> None:
        """Named with the file and the key, with a mend; neither model nor store was touched. ``check`` says the same."""
        said.clear(2, NAME, *words)
        assert said.err.count("hint: ") >= 2, "each fault has its mend"
        assert not self.canary.exists() and not self.store.exists()
        again = self.cli("check", self.file, store=False)
        assert (again.code, again.err) == (2, said.err)


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Be a user without rights for a while, where this is root, who may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
