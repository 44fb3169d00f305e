"""``rootproof approve RUN``: a named person agrees to exactly what a run waits to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from rootproof.decisions import Decision
    from rootproof.plan import PlanStep

Run = Annotated[str, typer.Argument(help="The run's id, the beginning of it, or 'last'.")]
By = Annotated[str, typer.Option("--by", help="Your name, as the record will keep it.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
Request = Annotated[
    str, typer.Option("--request", help="Digest of what you saw, or its beginning: anything else is not decided.")
]

Edited = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--plan", help="Where a plan is asked about: a JSON file with the plan to carry out instead."),
]


def approve(
    run: Run,
    by: By,
    reason: Reason,
    request: Request = "",
    plan: Edited = None,
    store: flags.Store = None,
    as_json: flags.Json = False,
) -> None:
    """Approve what a run waits for. It is begun by `rootproof resume`, and only if it still may be."""
    from rootproof.decisions import Decision

    steps = _steps(plan) if plan else ()
    decided(run, Decision("approve", by, reason, request, steps), store, as_json)


def _steps(path: Path) -> tuple[PlanStep, ...]:
    """The plan in a file, in the form of a model's message.

    Raises:
        UsageError: it cannot be read, or is no plan.
    """
    from rootproof.errors import UsageError
    from rootproof.protocol import MAX_MESSAGE, Malformed, Plan, parse

    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_MESSAGE + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "name a file with the plan as JSON") from None
    message = parse(text, plans=True)
    if not isinstance(message, Plan):
        found = message.message if isinstance(message, Malformed) else "it is no plan"
        raise UsageError(f"{path}: {found}", 'write {"type": "plan", "steps": [...]}')
    return message.steps


def decided(run: str, decision: Decision, store: str | None, as_json: bool) -> None:
    """Record the decision and tell how the run stands."""
    from rootproof.apps.cli import words as telling
    from rootproof.decisions import decide

    outcome = decide(run, decision, store)
    if as_json:
        sys.stdout.write(json.dumps(outcome.document(), indent=2) + "\n")
    else:
        sys.stdout.write("".join(line + "\n" for line in telling.outcome_lines(outcome)))
    sys.stderr.write(f"hint: `rootproof resume {outcome.run}` goes on where this stopped\n")
