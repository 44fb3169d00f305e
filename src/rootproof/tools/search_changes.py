"""``search_changes``: try many small changes of the suspects in a live process; list those that turn the test green.

A flip found here says where to look. It confirms nothing: only ``try_change`` does, in cold processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rootproof.canonical import Json
from rootproof.experiments.change import Change, Refused
from rootproof.experiments.engine import Engine
from rootproof.experiments.mutants import Flip, MutantLimits, Search
from rootproof.experiments.owners import owners
from rootproof.experiments.sources import Sources
from rootproof.text import visible
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

SHOWN = 12
RESERVED_RUNS = 250
"""Test runs that a search leaves for the confirmation of what it finds."""

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
        Result(
            "flips",
            "list",
            "changes with which it passes: edits, function, whether every neighbour is kept",
            required=True,
        ),
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
        setting = self.settings.get("seconds", 120)
        seconds = min(float(setting) if type(setting) is int else 120.0, request.seconds / 2)
        limits = MutantLimits(
            seconds=seconds,
            cpu_seconds=min(seconds, request.cpu_seconds / 2),
            jobs=self.engine.jobs,
        )
        wanted = min(most if type(most) is int else 300, max(request.test_runs - RESERVED_RUNS, 1))
        study, search = self.engine.search(test, wanted, limits)
        spent = Spend(
            seconds=time.monotonic() - began,
            cpu_seconds=search.mutants_cpu + study.trace.cpu_seconds,
            test_runs=len(search.verdicts) + 1,
        )
        return Observation(_fields(test, search, self.engine.sources), _words(search), spent=spent)


def _fields(test: str, search: Search, sources: Sources) -> dict[str, object]:
    counts: dict[str, Json] = {}
    for verdict in search.verdicts:
        counts[verdict.status] = int(str(counts.get(verdict.status, 0))) + 1
    return {
        "test": test,
        "baseline": search.baseline,
        "tries": len(search.verdicts),
        "flips": [_row(flip, sources) for flip in best(search.flips)[:SHOWN]],
        "by_status": counts,
        "problem": visible(search.problem[:1500]),
    }


def best(flips: tuple[Flip, ...]) -> list[Flip]:
    """Clean flips first, then by how few neighbours broke; of each place one before the second of another.

    Else in the order they were tried. No place with a clean flip is left out for more flips of another one.
    """
    seen: dict[tuple[str, bool], int] = {}
    rated: list[tuple[bool, int, int, Flip]] = []
    for flip in flips:
        turn = seen[flip.function, flip.clean] = seen.get((flip.function, flip.clean), 0) + 1
        rated.append((not flip.clean, len(flip.broken), turn, flip))
    return [flip for *_, flip in sorted(rated, key=lambda entry: entry[:3])]


def _row(flip: Flip, sources: Sources) -> dict[str, object]:
    return {
        "edits": [
            {"path": edit.file, "start": edit.first, "end": edit.last, "text": edit.new} for edit in flip.change.edits
        ],
        "function": flip.function,
        "places": places(flip.change, sources),
        "operator": flip.change.operator,
        "clean": flip.clean,
        "kept": flip.kept,
        "broken": len(flip.broken),
        "unfinished": not flip.clean and not flip.broken,
        "note": visible(flip.change.note[:160]),
    }


def places(change: Change, sources: Sources) -> list[str]:
    """``file::function`` of each place a change lies in, as a confirmation names them."""
    old = {file: sources.read(file) for file in change.files}
    new = change.apply(old)
    if isinstance(new, Refused):
        return []
    return sorted({owner.key for group in owners(change, old, new).values() for owner in group})


def _words(search: Search) -> str:
    rows = [
        f"{'clean' if flip.clean else f'{len(flip.broken)} broken'}: {flip.function}: {flip.change.note[:120]}"
        for flip in best(search.flips)[:SHOWN]
    ]
    return visible("\n".join(rows) or f"none of {len(search.verdicts)} changes turns the test green")
