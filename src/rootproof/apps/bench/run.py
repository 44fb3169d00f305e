"""Runs a manifest: every case, every contender, results kept one a line so that a stopped run goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof.apps.bench.contenders import Terms, diagnosis_answer, engine_answer, engine_of
from rootproof.apps.bench.manifest import Case
from rootproof.apps.bench.peers import fauxpy_answer, ochiai_answer
from rootproof.apps.bench.prepare import Prepared, SetupFailed, prepare
from rootproof.apps.bench.score import Answer, Score, as_json, from_json, rates, score, summary
from rootproof.sandbox.interface import Sandbox


@dataclass(frozen=True)
class Bench:
    """One benchmark: what runs where."""

    model: str
    """``engine``: ranking alone; anything else: a diagnosis by that model."""
    work: Path
    """Downloads, trees, environments and results."""
    interpreter: Path
    sandbox: Sandbox
    terms: Terms
    jobs: int = 1
    """Cases side by side."""
    peers: tuple[str, ...] = ("ochiai", "fauxpy")
    tell: Callable[[str], None] = print

    @property
    def results(self) -> Path:
        return self.work / "results" / f"{self.model.replace('/', '_').replace(':', '_')}.jsonl"


def run(bench: Bench, cases: Sequence[Case]) -> list[Answer]:
    """Every answer that is not known yet; a result of an earlier run of the same bench is kept."""
    known = {(answer.case, answer.contender): answer for answer in kept(bench.results)}
    bench.results.parent.mkdir(parents=True, exist_ok=True)
    lock = threading.Lock()

    def keep(answer: Answer) -> None:
        with lock:
            known[answer.case, answer.contender] = answer
            with bench.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(as_json(answer)) + "\n")

    def one(case: Case) -> None:
        missing = [name for name in (bench.model, *bench.peers) if (case.id, name) not in known]
        for answer in answers(bench, case, missing) if missing else ():
            keep(answer)
            bench.tell(in_a_line(score(case, answer)))

    with ThreadPoolExecutor(max(bench.jobs, 1)) as pool:
        list(pool.map(one, cases))
    wanted = {case.id for case in cases}
    return [answer for answer in known.values() if answer.case in wanted]


def answers(bench: Bench, case: Case, contenders: Sequence[str]) -> list[Answer]:
    """One case, set up once for all contenders. What fails is an answer that did not run."""
    prepared = prepare(case, bench.work, bench.interpreter)
    if isinstance(prepared, SetupFailed):
        return [Answer(case.id, name, False, why=f"set-up: {prepared.reason}") for name in contenders]
    found: list[Answer] = []
    if bench.model in contenders and bench.model != "engine":
        found.append(diagnosis_answer(prepared, bench.model, bench.terms))
    if {"engine", "ochiai"} & set(contenders):
        found += _ranked(bench, prepared, contenders)
    if "fauxpy" in contenders:
        found.append(fauxpy_answer(prepared, bench.work, bench.interpreter, bench.terms.seconds))
    return found


def _ranked(bench: Bench, prepared: Prepared, contenders: Sequence[str]) -> list[Answer]:
    """The engine's answer and the plain Ochiai on the very same spectrum."""
    engine = engine_of(prepared, bench.sandbox, bench.terms.jobs)
    found: list[Answer] = []
    if "engine" in contenders:
        answer, study = engine_answer(prepared, engine, bench.terms)
        found.append(answer)
    else:
        study = engine.study(prepared.case.failing_tests[0], bench.terms.seconds)
    if "ochiai" in contenders:
        found.append(ochiai_answer(prepared.case, study.spectrum, engine.sources))
    return found


def kept(results: Path) -> list[Answer]:
    """Answers of an earlier run; a line that was cut off by its end is left out."""
    if not results.is_file():
        return []
    found: list[Answer] = []
    for line in results.read_text("utf-8").splitlines():
        try:
            found.append(from_json(json.loads(line)))
        except (ValueError, TypeError, KeyError):
            continue
    return found


def document(bench: Bench, cases: Sequence[Case], found: Sequence[Answer]) -> dict[str, Any]:
    """Everything as JSON; ``summary`` is the model's own, ``peers`` the others'."""
    by_id = {case.id: case for case in cases}
    groups: dict[str, list[Answer]] = {}
    for answer in found:
        groups.setdefault(answer.contender, []).append(answer)
    scores = {name: [score(by_id[a.case], a) for a in group] for name, group in groups.items()}
    own = groups.get(bench.model, [])
    return {
        "schema": "rootproof/bench/1",
        "model": bench.model,
        "summary": {**summary(scores.get(bench.model, [])), **rates(own)},
        "peers": {name: summary(group) for name, group in scores.items() if name != bench.model},
        "cases": [vars(s) for group in scores.values() for s in group],
    }


def in_a_line(found: Score) -> str:
    """One score for the terminal."""
    if not found.ran:
        return f"{found.case:40} {found.contender:10} did not run: {found.why[:120]}"
    ranks = [f"{rank:g}" if rank is not None else "-" for rank in (found.function_rank, found.statement_rank)]
    end = f"grade {found.grade}, {'right' if found.right else 'WRONG'}" if found.accepted else found.why[:90]
    cost = f"{found.cpu_seconds:6.1f} CPU s {found.seconds:6.1f} s"
    return f"{found.case:40} {found.contender:10} function {ranks[0]:>5} statement {ranks[1]:>6} {cost}  {end}"
