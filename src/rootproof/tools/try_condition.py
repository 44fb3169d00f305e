"""``try_condition``: does the target's outcome follow the order of tests, the environment, or chance alone?

Cold runs in throw-away copies, interleaved in pairs. The tool reports what was run and what follows from it; whether
that makes a fact is judged elsewhere, from the stored record, by the same pure functions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rootproof.canonical import Json, digest, digest_bytes
from rootproof.contract import file_of
from rootproof.errors import NotRunnable
from rootproof.experiments import condition_judgements as judgements
from rootproof.experiments.cold import Cold, Meter
from rootproof.experiments.conclusion import ANSWERS, Verdict
from rootproof.experiments.condition_findings import fields_of
from rootproof.experiments.conditions import KINDS, Condition, examine
from rootproof.experiments.record import to_data
from rootproof.runners.interface import Runner
from rootproof.sandbox.interface import Sandbox
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec
from rootproof.tools.settings import ONE_RUN, TARGET
from rootproof.tools.site import site_of

RECORD = "condition.json"

SPEC = ToolSpec(
    name="try_condition",
    version="1",
    doc=(
        "Where no code is to blame: run the target in cold pairs with and without one condition. order: after the "
        "tests before it (reduced to those that matter); environment: one variable set (TZ, LANG, LC_ALL, "
        "PYTHONHASHSEED or one that the test names); flaky: again and again under equal conditions."
    ),
    fields=(
        Field("kind", "choice", "which condition", choices=KINDS),
        Field("target", "name", "the failing test", required=False, of="tests", most=1000),
        Field("variable", "text", "environment: its name", required=False, least=0, most=100),
        Field("value", "text", "environment: its value in one run of a pair", required=False, least=0, most=200),
        Field("against", "text", "environment: in the other; empty: not set", required=False, least=0, most=200),
        Field(
            "reach", "choice", "order: the tests of its file or of the suite", False, "file", choices=("file", "suite")
        ),
        Field("before", "list", "order: the tests to run before it", False, items={"test": "text"}, most=500),
    ),
    settings=(TARGET, *ONE_RUN),
    results=(
        Result("target", "text", "the failing test", required=True),
        Result("kind", "text", "order, environment or flaky", required=True, choices=KINDS),
        Result("verdict", "text", "what follows from the runs", required=True, choices=ANSWERS),
        Result("grade", "text", "A or B where it is supported, else empty", required=True, choices=("A", "B", "")),
        Result("rule", "text", "stable name of the rule that decided", required=True),
        Result("reason", "text", "why, in one line", required=True),
        Result("subject", "text", "digest of target, tree and condition", required=True),
        Result("signature", "text", "the target's failure, without what varies by itself"),
        Result("condition", "text", "the condition in words; empty if not supported"),
        Result("predecessors", "list", "order: the tests that must run before it"),
        Result("variable", "text", "environment: name and value"),
        Result("against", "text", "environment: the other value; empty: not set"),
        Result("counts", "object", "how often it passed and failed, with and without"),
        Result("interval", "list", "flaky: bounds of the failure rate, 95 %"),
        Result("runs", "integer", "test processes of this examination"),
        Result("tries", "integer", "interventions this request counts for", required=True),
        Result("containment", "text", "level the runs were at", required=True),
    ),
    reaches=("files", "processes"),
    echoes=("target", "kind"),
    repeatable=True,
    checks=True,
    records=(Record("condition_verdicts", "verdict", "append", about=("subject", "rule")),),
    test_runs=1,
)


@dataclass(frozen=True)
class TryCondition:
    """Examines conditions of one root through one runner and one sandbox. The repository itself is only read."""

    scope: Scope
    runner: Runner
    sandbox: Sandbox
    settings: Mapping[str, Json]
    interpreter: Path | None = None
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        target = str(request.input.get("target") or self.settings.get("target") or "")
        if not target:
            return Declined("no target is named", "name the failing test")
        begun = self._begun(target, request)
        refusal = judgements.admissible(begun.kind, begun.variable, begun.against)
        if refusal:
            return Declined(refusal, "name a variable that the test itself depends on")
        outside = next((t for t in begun.predecessors if not self.scope.terms.allows("tests", t)), "")
        if outside:
            return Declined(f"{outside[:120]} is no test of the contract", "name tests of the scope")
        try:
            site = site_of(self.scope, (self.runner, self.sandbox, self.interpreter), self.settings, target)
        except NotRunnable as error:
            return Declined(f"{error}", error.remedy)
        began = time.monotonic()
        meter = Meter(request.seconds, request.cpu_seconds, request.test_runs)
        sources = {path: site.read(path) for path in fixtures(target, site.guards)}
        files = tuple(sorted((path, digest_bytes(data)) for path, data in sources.items()))
        seen = examine(Cold(site, meter), replace(begun, files=files), str(request.input.get("reach") or "file"))
        spent = Spend(time.monotonic() - began, meter.spent_cpu, meter.runs)
        return observation(seen, sources, judgements.judge_condition(seen, sources), spent)

    def _begun(self, target: str, request: Request) -> Condition:
        given = request.input
        before = given.get("before")
        named = [str(item["test"]) for item in before if isinstance(item, dict)] if isinstance(before, list) else []
        tests = [test.removeprefix(f"{self.scope.root}/") for test in named]  # copied from a traceback, perhaps
        return Condition(
            target=target,
            kind=str(given["kind"]),
            tree=digest(self.scope.manifest()),
            level=self.sandbox.level,
            tries=request.prior_tries + 1,
            predecessors=tuple(test for test in tests if test != target),
            variable=(str(given.get("variable") or ""), str(given.get("value") or "")),
            against=str(given.get("against") or ""),
        )


def fixtures(target: str, guards: tuple[str, ...]) -> tuple[str, ...]:
    """The target's own file and the fixture files of the folders above it."""
    own = file_of(target)
    above = {"/".join([*own.split("/")[:depth], "conftest.py"]) for depth in range(len(own.split("/")))}
    return tuple(path for path in guards if path == own or path in above)


def observation(seen: Condition, sources: Mapping[str, bytes], verdict: Verdict, spent: Spend) -> Observation:
    """The tool's report: the fields that follow from the record, and the record itself beside its sources."""
    fields = fields_of(seen, verdict)
    grade = f", grade {verdict.grade}" if verdict.grade else ""
    return Observation(
        fields,
        f"{verdict.answer}{grade}: {verdict.rule}: {verdict.reason}\n{seen.kind}: {fields['counts']}",
        attachments={RECORD: to_data(seen), **sources},
        conditions={"containment": seen.level, "tree": seen.tree, "condition": judgements.subject(seen)},
        reads=dict(seen.files),
        spent=spent,
    )
