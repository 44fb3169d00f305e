"""Stdout and stderr of the command line. In the log of a build service nothing written there is taken for a command.

What a command says holds names, paths, source and messages of the repository. It is made inert here, where all of it
goes through, and not at each place that writes. A JSON document stays one, with the same values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from rootproof.report.inert import no_commands


class Inert:
    """A text stream without the commands of build services; in all else the stream that it stands for.

    Each write is judged alone, and its beginning as that of a line.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(no_commands(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def inert() -> Iterator[None]:
    """Stdout and stderr are inert as long as this lasts."""
    out, err = (cast(TextIO, Inert(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield
