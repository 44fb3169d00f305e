"""``rootproof worker``: a process that carries out jobs of batches, on this machine or beside many others."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

Queue = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--queue", help="Share batches with other machines: postgresql://..., which keeps the runs as well."),
]
Models = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--model", help="A model that jobs may name, the first for those that name none; may be repeated."),
]
Lease = Annotated[float, typer.Option("--lease", min=1, help="Seconds after which a silent worker's job goes on.")]


def worker(
    batch: Annotated[
        str, typer.Option("--batch", help="Only this batch, then end (default: any, until stopped).")
    ] = "",
    queue: Queue = None,
    model: Models = None,
    store: flags.Store = None,
    lease: Lease = 60.0,
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
    parent: Annotated[int, typer.Option("--parent", hidden=True)] = 0,
    from_queue: Annotated[bool, typer.Option("--from-queue", hidden=True)] = False,
) -> None:
    """Carry out jobs until stopped. Ctrl-C gives the job at hand back; another worker goes on with it."""
    from dataclasses import replace

    from rootproof import stores
    from rootproof.apps.fleet.job import ALWAYS
    from rootproof.apps.fleet.worker import Settings, work

    if queue or from_queue:
        stores.queue_address(queue)
    models = tuple(model or (ALWAYS,))
    options = flags.options(
        store=queue or store,
        model=models[0],
        containment=containment,
        trusted=trust_this_repository,
        places=(python, None),
    )
    settings = Settings(replace(options, lease=lease), tuple(dict.fromkeys((*models, ALWAYS))), batch, parent)
    if not parent:
        sys.stderr.write(f"working on {batch or 'any batch'}, with {', '.join(settings.models)}; Ctrl-C stops\n")
    if queue or from_queue:
        from rootproof.apps.fleet.engine import work_from_queue

        work_from_queue(settings)
    else:
        work(settings)
