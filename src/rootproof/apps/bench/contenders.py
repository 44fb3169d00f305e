"""The contenders of a benchmark: a whole diagnosis by a model, and the engine's own ranking without one."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rootproof.apps.bench import children
from rootproof.apps.bench.prepare import Prepared
from rootproof.apps.bench.score import Answer, Place
from rootproof.experiments.engine import Engine, Study
from rootproof.experiments.mutants import MutantLimits, Search
from rootproof.experiments.sources import Sources
from rootproof.experiments.suspects import Suspect
from rootproof.experiments.trace import Subject
from rootproof.sandbox.interface import Sandbox

KEPT = 100
"""Suspects of each list that are kept with an answer."""
SEARCHED = 600


@dataclass(frozen=True)
class Terms:
    """What one case may cost, and how it is contained."""

    seconds: float
    jobs: int
    containment: str = "best"
    trusted: bool = False


def test_files(prepared: Prepared) -> tuple[str, ...]:
    """The failing tests' files first, then the other test files of the suite."""
    root = prepared.root
    own = prepared.case.test_files
    found: list[str] = []
    for argument in prepared.case.suite_args:
        place = root / argument
        paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        found += [str(p.relative_to(root)) for p in paths if p.name.startswith("test_") or p.stem.endswith("_test")]
    return tuple(dict.fromkeys((*own, *found)))


def engine_of(prepared: Prepared, sandbox: Sandbox, jobs: int) -> Engine:
    """The engine over one prepared case."""
    prefix = (prepared.python.parent.parent, prepared.python.resolve().parent.parent)
    subject = Subject(prepared.root, prepared.python, prepared.env, prefix)
    return Engine(lambda test: subject, sandbox, test_files(prepared), Sources(prepared.root), jobs)


def engine_answer(prepared: Prepared, engine: Engine, terms: Terms) -> tuple[Answer, Study]:
    """Trace, search, rank anew. It concludes nothing, so it always abstains."""
    case = prepared.case
    target = case.failing_tests[0]
    began, before = time.monotonic(), children_cpu() + time.process_time()
    study = engine.study(target, terms.seconds / 2)
    limits = MutantLimits(seconds=terms.seconds / 2, cpu_seconds=60.0, jobs=terms.jobs)
    studied, search = engine.search(target, SEARCHED, limits)
    answer = Answer(
        case=case.id,
        contender="engine",
        ran=study.trace.status in ("failed", "error"),
        functions=places(studied.ranking.functions),
        statements=places(studied.ranking.statements),
        cpu_seconds=children_cpu() + time.process_time() - before,
        seconds=time.monotonic() - began,
        why=flips_in_words(search),
    )
    return with_rates(answer, search), study


def with_rates(answer: Answer, search: Search) -> Answer:
    """Mutants that were put into a live process, and their cost beyond the bare runs."""
    live = [v for v in search.verdicts if v.how == "swap" and v.status != "invalid"]
    beyond = sum(verdict.cpu for verdict in live) - search.bare_cpu * len(live)
    return replace(answer, mutants=len(live), mutants_cpu=max(beyond, 0.0))


def flips_in_words(search: Search) -> str:
    clean = [f"{flip.function} ({flip.change.operator})" for flip in search.clean]
    found = f"{len(search.verdicts)} changes, {len(search.flips)} flips, {len(clean)} clean"
    return search.problem[-200:] or (f"{found}: {', '.join(dict.fromkeys(clean))}"[:300] if clean else found)


def places(suspects: Sequence[Suspect]) -> tuple[Place, ...]:
    return tuple(Place(s.file, s.function, s.first, s.last, s.rank) for s in suspects[:KEPT])


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def diagnosis_answer(prepared: Prepared, model: str, terms: Terms, kept: Path) -> Answer:
    """``rootproof diagnose`` of the case's first test, as a user would run it; read back from its ledger.

    Args:
        kept: folder for the ledger, made anew; it stays, so that a result can be looked into.
    """
    case = prepared.case
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    began = time.monotonic()
    store = kept / "runs.sqlite"
    argv = [sys.executable, "-m", "rootproof", "diagnose", case.failing_tests[0], "--json", "--runner", "pytest"]
    argv += ["--root", str(prepared.root), "--python", str(prepared.python), "--store", str(store)]
    argv += ["--model", model, "--seconds", f"{terms.seconds:g}", *contained(terms)]
    answer = Answer(case.id, model, False)
    done = children.run(argv, terms.seconds * 1.5 + 60)
    (kept / "outcome.json").write_bytes(done.stdout)
    (kept / "said.txt").write_bytes(done.stderr)
    if done.late:
        answer = replace(answer, why="did not end in time")
    else:
        answer = read_outcome(answer, done.stdout, done.stderr.decode("utf-8", "replace"))
        if answer.ran:
            seen = observations(store)
            answer = with_places(with_suspects(answer, seen), seen, Sources(prepared.root))
    return replace(answer, cpu_seconds=done.cpu_seconds, seconds=time.monotonic() - began)


