"""``run_test``: one test, really run, its outcome read from the runner's private channel alone.

Asked with ``repeat`` it is run that often under the same conditions. Only what all runs agree on is a field of the
result: an outcome that differs between them is ``flaky`` or ``mixed``, neither a pass nor an expected failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rootproof import contract
from rootproof.canonical import Json
from rootproof.errors import NotRunnable
from rootproof.masking import Masks
from rootproof.runners.interface import Project, Runner, Session, TestRequest, TestStatus
from rootproof.sandbox.interface import Completed, Limits, Sandbox
from rootproof.tools import test_report
from rootproof.tools.arrangement import ORDERS, Arrangement
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec
from rootproof.tools.repeats import APART, combined
from rootproof.tools.settings import ONE_RUN
from rootproof.tools.test_report import Shot

CAPTURED = 5
"""Of a repeated run the captures of at most so many runs are kept: the first of each outcome."""

SPEC = ToolSpec(
    name="run_test",
    version="2",
    doc="Run one test of the contract and report its outcome.",
    fields=(
        Field("test", "name", "a test id of the contract, or a file of it for all its tests", of="tests", most=1000),
        Field(
            "seed", "integer", "hash seed, and seed of a random order", required=False, default=0, least=0, most=2**31
        ),
        Field(
            "repeat",
            "integer",
            "runs; only what all agree on counts",
            required=False,
            default=1,
            least=1,
            most=200,
        ),
        Field(
            "order",
            "choice",
            "runs its whole file, in file order or in one drawn from the seed",
            required=False,
            choices=ORDERS,
            condition=True,
        ),
        Field(
            "after",
            "list",
            "tests to run before it, in this order",
            required=False,
            of="tests",
            least=1,
            most=50,
            condition=True,
        ),
        Field("vary_seed", "flag", "each repeat has the next seed", required=False, default=False),
    ),
    settings=ONE_RUN,
    results=(
        Result("test", "text", "the test that was asked for", required=True),
        Result("status", "text", "its outcome", required=True, choices=(*get_args(TestStatus), *APART)),
        Result("exit_code", "integer", "exit code of the runner, where it had one"),
        Result("signal", "integer", "signal that ended it"),
        Result("limit", "text", "limit that ended it; empty where none did"),
        Result("exception", "text", "type of the exception"),
        Result("message", "text", "the failure's own message"),
        Result("expected", "scalar", "right side of the failed comparison"),
        Result("actual", "scalar", "left side of the failed comparison"),
        Result("compared_by", "text", "value or repr"),
        Result("phase", "text", "phase that failed: setup, call or teardown"),
        Result("path", "text", "file of the failing line"),
        Result("line", "integer", "the failing line"),
        Result("executed", "flag", "whether the test's body was entered"),
        Result("tests_run", "integer", "how many tests were reported"),
        Result("outcomes", "object", "status of each test, where a file was asked for"),
        Result("unreported", "list", "collected and never reported"),
        Result("last_started", "text", "the test that was running last"),
        Result("subtests", "object", "failing subtests"),
        Result("problem", "text", "what was captured where no test ran"),
        Result("mend", "text", "what to install"),
        Result("blocked", "list", "what containment may have refused"),
        Result("outcome", "text", "test and status in one line"),
        Result("order", "text", "file or random, where it did not run alone", choices=ORDERS),
        Result("after", "list", "tests that ran before it"),
        Result("runs", "integer", "runs made, of a repeated test"),
        Result("counts", "object", "status and number of runs"),
        Result("signatures", "object", "normalised failure and number of runs"),
        Result("failure_rate", "scalar", "share of failures among passes and failures"),
        Result("failure_rate_low", "scalar", "lower end of its 95 % interval"),
        Result("failure_rate_high", "scalar", "upper end of its 95 % interval"),
        Result("runner", "text", "which runner ran it", required=True),
        Result("containment", "text", "level it ran at", required=True),
    ),
    reaches=("files", "processes"),
    echoes=("test",),
    repeatable=True,
    checks=True,
    records=(Record("test_outcomes", "outcome", "append", about=("test",)),),
    test_runs=1,
    times="repeat",
)


@dataclass(frozen=True)
class RunTest:
    """Runs tests of one root through one sandbox, each test through the runner that fits it."""

    root: Path
    scope: contract.Scope
    runner: Callable[[str], Runner]
    """The runner for a test id. Raises NotRunnable where none fits."""
    sandbox: Sandbox
    settings: Mapping[str, Json]
    interpreter: Path | None = None
    hidden: tuple[str, ...] = ()
    """Secret files of the root: not there for the code under test."""
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        asked = Arrangement.of(request.input)
        name = "none"
        try:
            runner = self.runner(asked.test)
            name = runner.name
            refused = asked.refused(runner, self.scope, request.test_runs)
            if refused is not None:
                return refused
            if any(self.runner(other).name != name for other in asked.after):
                return Declined("tests of several runners cannot run in one process", "name tests of one runner")
            project = runner.project(self.root, contract.file_of(asked.test), self.interpreter)
        except NotRunnable as error:
            fields = {"status": "config_error", "problem": f"{error}", "mend": error.remedy}
            return Observation({**self._named(asked, name), **fields}, f"{error}\n{error.remedy}")
        bench = _Bench(self, runner, replace(project, hidden=self.hidden), request)
        shots, wanted = self._shots(bench, asked)
        session = shots[0].session
        if session.status == "not_found" and asked.test not in self.scope.tests:
            reason = f"there is no test {asked.test!r}"
            return Declined(reason, f"collected were {', '.join(session.collected[:5]) or 'none'}", bench.spent)
        return self._observation(asked, shots, wanted, bench)

    def _shots(self, bench: _Bench, asked: Arrangement) -> tuple[list[Shot], int]:
        """The runs, as many as there is time for but at least one; and how many there should be."""
        collected: tuple[str, ...] = ()
        if asked.order == "random":
            completed, session = bench.start(asked.collecting())
            if not session.collected:
                return [bench.shot(asked, completed, session, ())], 1
            collected = session.collected
        shots: list[Shot] = []
        while len(shots) < asked.repeat and (not shots or bench.left > 0):
            wanted = asked.request(len(shots), collected)
            shots.append(bench.shot(asked, *bench.start(wanted), wanted.order))
            if shots[0].status == "not_found":
                return shots, 1
        return shots, asked.repeat

    def _named(self, asked: Arrangement, runner: str) -> dict[str, object]:
        named: dict[str, object] = {"test": asked.test, "runner": runner, "containment": self.sandbox.level}
        if asked.order:
            named["order"] = asked.order
        if asked.after:
            named["after"] = list(asked.after)
        return named

    def _observation(self, asked: Arrangement, shots: Sequence[Shot], wanted: int, bench: _Bench) -> Observation:
        first = shots[0]
        repeats = combined([shot.told() for shot in shots], wanted, one_seed=not asked.vary_seed)
        fields = test_report.common([shot.fields for shot in shots])
        message = first.fields.get("message")
        if repeats.status not in APART and message is not None:
            fields["message"] = message  # The same in all, apart from what differs from run to run.
        fields |= {**self._named(asked, bench.runner.name), "status": repeats.status}
        how = [f"order {asked.order}"] if asked.order else []
        how += [f"after {', '.join(asked.after)}"] if asked.after else []
        excerpt = first.excerpt()
        if asked.repeat > 1:
            fields |= repeats.fields()
            how.append(f"{len(shots)} runs")
            excerpt = f"{repeats.line()}\n{excerpt}"
        told = f" ({'; '.join(how)})" if how else ""
        fields["outcome"] = f"{asked.test} {repeats.status}{told}"
        cut = next((shot.cut() for shot in shots if shot.cut()), "timeout" if len(shots) < wanted else "")
        return Observation(
            fields=fields,
            excerpt=excerpt,
            attachments=_captures(shots, alone=asked.repeat == 1),
            conditions={"seed": asked.seed, "containment": self.sandbox.level},
            cut=cut,
            flags=(*dict.fromkeys(flag for shot in shots for flag in shot.flags()), *first.masks.flags),
            spent=bench.spent,
        )


class _Bench:
    """Starts the processes of one request and counts what they cost."""

    def __init__(self, tool: RunTest, runner: Runner, project: Project, request: Request) -> None:
        self.tool = tool
        self.runner = runner
        self.project = project
        self.room = request
        self.began = time.monotonic()
        self.spent = Spend()
        self.masks = Masks(request.secrets)

    @property
    def left(self) -> float:
        """Seconds until nothing more may be started; CPU time counts too."""
        passed = time.monotonic() - self.began
        return min(self.room.seconds - passed, self.room.cpu_seconds - self.spent.cpu_seconds)

    def start(self, wanted: TestRequest) -> tuple[Completed, Session]:
        """One process, to its end."""
        tool = self.tool
        completed = tool.sandbox.run(self.runner.command(self.project, wanted, self._limits()))
        completed = test_report.masked_output(completed, self.masks)
        self.spent += Spend(completed.seconds, completed.cpu_seconds, 1)
        return completed, self.runner.session(self.project, wanted, completed)

    def shot(self, asked: Arrangement, completed: Completed, session: Session, order: tuple[str, ...]) -> Shot:
        """What a process showed of the test asked for."""
        separator = self.runner.separator
        status = asked.status(session, separator, order)
        turned = status == "unknown" and session.status != "unknown"
        problem = "the tests did not run in the order asked for" if turned else ""
        return Shot(completed, session, status, asked.results(session, separator), problem, self.masks)

    def _limits(self) -> Limits:
        seconds = self.tool.settings.get("timeout_seconds", 60)
        memory = self.tool.settings.get("memory_mb", 2048)
        left = self.room.seconds - (time.monotonic() - self.began)
        limit = min(float(seconds) if isinstance(seconds, int) else 60.0, left)
        cpu = self.room.cpu_seconds - self.spent.cpu_seconds
        return Limits(
            seconds=max(limit, 0.1),
            cpu_seconds=max(min(limit * 2, cpu), 0.1),
            memory_mb=memory if isinstance(memory, int) else 2048,
        )


def _captures(shots: Sequence[Shot], *, alone: bool) -> dict[str, bytes]:
    if alone:
        return shots[0].captures()
    kept: dict[str, bytes] = {}
    seen: set[object] = set()
    for number, shot in enumerate(shots, 1):
        if shot.told() in seen or len(seen) == CAPTURED:
            continue
        seen.add(shot.told())
        kept |= {f"run {number}: {name}": data for name, data in shot.captures().items()}
    return kept
