"""``rootproof refuse RUN``: a named person refuses what a run waits to do; the run can go on without it."""

from __future__ import annotations

from rootproof.apps.cli import options as flags
from rootproof.apps.cli.approve import By, Reason, Request, Run, decided


def refuse(
    run: Run, by: By, reason: Reason, request: Request = "", store: flags.Store = None, as_json: flags.Json = False
) -> None:
    """Refuse the action a run waits for. The model is told the reason when the run is resumed."""
    from rootproof.decisions import Decision

    decided(run, Decision("refuse", by, reason, request), store, as_json)
