"""Does a change put into a live process tell the same as a fresh process? And how many changes a CPU second?

    python benchmarks/mutants.py MANIFEST --work FOLDER [--case ID ...] [--mutants 500]

For cases of a bench manifest the same changes are tried twice: swapped into live code, and each in a fresh process.
Every difference is printed. Exit 1 below 99.5 % agreement or 25 changes a CPU second beyond the bare test.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rootproof import assemble
from rootproof.apps.bench.contenders import engine_of
from rootproof.apps.bench.manifest import Case, load
from rootproof.apps.bench.prepare import Prepared, prepare
from rootproof.apps.cli.options import options
from rootproof.contract import Policy
from rootproof.experiments.engine import Engine
from rootproof.experiments.mutants import Mutant, MutantLimits, Search, mutants_command, read_search, swap_blocks
from rootproof.experiments.plan import plan
from rootproof.sandbox.interface import Sandbox

AGREEMENT = 0.995
A_CPU_SECOND = 25.0
LIMITS = MutantLimits(seconds=1800, cpu_seconds=3000, stop_flips=10**6, stop_functions=10**6)


def search(engine: Engine, test: str, mutants: Sequence[Mutant]) -> Search:
    study = engine.study(test, 240)
    with tempfile.TemporaryDirectory() as scratch:
        subject = engine.subject(test)
        command = mutants_command(subject, study.trace, mutants, engine.sources, Path(scratch), LIMITS)
        return read_search(engine.sandbox.run(command), mutants)


def compare(case: Case, work: Path, interpreter: Path, most: int, sandbox: Sandbox) -> dict[str, object]:
    """One case both ways."""
    prepared = prepare(case, work, interpreter)
    if not isinstance(prepared, Prepared):
        return {"case": case.id, "problem": prepared.reason}
    engine = engine_of(prepared, sandbox, 1)
    test = case.failing_tests[0]
    study = engine.study(test, 240)
    every = plan(study.trace, study.spectrum, study.ranking, engine.sources, 4 * most)
    live = [replace(m, neighbours=m.neighbours[:3]) for m in every if not m.at_import]
    live = [mutant for mutant in live if swap_blocks(mutant.change, engine.sources) is not None][:most]
    swapped = search(engine, test, live)
    fresh = search(engine, test, [replace(mutant, at_import=True) for mutant in live])
    cold = {verdict.mutant: verdict for verdict in fresh.verdicts}
    differing = []
    for verdict in swapped.verdicts:
        other = cold.get(verdict.mutant)
        if other is not None and (verdict.status, verdict.clean) != (other.status, other.clean):
            change = live[verdict.mutant].change
            differing.append(
                f"{change.edits[0].file}:{change.edits[0].first} {change.note}: {verdict.status}/{other.status}"
            )
    compared = sum(verdict.mutant in cold for verdict in swapped.verdicts)
    used = [verdict for verdict in swapped.verdicts if verdict.how == "swap"]
    beyond = sum(verdict.cpu for verdict in used) - swapped.bare_cpu * len(used)
    return {
        "case": case.id,
        "compared": compared,
        "differing": differing,
        "live": len(used),
        "cpu_beyond_bare": round(max(beyond, 0.0), 3),
        "cpu_each_live": round(swapped.mutants_cpu / max(len(swapped.verdicts), 1), 4),
        "cpu_each_fresh": round(fresh.mutants_cpu / max(len(fresh.verdicts), 1), 4),
        "bare": round(swapped.bare_cpu, 4),
        "problem": swapped.problem or fresh.problem,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    asked = parser.parse_args()
    cases = [case for case in load(asked.manifest) if not asked.case or case.id in asked.case]
    if not asked.case:
        first: dict[str, Case] = {}
        for case in cases:
            first.setdefault(case.package, case)
        cases = list(first.values())[:3]
    share = -(-asked.mutants // len(cases))
    flags = options(store=None, model="detective", containment="best", trusted=False)
    sandbox = assemble.choose_sandbox(Policy(), asked.work, flags)
    results = []
    for case in cases:
        results.append(compare(case, asked.work, asked.python, share, sandbox))
        print(json.dumps(results[-1]), flush=True)
    compared = sum(int(str(r.get("compared", 0))) for r in results)
    differing = sum(len(r["differing"]) for r in results if isinstance(r.get("differing"), list))
    agreement = 1 - differing / compared if compared else 0.0
    live = sum(int(str(r.get("live", 0))) for r in results)
    beyond = sum(float(str(r.get("cpu_beyond_bare", 0))) for r in results)
    rate = live / beyond if beyond > 0 else float("inf")
    print(json.dumps({"compared": compared, "agreement": agreement, "per_cpu_second_beyond_bare": round(rate, 1)}))
    return 0 if agreement >= AGREEMENT and rate >= A_CPU_SECOND else 1


if __name__ == "__main__":
    raise SystemExit(main())
