"""``search_changes``: try many small changes of the suspects in a live process; list those that turn the test green.

A flip found here says where to look. It confirms nothing: only ``try_change`` does, in cold processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rootproof.canonical import Json
from rootproof.experiments.controls import runs_needed
from rootproof.experiments.engine import Engine, Study
from rootproof.experiments.mutants import MutantLimits, Search
from rootproof.experiments.sources import Sources
from rootproof.experiments.told import chosen, flip_row, flip_words, left_out, suspect_rows, suspect_words
from rootproof.text import visible
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

CONFIRMATIONS = 3
"""So many, a change and its rivals, must still be affordable after a search."""

CPU_SECONDS = 50.0
"""One search's share; a search that found nothing by then seldom does."""
TARGET_RUNS = 40
"""More for a slow test: so many of its own runs."""

SPEC = ToolSpec(
    name="search_changes",
    version="1",
    doc="Try many small changes of the suspects and list those with which the failing test passes.",
    fields=(
        Field("test", "name", "the failing test", of="tests", most=1000),
        Field("most", "integer", "most changes to try", required=False, default=300, least=1, most=3000),
    ),
    settings=(
        Field("target", "text", "the test the diagnosis is about"),
        Field("seconds", "integer", "longest time of one search", least=1, most=3600),
    ),
    results=(
        Result("test", "text", "the test that must pass", required=True),
        Result("baseline", "text", "its outcome without a change", required=True),
        Result("tries", "integer", "changes that were tried", required=True),
        Result("clean", "integer", "of these: the test passes and every neighbour still does", required=True),
        Result("best", "text", "the most promising change in words; empty if none turns the test green", required=True),
        Result(
            "flips",
            "list",
            "changes with which it passes: edits, function, whether every neighbour is kept",
            required=True,
        ),
        Result("left_out", "integer", "functions with such a change that the list has no room for"),
        Result("functions", "list", "suspect functions after the search, best first", required=True),
        Result("statements", "list", "suspect statements after the search, best first", required=True),
        Result("by_status", "object", "how many changes ended how", required=True),
        Result("problem", "text", "why the search could not run"),
    ),
    reaches=("files", "processes"),
    echoes=("test",),
    test_runs=1,
)


@dataclass(frozen=True)
class SearchChanges:
    """Searches in one engine."""

    engine: Engine
    settings: Mapping[str, Json]
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        test, most = str(request.input["test"]), request.input["most"]
        began = time.monotonic()
        asked = most if type(most) is int else 300
        reserved = CONFIRMATIONS * runs_needed(request.prior_tries + asked)
        wanted = min(asked, request.test_runs - reserved)
        if wanted < 1:
            return Declined(
                f"{request.test_runs} test runs are left, and confirming what is found takes up to {reserved}",
                "allow more with --test-runs",
            )
        setting = self.settings.get("seconds", 120)
        known = self.engine.studied(test)
        seconds = min(float(setting) if type(setting) is int else 120.0, request.seconds / 2)
        limits = MutantLimits(
            seconds=seconds,
            cpu_seconds=min(max(CPU_SECONDS, TARGET_RUNS * self._bare(test, seconds)), request.cpu_seconds / 2),
            jobs=self.engine.jobs,
        )
        study, search = self.engine.search(test, wanted, limits)
        tracing = 0.0 if known else study.trace.cpu_seconds
        spent = Spend(
            seconds=time.monotonic() - began,
            cpu_seconds=search.cpu_seconds + tracing,
            test_runs=len(search.verdicts) + search.patched + (1 if known else 3),
        )
        return Observation(_fields(test, study, search, self.engine.sources), _words(search, study), spent=spent)

    def _bare(self, test: str, seconds: float) -> float:
        """CPU seconds of one unchanged run of the test itself."""
        return self.engine.study(test, seconds).trace.cpu


def _fields(test: str, study: Study, search: Search, sources: Sources) -> dict[str, object]:
    counts: dict[str, Json] = {}
    for verdict in search.verdicts:
        counts[verdict.status] = int(str(counts.get(verdict.status, 0))) + 1
    flips = search.best
    return {
        "test": test,
        "baseline": search.baseline,
        "tries": len(search.verdicts),
        "clean": len(search.clean),
        "best": flip_words(flips[0]) if flips else "",
        "flips": [flip_row(flip, sources) for flip in chosen(search)],
        "left_out": left_out(search),
        "functions": suspect_rows(study.ranking.functions),
        "statements": suspect_rows(study.ranking.statements),
        "by_status": counts,
        "problem": visible(search.problem[:1500]),
    }


def _words(search: Search, study: Study) -> str:
    if search.problem:
        return visible(search.problem[:600])
    rows = [flip_words(flip) for flip in chosen(search)]
    found = rows or [f"none of {len(search.verdicts)} changes turns the test green"]
    return "\n".join([*found, "suspects after that:", suspect_words(study.ranking.functions)])
