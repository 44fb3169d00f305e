"""Flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from rootproof.assemble import Options
    from rootproof.ledger.watched import Listener

Store = Annotated[
    Optional[Path],  # noqa: UP045  typer reads this at run time on Python 3.10
    typer.Option("--store", help="File the runs are kept in (default: under your data folder)."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")]
ModelName = Annotated[
    str,
    typer.Option("--model", help="Who proposes: scripted:FILE, command:PROGRAM, human, or a model of your own."),
]
Containment = Annotated[
    str,
    typer.Option("--containment", help="best, or none together with --trust-this-repository."),
]
Trust = Annotated[
    bool,
    typer.Option("--trust-this-repository", help="With --containment none: its tests may do what you may do."),
]
Interpreter = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--python", help="Interpreter that runs the tests (default: found in the project)."),
]
Root = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--root", help="Where the repository lies, if not where the contract says."),
]


def options(
    *,
    store: Path | None,
    model: str,
    containment: str,
    trusted: bool,
    places: tuple[Path | None, Path | None] = (None, None),
    listeners: tuple[Listener, ...] = (),
) -> Options:
    """The options of a run from its flags; ``places`` are interpreter and root.

    Raises:
        UsageError: a value is not one of those allowed.
    """
    from rootproof.assemble import Options
    from rootproof.errors import UsageError

    if containment not in ("best", "none"):
        raise UsageError(f"--containment is best or none, not {containment!r}")
    return Options(
        store=store,
        model=model,
        containment="none" if containment == "none" else "best",
        trusted=trusted,
        interpreter=places[0],
        root=places[1],
        listeners=listeners,
    )
