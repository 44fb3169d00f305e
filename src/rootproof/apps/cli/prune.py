"""``rootproof prune``: keep the store within a size or an age."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from rootproof.apps.cli import options as flags

Size = Annotated[str, typer.Option("--max-size", help="Most the store may hold, such as 500MB or 2GB.")]
Age = Annotated[str, typer.Option("--older-than", help="Remove runs whose last event is older, such as 30d or 12h.")]
Unfinished = Annotated[
    bool, typer.Option("--unfinished", help="Also runs that wait or were cut short, or are damaged.")
]
Trial = Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")]
_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def prune(
    max_size: Size = "",
    older_than: Age = "",
    unfinished: Unfinished = False,
    dry_run: Trial = False,
    store: flags.Store = None,
    as_json: flags.Json = False,
) -> None:
    """Remove old runs, the oldest first, with the stored bytes that nothing refers to any more."""
    from rootproof import stores
    from rootproof.errors import UsageError
    from rootproof.ledger.prune import Keep
    from rootproof.ledger.prune import prune as pruned
    from rootproof.text import one_line

    if not (max_size or older_than):
        raise UsageError("nothing says what is too much", "give --max-size or --older-than")
    most = _number("--max-size", max_size, r"(\d{1,12})\s*([kmgt]?)b?", _SIZES)
    age = _number("--older-than", older_than, r"(\d{1,9})\s*([smhdw])", _AGES)
    report = pruned(stores.open_there(store), Keep(most, age, unfinished), trial=dry_run)
    if as_json:
        sys.stdout.write(json.dumps({**asdict(report), "dry_run": dry_run}, indent=2) + "\n")
        return
    verb = "would remove" if dry_run else "removed"
    for one in report.removed:
        sys.stdout.write(
            f"{verb} {one_line(one.run, 100)}  {one.status}, last event {one_line(one.last, 40)} ({one.why})\n"
        )
    for one in report.stayed:
        sys.stdout.write(
            f"left {one_line(one.run, 100)}  {one_line(one.status, 120)}: --unfinished removes what nobody works on\n"
        )
    sys.stdout.write(f"{verb} {len(report.removed)} runs; {report.before} bytes in use, then {report.after}\n")


def _number(flag: str, text: str, pattern: str, units: dict[str, int]) -> int | None:
    from rootproof.errors import UsageError

    if not text:
        return None
    found = re.fullmatch(pattern, text.strip().lower(), re.ASCII)
    if not found:
        raise UsageError(
            f"{flag} does not understand {text[:40]!r}",
            f"write a number and a unit of {', '.join(filter(None, units))}",
        )
    return int(found[1]) * units[found[2]]
