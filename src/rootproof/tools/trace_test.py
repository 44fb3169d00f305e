"""``trace_test``: what a failing test executes, and which functions and statements are suspect because of it.

What it says are observations about where to look; nothing here confirms anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootproof.canonical import Json
from rootproof.experiments.engine import Engine
from rootproof.experiments.told import suspect_rows, suspect_words
from rootproof.text import quoted, visible
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

SPEC = ToolSpec(
    name="trace_test",
    version="1",
    doc="Run a failing test and its neighbours traced; rank the functions and statements that may hold the cause.",
    fields=(Field("test", "name", "the failing test", of="tests", most=1000),),
    settings=(Field("target", "text", "the test the diagnosis is about"),),
    results=(
        Result("test", "text", "the test that was traced", required=True),
        Result("status", "text", "its outcome", required=True),
        Result("exception", "text", "type of the exception"),
        Result("message", "text", "the failure's own message"),
        Result("phase", "text", "setup, call or teardown"),
        Result("functions", "list", "suspect functions, best first", required=True),
        Result("statements", "list", "suspect statements, best first", required=True),
        Result("frames", "list", "call path to the failure, outermost first", required=True),
        Result("neighbours", "integer", "passing tests that were traced beside it", required=True),
        Result("problems", "list", "what went wrong while tracing"),
    ),
    reaches=("files", "processes"),
    echoes=("test",),
    test_runs=2,
)


@dataclass(frozen=True)
class TraceTest:
    """Traces tests of one engine."""

    engine: Engine
    settings: Mapping[str, Json]
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        test = str(request.input["test"])
        known = self.engine.studied(test)
        studied = self.engine.study(test, request.seconds)
        trace = studied.trace
        spent = Spend() if known else Spend(trace.seconds, trace.cpu_seconds, 2)
        if trace.status == "missing":
            return Declined(f"there is no test {quoted(test, 120)}", "name one that the runner collects", spent)
        failure = trace.failure
        fields = {
            "test": test,
            "status": trace.status,
            "exception": failure.exception if failure else "",
            "message": visible(failure.message[:2000]) if failure else "",
            "phase": failure.phase if failure else "",
            "functions": suspect_rows(studied.ranking.functions),
            "statements": suspect_rows(studied.ranking.statements),
            "frames": [list(frame[:3]) for frame in failure.frames[-20:]] if failure else [],
            "neighbours": len(studied.spectrum.passing),
            "problems": [visible(problem[:300]) for problem in trace.problems[:5]],
        }
        return Observation(fields=fields, excerpt=suspect_words(studied.ranking.functions), spent=spent)
