"""How a command ends: the outcome on stdout, the status as exit status."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rootproof.contract_file import Loaded
    from rootproof.outcome import Outcome


def warn(loaded: Loaded) -> None:
    """Say what is weak in a contract that loads."""
    for warning in loaded.warnings:
        sys.stderr.write(f"warning: {warning.place}: {warning.found}\n    hint: {warning.mend}\n")


def finish(outcome: Outcome, as_json: bool) -> None:
    """Print the outcome and end with its exit status."""
    from rootproof.apps.cli import words

    if as_json:
        sys.stdout.write(json.dumps(outcome.document(), indent=2) + "\n")
    else:
        sys.stdout.write("".join(line + "\n" for line in words.outcome_lines(outcome)))
    if outcome.asks is not None and not outcome.asks["approved_by"]:
        sys.stderr.write(f"hint: `rootproof approve {outcome.run} --by NAME --reason TEXT`, or `rootproof refuse`\n")
    elif outcome.status in ("cancelled", "interrupted", "waiting") or outcome.effects_to_undo:
        sys.stderr.write(f"hint: `rootproof resume {outcome.run}` goes on where this stopped\n")
    raise typer.Exit(outcome.exit_status)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """A request to terminate is answered as Ctrl-C is: the tool's processes die, the ledger stays whole."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
