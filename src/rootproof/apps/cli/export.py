"""``rootproof export RUN``: one run as one file that `import` and `verify` accept elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

Out = Annotated[Optional[Path], typer.Option("--out", "-o", help="File to write (default: RUN.zip here).")]  # noqa: UP045


def export(
    run: Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")] = "last",
    out: Out = None,
    store: flags.Store = None,
) -> None:
    """Write a run with everything it refers to into one file; the same run gives the same bytes everywhere."""
    from rootproof import assemble
    from rootproof.errors import UsageError
    from rootproof.ledger.archive import to_bytes
    from rootproof.ledger.transfer import taken_out

    opened = assemble.open_store(store, read_only=True)
    name = opened.find(run)
    assemble.proved(opened, name)
    archive = taken_out(opened, name)
    target = out or Path(f"{name}.zip")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists():
            raise UsageError(f"{target} exists already", "name another file with -o FILE")
        with part.open("xb") as file:
            file.write(to_bytes(archive))
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"{target} cannot be written: {error.strerror}", "name another file with -o FILE") from None
    sys.stdout.write(f"wrote {target}: {len(archive.rows)} events, {len(archive.blobs)} stored files\n")
    sys.stdout.write(f"head {archive.head}\n")
