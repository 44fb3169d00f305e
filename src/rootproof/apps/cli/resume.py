"""``rootproof resume RUN``: go on with a run that was cancelled, interrupted or killed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rootproof.apps.cli import options as flags


def resume(
    run: Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")],
    model: flags.ModelName = "human",
    store: flags.Store = None,
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
    root: flags.Root = None,
    runner: flags.RunnerName = "",
    record: flags.Record = None,
    suggest: flags.Suggest = False,
    as_json: flags.Json = False,
) -> None:
    """Go on where a run stopped; a run that has ended is told again with its exit status."""
    from rootproof import assemble
    from rootproof.apps.cli.ending import finish, interruptible
    from rootproof.apps.cli.progress import Progress

    options = flags.options(
        store=store,
        model=model,
        containment=containment,
        trusted=trust_this_repository,
        places=(python, root),
        runner=runner,
        proposer=(record, suggest),
        listeners=(Progress(sys.stderr if as_json else sys.stdout),),
    )
    with interruptible():
        outcome = assemble.resume(run, options)
    finish(outcome, as_json)
