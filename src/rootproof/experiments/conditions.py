"""Causes that are not in the code: the order of tests, the environment, chance. Interleaved cold pairs, nothing else.

* ``order``: with a set of predecessors the target fails, without it passes; the set is reduced by delta debugging.
* ``environment``: one variable, locale, zone or seed changed and everything else equal.
* ``flaky``: both outcomes under one tree and equal conditions, with counts and an interval for the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rootproof.experiments.cold import Cold, Wanted
from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.controls import pairs_needed
from rootproof.experiments.record import Run
from rootproof.experiments.reduce import ddmin
from rootproof.interval import wilson

FLAKY_RUNS = 12
KINDS = ("order", "environment", "flaky")


@dataclass(frozen=True)
class Condition:
    """One examination of a target under two conditions."""

    target: str
    kind: str
    tree: str
    tries: int = 1
    predecessors: tuple[str, ...] = ()
    """For ``order``: the reduced set, in the order it runs."""
    variable: tuple[str, str] = ("", "")
    """For ``environment``: name and the value under which the target is said to fail."""
    runs: tuple[Run, ...] = ()
    stopped: str = ""

    def of(self, stage: str) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.stage == stage)


def flaky(cold: Cold, target: str, tree: str, tries: int = 1) -> Condition:
    """Run the target again and again under equal conditions, up to :data:`FLAKY_RUNS` times."""
    runs: list[Run] = []
    for _ in range(FLAKY_RUNS):
        short = cold.meter.short(1, runs[0].seconds if runs else 0.0)
        if short:
            return Condition(target, "flaky", tree, tries, runs=tuple(runs), stopped=short)
        runs.append(cold.run(Wanted("repeat", "unchanged", (target,), seed=0)))
    return Condition(target, "flaky", tree, tries, runs=tuple(runs))


def order(cold: Cold, target: str, tree: str, before: Sequence[str], tries: int = 1) -> Condition:
    """Reduce the tests that run before the target to those that make it fail, then pair with and without them."""
    state = Condition(target, "order", tree, tries)
    runs: list[Run] = []

    def fails(chosen: Sequence[str]) -> bool:
        run = cold.run(_ordered("reduce", "with", (*chosen, target), target))
        runs.append(run)
        return _failed(run, target)

    if not before or not fails(before):
        return replace(state, runs=tuple(runs))
    short = cold.meter.short(2 * pairs_needed(tries) + len(before), runs[0].seconds)
    if short:
        return replace(state, runs=tuple(runs), stopped=short)
    kept = tuple(ddmin(before, fails))
    state = replace(state, predecessors=kept, runs=tuple(runs))
    for number in range(pairs_needed(tries)):
        seed = number + 1
        first = cold.run(replace(_ordered("pair", "with", (*kept, target), target), seed=seed))
        second = cold.run(Wanted("pair", "without", (target,), (target,), seed=seed))
        state = replace(state, runs=(*state.runs, first, second))
        if not _failed(first, target) or not second.passed(target):
            break
    return state


def environment(cold: Cold, target: str, tree: str, variable: tuple[str, str], tries: int = 1) -> Condition:
    """Pair the target with one variable set and without it, everything else equal."""
    state = Condition(target, "environment", tree, tries, variable=variable)
    for number in range(pairs_needed(tries)):
        short = cold.meter.short(2, state.runs[0].seconds if state.runs else 0.0)
        if short:
            return replace(state, stopped=short)
        seed = number + 1
        first = cold.run(Wanted("pair", "with", (target,), seed=seed, environment=(variable,)))
        second = cold.run(Wanted("pair", "without", (target,), seed=seed))
        state = replace(state, runs=(*state.runs, first, second))
        if _outcomes(first, second, target) not in (("failed", "passed"), ("passed", "failed")):
            break
    return state


def _ordered(stage: str, variant: str, tests: tuple[str, ...], target: str) -> Wanted:
    return Wanted(stage, variant, tests, tests, told=(target,))


def _failed(run: Run, target: str) -> bool:
    outcome = run.outcome(target)
    return outcome is not None and outcome.failed


def _outcomes(first: Run, second: Run, target: str) -> tuple[str, str]:
    return _word(first, target), _word(second, target)


def _word(run: Run, target: str) -> str:
    return "passed" if run.passed(target) else "failed" if _failed(run, target) else "neither"


def judge_condition(seen: Condition) -> Verdict:
    """What follows from the runs. Pure."""
    if seen.kind == "flaky":
        return _judge_flaky(seen)
    pairs = seen.of("pair")
    needed = pairs_needed(seen.tries)
    if len(pairs) < 2 * needed and not pairs:
        return Verdict(
            "inconclusive",
            "budget" if seen.stopped else "not_reproduced",
            seen.stopped or "the order does not make it fail",
        )
    words = [_outcomes(a, b, seen.target) for a, b in zip(pairs[::2], pairs[1::2], strict=False)]
    if not _well_paired(pairs, seen):
        return Verdict("inconclusive", "pairs", "the runs of a pair differ in more than the condition")
    if len(set(words)) == 1 and len(words) >= needed and words[0] in (("failed", "passed"), ("passed", "failed")):
        if seen.kind == "order" and words[0] != ("failed", "passed"):
            return Verdict("refuted", "pairs", "the target fails without the predecessors")
        return Verdict("supported", seen.kind, f"{len(words)} of {len(words)} pairs: {_said(seen)}", "A")
    if ("passed", "passed") in words or ("failed", "failed") in words:
        return Verdict("refuted", "pairs", "the condition does not decide the outcome")
    rule = "budget" if seen.stopped else "flaky"
    return Verdict("inconclusive", rule, seen.stopped or "the outcome does not follow the condition alone")


def _well_paired(pairs: tuple[Run, ...], seen: Condition) -> bool:
    for first, second in zip(pairs[::2], pairs[1::2], strict=False):
        same = first.seed == second.seed and first.guards == second.guards and not first.files and not second.files
        if not same or second.number != first.number + 1 or second.environment:
            return False
        if first.environment != ((seen.variable,) if seen.kind == "environment" else ()):
            return False
    seeds = [run.seed for run in pairs[::2]]
    return len(set(seeds)) == len(seeds)


def _said(seen: Condition) -> str:
    if seen.kind == "order":
        return f"it fails after {', '.join(seen.predecessors)} and passes alone"
    name, value = seen.variable
    return f"the outcome follows {name}={value}"


def _judge_flaky(seen: Condition) -> Verdict:
    runs = seen.of("repeat")
    words = [_word(run, seen.target) for run in runs]
    passed, failed = words.count("passed"), words.count("failed")
    least, most = wilson(failed, passed + failed)
    equal = len({(run.seed, run.guards, run.files, run.environment, run.order) for run in runs}) <= 1
    if passed and failed and equal:
        rate = f"it failed {failed} of {passed + failed} times ({least:.0%} to {most:.0%}) under equal conditions"
        return Verdict("supported", "flaky", rate, "A")
    if seen.stopped:
        return Verdict("inconclusive", "budget", seen.stopped)
    return Verdict("inconclusive", "steady", f"{passed} passes and {failed} failures in {len(runs)} runs")
