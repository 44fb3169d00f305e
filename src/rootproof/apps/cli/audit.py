"""``rootproof audit RUN``: the chain proved, and who decided what."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from rootproof.apps.cli import options as flags


def audit(
    run: Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")] = "last",
    store: flags.Store = None,
    as_json: flags.Json = False,
) -> None:
    """Prove the chain and every fact again; list approvals, refusals, limits, side effects, the contract's author."""
    from rootproof import assemble, verify
    from rootproof.ledger.transfer import unvouched
    from rootproof.report.audit import audit as audited
    from rootproof.report.audit import lines
    from rootproof.report.build import Ledger

    opened = assemble.open_store(store, read_only=True)
    name = opened.find(run)
    assemble.proved(opened, name)
    ledger = Ledger(name, tuple(opened.events(name)), opened.blob)
    again = verify.judged_again(ledger, assemble.catalog())
    if again.refuted:
        from rootproof.errors import LedgerDamaged

        raise LedgerDamaged(f"run {name}: {'; '.join(again.refuted)}")
    judged = {"observations_judged_again": again.count, "tools_not_here": list(again.missing)}
    document = {**audited(ledger), **judged, "vouched": not unvouched(opened, name)}
    if as_json:
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    sys.stdout.write("".join(line + "\n" for line in lines(document)))
    if not document["vouched"]:
        sys.stdout.write("from an archive that nobody vouches for: whole, but whoever made it may have made it up\n")
    sys.stdout.write(f"observations judged again: {again.count}, all as recorded\n")
    if again.missing:
        sys.stdout.write(f"not judged again, for their tools are not here: {', '.join(again.missing)}\n")
