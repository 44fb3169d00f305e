"""The peers on the same cases: a plain Ochiai of our own, and FauxPy 0.7.0 as a user would run it."""

from __future__ import annotations

import csv
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rootproof.apps.bench import children
from rootproof.apps.bench.manifest import Case
from rootproof.apps.bench.prepare import Prepared, SetupFailed, prepare
from rootproof.apps.bench.score import Answer, Place
from rootproof.experiments.sources import Module, Sources
from rootproof.experiments.spectrum import Spectrum, mean_ranks, plain_ochiai
from rootproof.sandbox.interrupt import scratch_folder

FAUXPY = "fauxpy==0.7.0"


def ochiai_answer(case: Case, found: Spectrum, sources: Sources) -> Answer:
    """The textbook ranking on the spectrum our own contender used."""
    statements, functions = plain_ochiai(found)
    ranks, function_ranks = mean_ranks(statements), mean_ranks(functions)
    spans = found.failing
    return Answer(
        case=case.id,
        contender="ochiai",
        ran=True,
        functions=tuple(Place(file, name, 0, 0, rank) for (file, name), rank in function_ranks.items()),
        statements=tuple(
            Place(file, spans[file, line].function, line, spans[file, line].last, rank)
            for (file, line), rank in ranks.items()
        ),
    )


def fauxpy_answer(prepared: Prepared, work: Path, interpreter: Path, seconds: float) -> Answer:
    """FauxPy's SBFL over the failing tests' files; its Ochiai scores. A failure of it is a miss, with its words."""
    case = prepared.case
    missing = Answer(case.id, "fauxpy", False)
    environment = prepare(case, work, interpreter, FAUXPY)
    if isinstance(environment, SetupFailed):
        return replace(missing, why=environment.reason[-300:])
    began, before = time.monotonic(), _children_cpu()
    places: dict[str, tuple[Place, ...]] = {}
    for granularity in ("function", "statement"):
        with scratch_folder("rootproof-fauxpy-") as scratch:
            tree = scratch / "tree"
            shutil.copytree(prepared.root, tree)
            scores, problem = _run(prepared, environment.python, tree, granularity, seconds / 2)
            if problem:
                return replace(missing, seconds=time.monotonic() - began, why=problem)
            places[granularity] = _places(scores, granularity, Sources(prepared.root))
    return Answer(
        case=case.id,
        contender="fauxpy",
        ran=bool(places["function"] or places["statement"]),
        functions=places["function"],
        statements=places["statement"],
        cpu_seconds=_children_cpu() - before,
        seconds=time.monotonic() - began,
        why="" if places["statement"] else "no entity with a score above 0",
    )


def _run(
    prepared: Prepared, python: Path, tree: Path, granularity: str, seconds: float
) -> tuple[dict[str, float], str]:
    """FauxPy's Ochiai scores by its own entity names, or what went wrong."""
    case = prepared.case
    package = _package(case, prepared)
    # It knows tests without their parameters only; with them none of the listed is found failing.
    failing = "[" + ",".join(dict.fromkeys(test.partition("[")[0] for test in case.failing_tests)) + "]"
    argv = [str(python), "-m", "pytest", "-q", "-o", "addopts=", *case.test_files, "--src", package]
    argv += ["--family", "sbfl", "--granularity", granularity, "--top-n", "-1", "--failing-list", failing]
    env = {**_plain_environment(), **prepared.env}
    env["PYTHONPATH"] = env["PYTHONPATH"].replace(str(prepared.root), str(tree))
    done = children.run(argv, seconds, cwd=tree, env=env)
    if done.late:
        return {}, "timeout"
    reports = sorted(tree.parent.rglob("Scores_*chiai*.csv"))
    if not reports:
        lines = [line for line in (done.stdout + done.stderr).decode("utf-8", "replace").splitlines() if line.strip()]
        return {}, f"no report: {' | '.join(lines[-3:])[-250:]}"
    with reports[0].open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 2]
    scores: dict[str, float] = {}
    for row in rows:
        try:
            scores[row[0]] = float(row[1])
        except ValueError:
            continue  # the header
    relative = re.escape(str(tree)) + "/"
    return {re.sub(relative, "", name): value for name, value in scores.items() if value > 0}, ""


def _places(scores: Mapping[str, float], granularity: str, sources: Sources) -> tuple[Place, ...]:
    """FauxPy names a statement ``file::line`` and a function ``file::name::first::last``."""
    ranks = mean_ranks(dict(scores))
    places: list[Place] = []
    for name, rank in ranks.items():
        file, *rest = name.split("::")
        numbers = [int(part) for part in rest if part.isdigit()]
        if not numbers:
            continue
        module = sources.module(file)
        statement = module.by_line.get(numbers[0]) if module else None
        if granularity == "statement":
            places.append(Place(file, statement.function if statement else "", numbers[0], numbers[0], rank))
            continue
        places.append(Place(file, _qualified(module, rest[0], numbers[-1]), numbers[0], numbers[-1], rank))
    return tuple(places)


def _qualified(module: Module | None, name: str, last: int) -> str:
    """The qualified name of the function so named that ends at a line; a class may end there too."""
    functions = module.functions.values() if module else ()
    fitting = (f.name for f in functions if f.is_function and f.last == last and f.name.rsplit(".", 1)[-1] == name)
    return next(fitting, name)


def _package(case: Case, prepared: Prepared) -> str:
    inside = prepared.import_path[0].relative_to(prepared.root)
    name = case.module.replace(".", "/")
    place = inside / name if (prepared.root / inside / name).is_dir() else inside / f"{name}.py"
    return str(place)


def _plain_environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "HOME": tempfile.gettempdir(), "PYTHONDONTWRITEBYTECODE": "1"}


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("process groups are needed")
