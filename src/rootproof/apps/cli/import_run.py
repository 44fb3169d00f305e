"""``rootproof import FILE``: a run from elsewhere, proved before anything is stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rootproof.apps.cli import options as flags

Head = Annotated[str, typer.Option("--head", help="The run's head as you hold it from elsewhere: vouches for it.")]


def import_run(
    file: Annotated[Path, typer.Argument(help="A file written by `rootproof export`.")],
    head: Head = "",
    store: flags.Store = None,
) -> None:
    """Prove an archive and add its run to the store. Without --head it can be looked at, but not gone on with."""
    from rootproof import assemble, stores, verify
    from rootproof.errors import UsageError
    from rootproof.ledger.archive import read
    from rootproof.ledger.transfer import put_in, unvouched
    from rootproof.text import one_line

    archive = read(file)
    if head and head != archive.head:
        raise UsageError(
            f"the archive's head is {archive.head}, not {one_line(head, 80)}", "it is not the run you mean"
        )
    ledger, again = verify.proved(archive, assemble.catalog())
    opened = stores.open_store(store)
    how = put_in(opened, archive, vouched=bool(head))
    said = "added" if how == "new" else "was here already"
    sys.stdout.write(f"run {archive.run} {said}: {len(archive.rows)} events, {ledger.state.status}\n")
    if again.missing:
        sys.stdout.write(f"not judged again, for their tools are not here: {', '.join(again.missing)}\n")
    if unvouched(opened, archive.run):
        sys.stdout.write("nobody vouches for who made it: it is shown, and not resumed, until --head names its head\n")