def contained(terms: Terms) -> list[str]:
    return ["--containment", terms.containment, *(["--trust-this-repository"] if terms.trusted else [])]


def verified(prepared: Prepared, answer: Answer, terms: Terms, kept: Path) -> Answer:
    """The accepted report re-checked by ``rootproof verify`` on a set-up of its own; other answers as they are."""
    if answer.status != "success":
        return answer
    report = kept / "report.json"
    command = [sys.executable, "-m", "rootproof"]
    written = [*command, "report", "last", "--store", str(kept / "runs.sqlite"), "--out", str(report)]
    checked = [*command, "verify", str(report), "--repo", str(prepared.root), "--python", str(prepared.python)]
    limit = terms.seconds * 1.5 + 60
    said = children.run(written, limit)
    done = children.run([*checked, *contained(terms)], limit)
    (kept / "verified.txt").write_bytes(said.stderr + done.stdout + done.stderr)
    return replace(answer, verified=not done.late and done.status == 0)


def read_outcome(answer: Answer, stdout: bytes, stderr: str) -> Answer:
    """Status, grade and the conclusion's spans out of the outcome's JSON."""
    try:
        outcome = json.loads(stdout)[0]
    except (ValueError, LookupError):
        lines = [line for line in stderr.splitlines() if line.strip()]
        return replace(answer, why=" | ".join(lines[-3:])[-400:] or "said nothing")
    values = {name: fact.get("value") for name, fact in (outcome.get("facts") or {}).items()}
    return replace(
        answer,
        ran=True,
        status=str(outcome.get("status")),
        grade=str(values.get("cause_grade") or ""),
        concluded=tuple(concluded(str(values.get("cause_lies_in") or ""))),
        why=str(outcome.get("reason") or "")[:300],
    )


def concluded(said: str) -> list[tuple[str, str]]:
    """(file, function) pairs of the conclusion; the fact writes each as ``file::function``."""
    names = [part.partition("::") for part in said.split("; ") if part]
    return [(file, function) for file, _, function in names]


def observations(store: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """(tool, fields) of every observation in the last run of a store."""
    from rootproof import assemble
    from rootproof.event import Observed

    opened = assemble.open_store(store, read_only=True)
    events = [stored.event for stored in opened.events(opened.find("last"))]
    return [(e.tool, e.fields) for e in events if isinstance(e, Observed) and isinstance(e.fields, Mapping)]


def with_suspects(answer: Answer, seen: Sequence[tuple[str, Mapping[str, Any]]]) -> Answer:
    """The last lists of suspects that the run was shown."""
    found: dict[str, tuple[Place, ...]] = {"functions": (), "statements": ()}
    for tool, fields in seen:
        for name in found:
            rows = fields.get(name)
            if tool in ("trace_test", "search_changes") and isinstance(rows, list) and rows:
                found[name] = tuple(Place(r["path"], r["function"], r["first"], r["last"], r["rank"]) for r in rows)
    tries = sum(fields.get("tries", 0) for tool, fields in seen if tool == "search_changes")
    return replace(answer, functions=found["functions"], statements=found["statements"], mutants=tries)


def with_places(answer: Answer, seen: Sequence[tuple[str, Mapping[str, Any]]], sources: Sources) -> Answer:
    """The conclusion's functions as the manifest names them: a place in a class's or module's own body has no name
    of its own there, and a function inside another one has."""
    said = "; ".join("::".join(pair) for pair in answer.concluded)
    found = dict.fromkeys(answer.concluded)
    for tool, fields in seen:
        if tool == "try_change" and fields.get("verdict") == "supported" and fields.get("place") == said:
            for span in fields.get("spans", ()):
                lines = range(span["first"], max(span["last"], span["first"]) + 1)
                inside = [sources.function(span["path"], line) for line in lines]
                found.update(dict.fromkeys(function.key for function in inside if function is not None))
    return replace(answer, concluded=tuple(found))
