"""``probe``: what variables and attributes are at one line, in the failing test and in a passing one beside it.

It runs the tests inside containment and calls nothing of the project to look. What it says is an observation: it
confirms nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rootproof.canonical import Json
from rootproof.experiments.engine import Engine
from rootproof.experiments.probe import MOST_EXPRESSIONS, Look, NotProbed, Seen, plan_of, probe_command, read_probe
from rootproof.sandbox.interrupt import scratch_folder
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

SPEC = ToolSpec(
    name="probe",
    version="1",
    doc=(
        "Values at path:line just before it runs, in a failing test and a passing one. Expressions: names, attributes, "
        "constant items ([0], ['key']) and comparisons of these; no calls. What would run code is refused."
    ),
    fields=(
        Field("test", "name", "the failing test", of="tests", most=1000),
        Field("path", "path", "source file"),
        Field("line", "integer", "a line that runs", least=1, most=10_000_000),
        Field("expressions", "list", "what to look at", least=1, most=MOST_EXPRESSIONS, items={"expression": "text"}),
        Field("beside", "name", "a passing test; none: the nearest known", required=False, of="tests", most=1000),
    ),
    settings=(Field("target", "text", "the test the diagnosis is about"),),
    results=(
        Result("test", "text", "the failing test", required=True),
        Result("path", "text", "source file", required=True),
        Result("line", "integer", "the line", required=True),
        Result("values", "list", "expression, test, status, hits, the first values and the last", required=True),
        Result("refused", "list", "expressions that were not evaluated, and why", required=True),
        Result("beside", "text", "the passing test; empty: none is known"),
        Result("problem", "text", "why nothing ran"),
    ),
    reaches=("files", "processes"),
    echoes=("test", "line"),
    test_runs=1,
)


@dataclass(frozen=True)
class Probe:
    """Probes lines of one engine's project."""

    engine: Engine
    settings: Mapping[str, Json]
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        given = request.input
        test, path, line = str(given["test"]), str(given["path"]), given["line"]
        assert type(line) is int
        asked = given["expressions"]
        texts = [str(item["expression"]) for item in asked if isinstance(item, dict)] if isinstance(asked, list) else []
        plans = {text: plan_of(text) for text in texts}
        refused = [plan for plan in plans.values() if isinstance(plan, NotProbed)]
        good = {text: plan for text, plan in plans.items() if not isinstance(plan, NotProbed)}
        if not good:
            return Declined(f"{refused[0].expression[:80]}: {refused[0].why}", "name variables or attributes")
        beside = str(given.get("beside") or self.engine.nearest(test))
        tests = [test, *([beside] if beside and beside != test else [])]
        began = time.monotonic()
        subject = self.engine.subject(test)
        with scratch_folder("rootproof-probe-") as scratch:
            seconds = min(60.0, request.seconds)
            look = Look(tuple(tests), path, line, tuple(good.values()))
            command = probe_command(subject, look, scratch, seconds)
            completed = self.engine.sandbox.run(command)
        seen, problem = read_probe(completed, list(good))
        fields: dict[str, object] = {
            "test": test,
            "path": path,
            "line": line,
            "values": [_row(each) for each in seen],
            "refused": [{"expression": each.expression, "why": each.why} for each in refused],
            "beside": beside,
            "problem": problem,
        }
        spent = Spend(time.monotonic() - began, completed.cpu_seconds, 1)
        return Observation(fields, _words(seen, refused) or problem, spent=spent)


def _row(seen: Seen) -> dict[str, Json]:
    return {
        "expression": seen.expression,
        "test": seen.test,
        "status": seen.status,
        "hits": seen.hits,
        "values": list(seen.values),
        "last": seen.last,
        "refused": seen.refused,
    }


def _words(seen: list[Seen], refused: list[NotProbed]) -> str:
    rows = [
        f"{each.status} {each.test}: {each.expression} = {', '.join(each.values[:6]) or each.refused or 'not reached'}"
        f" ({each.hits} times, last {each.last or '-'})"
        for each in seen
    ]
    return "\n".join([*rows, *(f"refused {each.expression}: {each.why}" for each in refused)])
