"""Find a wrong discount and open a ticket about it, once a person agrees.

    python report_defect.py                       runs until a person must decide, and says what is asked (exit 6)
    rootproof approve last --by NAME --reason TEXT
    python report_defect.py --resume last         goes on: the ticket is opened, once

With `--steps 2` there is no step left after the ticket to end in success: the run ends as max_steps, and the ticket is
closed again. `rootproof audit last` lists all of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from tracker import OpenTicket, Tracker

import rootproof
from rootproof.apps.cli.progress import Progress
from rootproof.apps.cli.words import outcome_lines
from rootproof.models.scripted import Scripted

HERE = Path(__file__).parent
TITLE = "Members get 1 % off, not the 10 % they were told"


def contract(steps: int) -> dict[str, Any]:
    """What is asked, what may be looked at and done, and what success needs."""
    return {
        "schema": "rootproof/contract/1",
        "goal": "Members complain that they hardly save anything: find out why, and open a ticket.",
        "scope": {
            "root": "project",
            "read": ["src/rates.py"],
            "excluded": ["deploy", "network", "credentials"],  # not "write": the tracker is written
        },
        "budget": {"max_steps": steps},
        "policy": {"approval_seconds": 3600},
        "tools": {"read_file": {}, "open_ticket": {}},
        "evidence": [
            {
                "id": "rate_read",
                "tool": "read_file",
                "where": {"path": "src/rates.py"},
                "capture": r"MEMBER_DISCOUNT = (?P<discount>[0-9.]+)",
            },
            {"id": "reported", "tool": "open_ticket", "expect": {"state": "open"}, "bind": {"ticket": "number"}},
        ],
        "completion": {"all": ["discount == '0.01'", "reported"]},
        "answer": {"template": "The discount is {{ discount }}; ticket {{ ticket }} asks to mend it."},
    }


def propose(view: dict[str, Any]) -> dict[str, Any]:
    """The model: a few lines that look at the facts. Any other model is asked the same way."""
    facts = view["facts"]
    if "discount" not in facts:
        return {"type": "action", "tool": "read_file", "input": {"path": "src/rates.py"}}
    if "reported" not in facts and not view["refused"]:
        body = f"src/rates.py says MEMBER_DISCOUNT = {facts['discount']}."
        return {"type": "action", "tool": "open_ticket", "input": {"title": TITLE, "body": body}}
    return {"type": "final"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resume", metavar="RUN", default="")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--tracker", type=Path, default=Path("tickets.sqlite3"))
    asked = parser.parse_args()
    tool = OpenTicket(Tracker(asked.tracker))
    options = rootproof.Options(
        store=asked.store,
        model=Scripted(propose),
        tools={"open_ticket": tool},
        listeners=(Progress(),),
    )
    if asked.resume:
        outcome = rootproof.resume(asked.resume, options)
    else:
        outcome = rootproof.run(rootproof.Contract.of(contract(asked.steps), HERE, [tool]), options)
    print("\n".join(outcome_lines(outcome)))
    sys.exit(outcome.exit_status)


if __name__ == "__main__":
    try:
        main()
    except rootproof.RootproofError as error:
        sys.exit(f"error: {error}\nhint: {error.remedy}")
