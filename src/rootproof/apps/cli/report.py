"""``rootproof report RUN``: the report of a run as JSON, Markdown or one HTML page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

Target = Annotated[Optional[Path], typer.Option("--out", help="File to write; by its name .json, .md or .html.")]  # noqa: UP045


def report(
    run: Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")] = "last",
    out: Target = None,
    store: flags.Store = None,
) -> None:
    """Write the report of a run: report.json can be re-checked by anyone with `rootproof verify`."""
    from rootproof import assemble
    from rootproof.errors import UsageError
    from rootproof.report.build import Ledger, build

    opened = assemble.open_store(store, read_only=True)
    name = opened.find(run)
    assemble.proved(opened, name)
    document = build(Ledger(name, tuple(opened.events(name)), opened.blob))
    kind = out.suffix if out else ".json"
    if kind not in (".json", ".md", ".html"):
        raise UsageError(f"no report is written as {kind or 'a file without ending'}", "name it .json, .md or .html")
    text = _written(document, kind)
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}", "name another file") from None
    sys.stdout.write(f"wrote {out}\n")


def _written(document: dict[str, object], kind: str) -> str:
    if kind == ".md":
        from rootproof.report.as_markdown import markdown

        return markdown(document)
    if kind == ".html":
        from rootproof.report.as_html import html

        return html(document)
    return json.dumps(document, indent=1) + "\n"
