"""``rootproof bench MANIFEST``: real bugs with known causes, set up, diagnosed and scored."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from rootproof.apps.cli import options as flags

if TYPE_CHECKING:
    from rootproof.apps.bench.run import Bench

Manifest = Annotated[Path, typer.Argument(help="YAML file of cases.")]
Out = Annotated[Optional[Path], typer.Option("--json", help="Write everything as JSON; a plot is laid beside it.")]  # noqa: UP045
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Cases side by side.")]
Seconds = Annotated[float, typer.Option("--seconds-per-case", min=10, help="Longest time for one case.")]
Work = Annotated[Optional[Path], typer.Option("--work", help="Downloads, environments and results.")]  # noqa: UP045
Only = Annotated[Optional[list[str]], typer.Option("--case", help="Only this case; may be given several times.")]  # noqa: UP045
Peer = Annotated[Optional[list[str]], typer.Option("--peer", help="ochiai, fauxpy or none; default: both.")]  # noqa: UP045


def bench(
    manifest: Manifest,
    model: Annotated[str, typer.Option("--model", help="Who proposes; engine: the ranking alone.")] = "detective",
    json_file: Out = None,
    jobs: Jobs = 1,
    seconds_per_case: Seconds = 240.0,
    work: Work = None,
    only: Only = None,
    peer: Peer = None,
    containment: flags.Containment = "best",
    trust_this_repository: flags.Trust = False,
    python: flags.Interpreter = None,
) -> None:
    """Run a model over known bugs: how often the cause is found, how often an accepted conclusion is right."""
    from rootproof.apps.bench import manifest as read
    from rootproof.apps.bench import run, shown
    from rootproof.apps.cli.ending import interruptible
    from rootproof.errors import UsageError

    cases = [case for case in read.load(manifest) if not only or case.id in only]
    if not cases:
        raise UsageError("no case of the manifest is meant", "name cases as the manifest does")
    made = _bench((model, jobs, seconds_per_case), (containment, trust_this_repository), work, python)
    peers = tuple(name for name in (peer or ("ochiai", "fauxpy")) if name != "none")
    made = replace(made, peers=peers)
    with interruptible():
        document = run.document(made, cases, run.run(made, cases))
    if json_file is not None:
        json_file.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
        json_file.with_suffix(".svg").write_text(shown.plot(document), "utf-8")
    sys.stdout.write(shown.table(document) + "\n")


def _bench(
    numbers: tuple[str, int, float], contained: tuple[str, bool], work: Path | None, python: Path | None
) -> Bench:
    from rootproof import assemble
    from rootproof.apps.bench.contenders import Terms
    from rootproof.apps.bench.run import Bench
    from rootproof.contract import Policy

    model, jobs, seconds = numbers
    options = flags.options(store=None, model="detective", containment=contained[0], trusted=contained[1])
    folder = (work or assemble.default_store().parent / "bench").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return Bench(
        model=model,
        work=folder,
        interpreter=python or Path(shutil.which("python3.11") or sys.executable),
        sandbox=assemble.choose_sandbox(Policy(), folder, options),
        terms=Terms(seconds, 1, contained[0], contained[1]),
        jobs=jobs,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
