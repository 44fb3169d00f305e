"""``rootproof runs``: the runs of a store."""

from __future__ import annotations

import json
import sys

from rootproof.apps.cli import options as flags


def runs(store: flags.Store = None, as_json: flags.Json = False) -> None:
    """List the runs of the store, newest first."""
    from rootproof import assemble
    from rootproof.errors import StoreError
    from rootproof.ledger.transfer import unvouched
    from rootproof.text import one_line

    opened = assemble.open_store(store, read_only=True)
    rows = []
    for row in opened.runs():
        try:
            state = assemble.replayed(opened, row.run)
            goal = str(state.began.contract.get("goal", "")) if state.began else ""
            vouched = not unvouched(opened, row.run)
            rows.append({"run": row.run, "status": state.status, "steps": state.step, "goal": goal, "vouched": vouched})
        except StoreError as error:
            rows.append({"run": row.run, "status": error.code, "steps": None, "goal": str(error), "vouched": False})
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    if not rows:
        sys.stdout.write("no runs yet: `rootproof demo` makes one\n")
    for shown in rows:
        steps, goal = shown["steps"] or "-", one_line(str(shown["goal"]), 90)
        if shown["steps"] is not None and not shown["vouched"]:
            goal = f"(nobody vouches for it) {goal}"
        sys.stdout.write(f"{shown['run']}  {shown['status']:<12} {steps:>3} steps  {goal}\n")
