"""Any program as the model: the view as one JSON line on its standard input, one message on its standard output.

It is started anew for every message: time and output are bounded for each, and nothing of it outlives the call.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import Sequence
from pathlib import PurePath

from rootproof import protocol, recording
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.models import program
from rootproof.models.interface import Reply, View
from rootproof.text import one_line, quoted

SECONDS = 120.0
"""Longest time for one message."""
MOST = protocol.MAX_MESSAGE * 4
"""Bytes of output that can still be one message."""


class Command:
    """One program."""

    notice = ""

    def __init__(self, argv: Sequence[str], seconds: float = SECONDS) -> None:
        self.argv = tuple(argv)
        self.seconds = seconds
        self.name = f"command:{PurePath(self.argv[0]).name}"

    def propose(self, view: View) -> Reply:
        """Start the program and wait for its message.

        Raises:
            ModelUnavailable: it cannot be started, does not end in time, or ends otherwise than with exit status 0.
        """
        line = view.text.encode("utf-8", "backslashreplace") + b"\n"
        try:
            ended = program.run(self.argv, line, self.seconds, MOST)
        except OSError as error:
            raise ModelUnavailable(f"the model program cannot be started: {error.strerror or error}") from None
        if ended.limit == "time":
            raise ModelUnavailable(f"the model program gave no message within {self.seconds:g} s{_said(ended)}")
        if ended.signal is not None:
            raise ModelUnavailable(f"the model program was ended by {_signal_name(ended.signal)}{_said(ended)}")
        if ended.exit_code:
            raise ModelUnavailable(f"the model program ended with exit status {ended.exit_code}{_said(ended)}")
        text = ended.stdout.decode("utf-8", "backslashreplace")
        return Reply(text, "stop" if text.strip() else "empty")


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _said(ended: program.Ended) -> str:
    """The last line of its standard error, inert and without known secrets."""
    lines = ended.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    if not lines:
        return ""
    masked = recording.mask(lines[-1], recording.known_secrets(os.environ))
    return f"; it last said {one_line(str(masked), 200)!r}"


def from_line(line: str, seconds: float = SECONDS) -> Command:
    """The model for a command line, split as a shell would, run without one.

    Raises:
        ModelError: it cannot be split, or its program is not there.
    """
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise ModelError(f"the command line cannot be split: {error}", "close every quote") from None
    if not argv:
        raise ModelError("the command line is empty", "--model 'command:PROGRAM ARGS'")
    if shutil.which(argv[0]) is None:
        raise ModelError(f"there is no program {quoted(argv[0], 80)}", "give its full path, or one on PATH")
    return Command(argv, seconds)
