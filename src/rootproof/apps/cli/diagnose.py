"""``rootproof diagnose``: the main job for people who have no contract, only a failing test."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional, TextIO

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from rootproof.apps.cli.tried import Tried
    from rootproof.assemble import Options
    from rootproof.diagnosis import Case, Question
    from rootproof.investigations.root_cause.targets import Found
    from rootproof.outcome import Outcome

Tests = Annotated[list[str] | None, typer.Argument(help="Red tests; none: those last failed, else the suite is run.")]
RootOption = Annotated[Path, typer.Option("--root", help="The repository.")]
Report = Annotated[Optional[Path], typer.Option("--from", help="The failing tests of this JUnit XML file.")]  # noqa: UP045
LastFailed = Annotated[bool, typer.Option("--last-failed", help="Only what the runner noted as last failed.")]
Context = Annotated[Optional[Path], typer.Option("--context", help="A bug report: shown to the model as unverified.")]  # noqa: UP045
Grade = Annotated[str, typer.Option("--grade", help="A: only a conclusion of grade A is good enough.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Write the contracts and stop, so that they can be edited.")]
Steps = Annotated[int, typer.Option("--max-steps", min=1, help="Most steps for each test.")]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="Most seconds for each test.")]
Runs = Annotated[int, typer.Option("--test-runs", min=1, help="Most started test processes for each test.")]


def diagnose(
    tests: Tests = None,
    report: Report = None,
    root: RootOption = Path(),
    last_failed: LastFailed = False,
    runner: flags.RunnerName = "",
    context: Context = None,
    grade: Grade = "",
    dry_run: Dry = False,
    max_steps: Steps = 40,
    seconds: Seconds = 600.0,
    test_runs: Runs = 1000,
    model: flags.ModelName = "detective",
    store: flags.Store = None,
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
    record: flags.Record = None,
    suggest: flags.Suggest = False,
    as_json: flags.Json = False,
) -> None:
    """Find out why a test fails, and show it: reproduce, look, intervene in throw-away copies, confirm."""
    from rootproof import diagnosis, stores
    from rootproof.apps.cli.progress import Progress
    from rootproof.investigations.root_cause.terms import Numbers

    question = diagnosis.Question(
        root=root.absolute(),
        tests=tuple(tests or ()),
        last_failed=last_failed,
        runner=runner or "auto",
        numbers=Numbers(steps=max_steps, seconds=seconds, cpu_seconds=seconds, test_runs=test_runs),
        grade=grade,
        context=_context(context),
        report=report,
    )
    progress = Progress(sys.stderr if as_json else sys.stdout)
    options = flags.options(
        store=store,
        model=model,
        containment=containment,
        trusted=trust_this_repository,
        places=(python, None),
        proposer=(record, suggest),
        listeners=(progress,),
    )
    options = replace(options, tell=progress.note)
    folder = stores.folder(store) / "contracts"
    _finish(*_carry_out(question, options, folder, dry_run, as_json))


def _context(file: Path | None) -> str:
    from rootproof.errors import UsageError

    if file is None:
        return ""
    try:
        return file.read_text("utf-8", errors="backslashreplace")[:20_000]
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", "name a text file with --context") from None


def _carry_out(
    question: Question, options: Options, folder: Path, dry: bool, as_json: bool
) -> tuple[list[Outcome], bool]:
    from rootproof import diagnosis
    from rootproof.apps.cli.ending import interruptible
    from rootproof.apps.cli.tried import Tried
    from rootproof.text import one_line

    out = sys.stderr if as_json else sys.stdout
    outcomes: list[Outcome] = []
    confirmed = diagnosis.Confirmed()
    with interruptible():
        shop, found = diagnosis.find(question, options, lambda text: print(text, file=out, flush=True))
        made = diagnosis.cases(question, shop, found, folder)
        _say(made, found, shop.reason, out)
        for case in [] if dry else made:
            out.write(f"\n{one_line(case.target, 160)}\n")
            tried = Tried()
            heard = replace(options, listeners=(*options.listeners, tried))
            outcomes.append(diagnosis.run(case, heard, confirmed))
            _told(outcomes[-1], tried, as_json)
            if outcomes[-1].status == "cancelled":
                break
    return outcomes, as_json


def _say(made: list[Case], found: Found, runner: str, out: TextIO) -> None:
    from rootproof.text import one_line

    if out.isatty():
        out.write("\r\x1b[2K")
    count = len(found.tests)
    out.write(f"{count} red test{'s' if count != 1 else ''} ({found.how}), run with {runner}\n")
    for case in made:
        budget = case.document["budget"]
        numbers = f"{budget['max_steps']} steps, {budget['seconds']:g} s, {budget['test_runs']} test runs"
        out.write(f"  {one_line(case.target, 160)}\n    agreed: {numbers}; contract {case.file}\n")
    if count > len(made):
        out.write(f"  {count - len(made)} more are left for another time; name them to have them diagnosed\n")
    for test, why in found.unmatched:
        out.write(f"  not diagnosed: {one_line(test, 160)}: {one_line(why, 400)}\n")
    out.flush()


def _told(outcome: Outcome, tried: Tried, as_json: bool) -> None:
    from rootproof.apps.cli import words

    out = sys.stderr if as_json else sys.stdout
    out.write("".join(line + "\n" for line in (*tried.lines(outcome), *words.outcome_lines(outcome))))
    out.flush()


def _finish(outcomes: list[Outcome], as_json: bool) -> None:
    from rootproof import diagnosis

    if as_json:
        sys.stdout.write(json.dumps([outcome.document() for outcome in outcomes], indent=2) + "\n")
    raise typer.Exit(diagnosis.exit_status(outcomes))
