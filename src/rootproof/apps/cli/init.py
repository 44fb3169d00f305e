"""``rootproof init``: a commented starter contract."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("contract.toml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a commented starter contract."""
    from importlib.resources import files

    from rootproof.errors import UsageError

    if path.exists() and not force:
        raise UsageError(f"{path} is already there", "name another file, or add --force")
    try:
        path.write_text(files("rootproof.apps.cli").joinpath("starter.toml").read_text("utf-8"), "utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another file") from None
    sys.stdout.write(f"wrote {path}: put your own goal, paths and tests in, then `rootproof check {path}`\n")
