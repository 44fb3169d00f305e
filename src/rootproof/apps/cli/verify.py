"""``rootproof verify report.json``: re-check somebody's report on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

Repo = Annotated[Optional[Path], typer.Option("--repo", help="Where the same sources lie here.")]  # noqa: UP045
Head = Annotated[str, typer.Option("--head", help="The ledger's head as you hold it from elsewhere.")]


def verify(
    report: Annotated[Path, typer.Argument(help="A report.json.")],
    repo: Repo = None,
    head: Head = "",
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
    as_json: flags.Json = False,
) -> None:
    """Derive every fact again, hash the sources again, and run the confirmation again here."""
    from rootproof import verify as checking
    from rootproof.apps.cli.ending import interruptible
    from rootproof.text import one_line

    document = checking.read(report)
    options = flags.options(
        store=None, model="human", containment=containment, trusted=trust_this_repository, places=(python, repo)
    )
    with interruptible():
        found = checking.verify(document, repo, options, head)
    if as_json:
        said = {"answer": found.answer, "reasons": list(found.reasons), "checked": list(found.checked)}
        sys.stdout.write(json.dumps(said, indent=2) + "\n")
    else:
        lines = [found.answer, *(f"  {one_line(reason, 400)}" for reason in found.reasons if reason)]
        lines += [f"  checked: {one_line(each, 200)}" for each in found.checked]
        lines.append(
            "  fields that can be derived are always caught when edited; the others only by --head or by a rerun"
        )
        sys.stdout.write("".join(line + "\n" for line in lines))
    raise typer.Exit(checking.EXIT_STATUS[found.answer])
