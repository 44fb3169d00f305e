"""Runs a manifest: every case, every contender, results kept one a line so that a stopped run goes on."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rootproof.apps.bench.contenders import Terms, diagnosis_answer, engine_answer, engine_of, verified
from rootproof.apps.bench.manifest import Case
from rootproof.apps.bench.peers import fauxpy_answer, ochiai_answer
from rootproof.apps.bench.prepare import Prepared, SetupFailed, prepare
from rootproof.apps.bench.score import Answer, Score, as_json, from_json, rates, score, summary
from rootproof.sandbox.interface import Sandbox
from rootproof.sandbox.side_by_side import side_by_side


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

    @property
    def peer_results(self) -> Path:
        """What the peers said does not depend on the model, and is asked for once."""
        return self.work / "results" / "peers.jsonl"


def run(bench: Bench, cases: Sequence[Case]) -> list[Answer]:
    """Every answer that is not known yet; a result of an earlier run of the same bench is kept."""
    before = [*kept(bench.peer_results), *kept(bench.results)]
    wanted = {case.id: case for case in cases}
    known = {(a.case, a.contender): a for a in before if a.contender in (bench.model, *bench.peers)}
    bench.results.parent.mkdir(parents=True, exist_ok=True)
    lock = threading.Lock()

    def keep(answer: Answer) -> None:
        with lock:
            known[answer.case, answer.contender] = answer
            place = bench.results if answer.contender == bench.model else bench.peer_results
            with place.open("a", encoding="utf-8") as file:
                file.write(json.dumps(as_json(answer)) + "\n")

    def one(case: Case) -> None:
        missing = [name for name in (bench.model, *bench.peers) if (case.id, name) not in known]
        for answer in answers(bench, case, missing) if missing else ():
            keep(answer)
            bench.tell(in_a_line(score(case, answer)))

    side_by_side([partial(one, case) for case in cases], max(bench.jobs, 1))
    return [answer for answer in known.values() if answer.case in wanted]


def answers(bench: Bench, case: Case, contenders: Sequence[str]) -> list[Answer]:
    """One case, set up once for all contenders. What fails is an answer that did not run."""
    prepared = prepare(case, bench.work, bench.interpreter)
    if isinstance(prepared, SetupFailed):
        return [Answer(case.id, name, False, why=f"set-up: {prepared.reason}") for name in contenders]
    found: list[Answer] = []
    if bench.model in contenders and bench.model != "engine":
        kept = bench.work / "ledgers" / bench.results.stem / case.id
        answer = diagnosis_answer(prepared, bench.model, bench.terms, kept)
        found.append(_checked(bench, case, answer, kept))
    if {"engine", "ochiai"} & set(contenders):
        found += _ranked(bench, prepared, contenders)
    if "fauxpy" in contenders:
        found.append(fauxpy_answer(prepared, bench.work, bench.interpreter, bench.terms.seconds))
    return found


def _checked(bench: Bench, case: Case, answer: Answer, kept: Path) -> Answer:
    """An accepted answer with what a second set-up, made for this alone and thrown away, says of its report."""
    if answer.status != "success":
        return answer
    with tempfile.TemporaryDirectory(dir=bench.work, prefix="again-") as fresh:
        (Path(fresh) / "downloads").symlink_to(bench.work / "downloads")
        again = prepare(case, Path(fresh), bench.interpreter)
        if isinstance(again, SetupFailed):
            return replace(answer, verified=False)
        return verified(again, answer, bench.terms, kept)


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
        plain = ochiai_answer(prepared.case, study.spectrum, engine.sources)
        found.append(replace(plain, cpu_seconds=study.trace.cpu_seconds, seconds=study.trace.seconds))
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
