"""``rootproof run CONTRACT``: one investigation under a contract of your own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rootproof.apps.cli import options as flags


def run(
    contract: Annotated[Path, typer.Argument(help="The contract, a TOML file.")],
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
    """Run one investigation under a contract, to its end."""
    from rootproof import assemble
    from rootproof.apps.cli.ending import finish, interruptible, warn
    from rootproof.apps.cli.progress import Progress

    loaded = assemble.load_contract(contract)
    warn(loaded)
    progress = Progress(sys.stderr if as_json else sys.stdout)
    options = flags.options(
        store=store,
        model=model,
        containment=containment,
        trusted=trust_this_repository,
        places=(python, root),
        runner=runner,
        proposer=(record, suggest),
        listeners=(progress,),
    )
    with interruptible():
        outcome = assemble.run(loaded, options)
    finish(outcome, as_json)
