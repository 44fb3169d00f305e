"""Flags that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from rootproof.assemble import Options
    from rootproof.ledger.watched import Listener

Store = Annotated[
    Optional[str],  # noqa: UP045  typer reads this at run time on Python 3.10
    typer.Option("--store", help="Where runs are kept: a file (default: in your data folder), or postgresql://..."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        help="Who proposes: human, detective, scripted:FILE, command:PROGRAM, local:FILE, anthropic:NAME, ...",
    ),
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
RunnerName = Annotated[
    str,
    typer.Option("--runner", help="Test runner: auto, pytest, unittest, vitest, node_test or command:ALIAS."),
]
Root = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--root", help="Where the repository lies, if not where the contract says."),
]
Record = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--record", help="Append the model's traffic to a file that cassette:FILE replays."),
]
Suggest = Annotated[
    bool,
    typer.Option("--suggest", help="List concrete admissible requests in the view (marked in the run)."),
]


def options(
    *,
    store: str | None,
    model: str,
    containment: str,
    trusted: bool,
    places: tuple[Path | None, Path | None] = (None, None),
    proposer: tuple[Path | None, bool] = (None, False),
    listeners: tuple[Listener, ...] = (),
    runner: str = "",
) -> Options:
    """The options of a run from its flags; ``places`` are interpreter and root, ``proposer`` the file to
    record to and whether requests are suggested.

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
        runner=runner,
        listeners=listeners,
        record=proposer[0],
        suggest=proposer[1],
        notify=lambda words: print(f"note: {words}", file=sys.stderr),
    )
