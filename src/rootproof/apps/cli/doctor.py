"""``rootproof doctor``: which containment this machine gives, what it contains, and how to get more."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import typer

from rootproof.apps.cli import options as flags


def doctor(as_json: flags.Json = False) -> None:
    """Try every way to contain the code under test, and say what holds here."""
    from rootproof import assemble

    probes = assemble.containment_probes()
    if as_json:
        sys.stdout.write(json.dumps([asdict(probe) for probe in probes], indent=2) + "\n")
    else:
        sys.stdout.write("".join(line + "\n" for line in assemble.containment_words(probes)))
    if not any(probe.works and probe.level == "contained" for probe in probes):
        raise typer.Exit(9)
