"""What follows from an examination of conditions: supported, refuted or inconclusive. Pure, on the record alone.

A variable that only the code under test reads can be a switch that hides a fault, or one that makes any test fail. What
follows it is a cause only where the failure or the test itself names it. Zone, locale and hash seed are no switches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from rootproof.canonical import digest, digest_bytes
from rootproof.experiments.conclusion import Verdict, undecided
from rootproof.experiments.conclusion import refuted as refutes
from rootproof.experiments.conditions import KINDS, SEED, Condition
from rootproof.experiments.controls import pairs_needed
from rootproof.experiments.masks import tree_of
from rootproof.experiments.record import Run
from rootproof.interval import wilson

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
CONTROL = re.compile(
    r"(PYTEST|PY_COLORS|PYTHON|COV|NOSE|TOX|NOX|LD_|DYLD_|ROOTPROOF|GIT_|NODE|NPM|VITEST|BASH|ASAN|MALLOC|GCONV"
    r"|VIRTUAL_ENV|CONDA)|(PATH|IFS|ENV|SHELL|TMPDIR|TEMP|TMP|HOME|LOCPATH|NLSPATH)$"
)
"""Variables that steer the runner, the interpreter or the loader: whatever follows them says nothing of the test."""
ALLOWED = (SEED, "PYTHONUTF8")
NATURAL = re.compile(r"(TZ|LANG|LANGUAGE|LC_[A-Z]+|PYTHONUTF8|PYTHONHASHSEED)$")
"""Zone, locale and seed: what every program reads, and what is no switch of this one."""


def admissible(kind: str, variable: tuple[str, str], against: str = "") -> str:
    """Why a condition cannot be examined; empty where it can."""
    name, value = variable
    if kind not in KINDS:
        return f"there is no kind {kind!r}"
    if kind != "environment":
        return ""
    if not NAME.fullmatch(name):
        return "a variable's name is letters, digits and underscores"
    if CONTROL.match(name.upper()) and name not in ALLOWED:
        return f"{name} steers the runner or the interpreter: what follows it says nothing of the test"
    if name == SEED and any(not each.isdecimal() or int(each) >= 2**32 for each in (value, against) if each):
        return "a hash seed is a whole number from 0 below 2**32"
    if "\0" in value + against or len(value + against) > 400:
        return "a value has at most 200 characters and no null character"
    return ""


def subject(seen: Condition) -> str:
    """What the facts are about: target, tree, kind and condition."""
    condition = [seen.kind, list(seen.predecessors), list(seen.variable), seen.against]
    return digest([seen.target, seen.tree, condition])[:32]


def judge_condition(seen: Condition, sources: Mapping[str, bytes]) -> Verdict:
    """The verdict over a whole record and the files it names."""
    reason = admissible(seen.kind, seen.variable, seen.against)
    if reason:
        return undecided("not_admissible", reason)
    if any(digest_bytes(sources.get(path, b"")) != wanted for path, wanted in seen.files):
        return undecided("stale", "a file is not what the record was made with")
    if len({run.guards for run in seen.runs}) > 1 or any(run.files or run.retried for run in seen.runs):
        return undecided("guards_changed", "tests, fixtures or configuration changed between runs")
    hidden = _contained(seen)
    if hidden:
        return undecided("possibly_containment", f"containment may have caused the failure: {hidden}")
    found = _flaky(seen) if seen.kind == "flaky" else _paired(seen, sources)
    if found.answer == "supported" and seen.level != "contained":
        return Verdict("supported", found.rule, f"{found.reason}; containment was {seen.level}", "B")
    return found


def word(run: Run, target: str) -> str:
    """``passed``, ``failed`` or ``neither``."""
    outcome = run.outcome(target)
    if run.passed(target):
        return "passed"
    return "failed" if outcome is not None and outcome.failed and not run.cut else "neither"


def signature(seen: Condition) -> str:
    """Of the failure; where it failed in several ways, the first."""
    found = [o.signature for run in _deciding(seen) for o in run.outcomes if o.test == seen.target and o.failed]
    return found[0] if found else ""


def _deciding(seen: Condition) -> tuple[Run, ...]:
    return seen.of("repeat") if seen.kind == "flaky" else seen.of("pair")


def _contained(seen: Condition) -> str:
    """What containment may have refused in a failing run and in no passing one."""
    lines: dict[bool, set[str]] = {True: set(), False: set()}
    for run in seen.runs:
        outcome = run.outcome(seen.target)
        if outcome is not None:
            lines[run.passed(seen.target)].update(outcome.blocked)
    return next(iter(sorted(lines[False] - lines[True])), "")


def _paired(seen: Condition, sources: Mapping[str, bytes]) -> Verdict:
    pairs, needed = seen.of("pair"), pairs_needed(seen.tries)
    words = [(word(a, seen.target), word(b, seen.target)) for a, b in zip(pairs[::2], pairs[1::2], strict=False)]
    if not pairs:
        return undecided("budget", seen.stopped) if seen.stopped else refutes("not_reproduced", _nothing(seen))
    if not _well_paired(pairs, seen):
        return undecided("pairs", "the runs of a pair differ in more than the condition")
    if any("neither" in pair for pair in words):
        return undecided("cut", "a run gave no outcome")
    if ("passed", "passed") in words or ("failed", "failed") in words:
        return refutes("pairs", "the condition does not decide the outcome")
    if len(set(words)) > 1:
        return undecided("flaky", "the outcome does not follow the condition alone")
    if len(words) < needed or len(pairs) % 2:
        return undecided("budget", seen.stopped or "the pairs are not all there")
    return _followed(seen, words[0], len(words), sources)


def _nothing(seen: Condition) -> str:
    return "no such order makes it fail" if seen.kind == "order" else "no seed of either outcome was found"


def _followed(seen: Condition, pair: tuple[str, str], count: int, sources: Mapping[str, bytes]) -> Verdict:
    """The outcome follows the condition in all pairs: is that a cause?"""
    if seen.kind == "order" and pair != ("failed", "passed"):
        return refutes("pairs", "the target fails without the predecessors")
    signatures = {o.signature for run in seen.of("pair") for o in run.outcomes if o.test == seen.target and o.failed}
    if len(signatures) > 1:
        return undecided("unstable_failure", "the failure differs from run to run")
    if seen.kind == "environment" and not _named(seen, sources):
        name = seen.variable[0]
        return undecided(
            "switch", f"neither the failure nor the test names {name}: it may be a switch that hides a fault"
        )
    return Verdict("supported", seen.kind, f"{count} of {count} pairs: {said(seen)}", "A")


def _named(seen: Condition, sources: Mapping[str, bytes]) -> bool:
    name = seen.variable[0]
    if NATURAL.match(name) or re.search(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", signature(seen)):
        return True
    trees = [tree_of(sources.get(path, b"")) for path, _ in seen.files]
    nodes = (node for tree in trees if tree is not None for node in ast.walk(tree))
    return any(isinstance(node, ast.Constant) and node.value == name for node in nodes)


def _well_paired(pairs: tuple[Run, ...], seen: Condition) -> bool:
    seeds = [run.seed for run in pairs[::2]]
    with_seed = seen.kind == "environment" and seen.variable[0] == SEED
    if not with_seed and len(set(seeds)) != len(seeds):
        return False
    return all(_one_pair(a, b, seen, with_seed) for a, b in zip(pairs[::2], pairs[1::2], strict=False))


def _one_pair(first: Run, second: Run, seen: Condition, with_seed: bool) -> bool:
    seeds = (int(seen.variable[1] or 0), int(seen.against or 0)) if with_seed else (first.seed, first.seed)
    own: tuple[tuple[str, str], ...] = ()
    other: tuple[tuple[str, str], ...] = ()
    if seen.kind == "environment" and not with_seed:
        own = (seen.variable,)
        other = ((seen.variable[0], seen.against),) if seen.against else ()
    tests = ((*seen.predecessors, seen.target), (seen.target,)) if seen.kind == "order" else ((seen.target,),) * 2
    return (
        (first.seed, second.seed) == seeds
        and (first.environment, second.environment) == (own, other)
        and (first.tests, second.tests) == tests
        and (first.variant, second.variant) == ("with", "without")
        and second.number == first.number + 1
    )


def said(seen: Condition) -> str:
    """The condition in words."""
    if seen.kind == "order":
        shown = ", ".join(seen.predecessors[:5]) + (" ..." if len(seen.predecessors) > 5 else "")
        return f"the order of the tests: it fails after {shown} and passes alone"
    if seen.kind == "environment":
        name, value = seen.variable
        other = f"{name}={seen.against}" if seen.against else f"no {name}"
        return f"the environment: the outcome follows {name}={value} against {other}"
    passed, failed = counts(seen)
    least, most = wilson(failed, passed + failed)
    return f"chance: it failed {failed} of {passed + failed} times ({least:.0%} to {most:.0%}) under equal conditions"


def counts(seen: Condition) -> tuple[int, int]:
    """(passed, failed) of the repeated runs."""
    words = [word(run, seen.target) for run in seen.of("repeat")]
    return words.count("passed"), words.count("failed")


def _flaky(seen: Condition) -> Verdict:
    passed, failed = counts(seen)
    runs = seen.of("repeat")
    equal = len({(run.seed, run.environment, run.order, run.tests) for run in runs}) <= 1
    if passed and failed and equal and all(run.tests == (seen.target,) for run in runs):
        return Verdict("supported", "flaky", said(seen), "A")
    if seen.stopped:
        return undecided("budget", seen.stopped)
    return undecided("steady", f"{passed} passes and {failed} failures in {len(runs)} runs")
