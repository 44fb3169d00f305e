"""``rootproof approve RUN``: a named person agrees to exactly what a run waits to do."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from pathlib import Path

Run = Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")]
By = Annotated[str, typer.Option("--by", help="Your name, as the record will keep it.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
Request = Annotated[
    str, typer.Option("--request", help="Digest of what you saw, or its beginning: anything else is not decided.")
]


def approve(
    run: Run, by: By, reason: Reason, request: Request = "", store: flags.Store = None, as_json: flags.Json = False
) -> None:
    """Approve the action a run waits for. It is begun by `rootproof resume`, and only if it still may be."""
    decided("approve", (run, by, reason, request), store, as_json)


def decided(
    answer: Literal["approve", "refuse"], words: tuple[str, str, str, str], store: Path | None, as_json: bool
) -> None:
    """Record the decision and tell how the run stands."""
    from rootproof.apps.cli import words as telling
    from rootproof.decisions import Decision, decide

    run, by, reason, request = words
    outcome = decide(run, Decision(answer, by, reason, request), store)
    if as_json:
        sys.stdout.write(json.dumps(outcome.document(), indent=2) + "\n")
    else:
        sys.stdout.write("".join(line + "\n" for line in telling.outcome_lines(outcome)))
    sys.stderr.write(f"hint: `rootproof resume {outcome.run}` goes on where this stopped\n")
