"""The command line: commands are found here, each in a file of its own; what they need is imported when they run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

import typer

from rootproof.apps.cli import (
    approve,
    audit,
    batch,
    bench,
    check,
    demo,
    diagnose,
    doctor,
    export,
    import_run,
    init,
    prune,
    refuse,
    report,
    resume,
    run,
    runs,
    show,
    verify,
    worker,
)

app = typer.Typer(
    name="rootproof",
    help="Finds why something is wrong, and can show it: a run succeeds on evidence or not at all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
REPORT_AT = "the project's issue tracker"

_COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("diagnose", diagnose.diagnose),
    ("bench", bench.bench),
    ("demo", demo.demo),
    ("run", run.run),
    ("check", check.check),
    ("init", init.init),
    ("doctor", doctor.doctor),
    ("runs", runs.runs),
    ("show", show.show),
    ("report", report.report),
    ("verify", verify.verify),
    ("resume", resume.resume),
    ("audit", audit.audit),
    ("approve", approve.approve),
    ("refuse", refuse.refuse),
    ("export", export.export),
    ("import", import_run.import_run),
    ("prune", prune.prune),
    ("batch", batch.batch),
    ("worker", worker.worker),
)
for _name, _function in _COMMANDS:
    app.command(_name)(_function)


def _version(asked: bool) -> None:
    if asked:
        from rootproof import __version__

        typer.echo(f"rootproof {__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Say the version."),
    log_format: str = typer.Option("", "--log-format", help="json: one line an event on stderr, without any content."),
) -> None:
    if log_format:
        os.environ["ROOTPROOF_LOG"] = log_format  # for the workers that a command starts as well


def start() -> None:
    """Run the command line; every error ends as words and an exit status, never as a traceback."""
    from rootproof.apps.cli.streams import inert

    with inert():
        _start()


def _start() -> None:
    from rootproof.errors import RootproofError

    try:
        app()
    except RootproofError as error:
        _tell(error)
        sys.exit(error.exit_status)
    except (KeyboardInterrupt, SystemExit) as end:
        if not _interrupted(end):
            raise
        sys.stderr.write("\ncancelled\n")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:  # an internal error is one line with a place to report it, never a traceback
        if os.environ.get("ROOTPROOF_TRACEBACK"):
            raise
        from rootproof.text import one_line

        sys.stderr.write(f"error: internal: {one_line(f'{type(error).__name__}: {error}', 300)}\n")
        sys.stderr.write(f"hint: please report this at {REPORT_AT}; ROOTPROOF_TRACEBACK=1 shows the traceback\n")
        sys.exit(70)


def _interrupted(end: BaseException) -> bool:
    """Whether Ctrl-C ended the command: typer makes an exit with 130 of it, and says nothing."""
    cause = getattr(end.__context__, "__cause__", None)
    return isinstance(end, KeyboardInterrupt) or isinstance(cause, KeyboardInterrupt)


def _tell(error: Exception) -> None:
    from rootproof.errors import ContractError, RootproofError
    from rootproof.text import one_line

    assert isinstance(error, RootproofError)
    faults = error.faults if isinstance(error, ContractError) else ()
    if "--json" in sys.argv:
        found = [{"place": f.place, "found": f.found, "mend": f.mend} for f in faults]
        said = {"error": error.code, "message": str(error), "hint": error.remedy, "faults": found}
        sys.stdout.write(json.dumps(said, indent=2) + "\n")
    sys.stderr.write(f"error: {one_line(str(error), 600)}\n")
    for fault in faults:
        sys.stderr.write(f"  {one_line(f'{fault.place}: {fault.found}', 400)}\n")
        sys.stderr.write(f"    hint: {one_line(fault.mend, 300)}\n")
    if error.remedy:
        sys.stderr.write(f"hint: {one_line(error.remedy, 600)}\n")
