"""``rootproof demo``: the reference case, end to end on real tests, with a scripted model."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from rootproof.assemble import Options
    from rootproof.contract_file import Loaded
    from rootproof.ledger.watched import Listener


def demo(
    max_steps: Annotated[Optional[int], typer.Option("--max-steps", help="Most steps (the contract says 8).")] = None,  # noqa: UP045
    store: flags.Store = None,
    runner: flags.RunnerName = "",
    as_json: flags.Json = False,
) -> None:
    """Find out why a signed-in user lands on / instead of the page they asked for."""
    from rootproof import assemble, stores
    from rootproof.apps.cli import five_things
    from rootproof.apps.cli.ending import finish, interruptible
    from rootproof.apps.cli.progress import Progress

    out = sys.stderr if as_json else sys.stdout
    project = _project(stores.folder(store) / "demo" / "login-redirect")
    loaded = _contract(project, max_steps)
    _need_pytest()
    options = _options(store, project, loaded, Progress(out), runner)
    out.write(f"project: {project}\nquestion: {loaded.contract.goal}\n")
    with interruptible():
        outcome = assemble.run(loaded, options)
    events = assemble.open_store(store, read_only=True).events(outcome.run)
    out.write("".join(line + "\n" for line in five_things.lines(events)))
    finish(outcome, as_json)


def _project(target: Path) -> Path:
    """A fresh copy of the bundled project, so that the run can be shown and resumed later."""
    from rootproof.errors import UsageError

    package = Path(__file__).resolve().parents[2]
    places = (package / "bundled" / "login-redirect", package.parents[1] / "examples" / "login-redirect" / "python")
    source = next((place for place in places if place.is_dir()), None)
    if source is None:
        raise UsageError("the bundled project is missing", "install rootproof again")
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv")
    shutil.copytree(source, target, ignore=ignored)
    return target


def _need_pytest() -> None:
    """The bundled project's tests run in the interpreter that runs us: pytest is a tool of its user, not ours."""
    from importlib.util import find_spec

    from rootproof.errors import NotRunnable

    if find_spec("pytest") is None:
        raise NotRunnable("the demo runs real tests, and this Python has no pytest", "pip install pytest, then again")


def _contract(project: Path, max_steps: int | None) -> Loaded:
    from rootproof import assemble
    from rootproof.contract_file import document_of

    document = document_of(project / "contract.toml")
    if max_steps is not None:
        document["budget"]["max_steps"] = max_steps
    return assemble.load_document(document, project, "rootproof demo")


def _options(store: str | None, project: Path, loaded: Loaded, progress: Listener, runner: str) -> Options:
    """The best level here, or none for this bundled project only, and then it is said."""
    from rootproof import assemble
    from rootproof.errors import ContainmentUnavailable
    from rootproof.models.scripted import from_file

    options = assemble.Options(
        store=store,
        model=from_file(project / "policy.py"),
        interpreter=Path(sys.executable),
        listeners=(progress,),
        runner=runner,
    )
    try:
        assemble.choose_sandbox(loaded.contract.policy, project, options)
    except ContainmentUnavailable as error:
        sys.stderr.write(f"note: no containment here ({error}); the bundled project's own tests run without it\n")
        sys.stderr.write("note: this is --containment none --trust-this-repository, for this project only\n")
        from dataclasses import replace

        options = replace(options, containment="none", trusted=True)
    return options
