"""Where to look first: suspects by the spectrum, fused with what the failing run itself tells.

Scores order; they are no probabilities. The weights are set by hand, once, as round numbers, and say which signal
may overrule which; no package, test or message is named anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rootproof.experiments.lacking import missing_methods
from rootproof.experiments.reads import data_suspects
from rootproof.experiments.sources import Function, Sources, Statement
from rootproof.experiments.spectrum import Spectrum, is_test_file, mean_ranks, ochiai
from rootproof.experiments.trace import Trace

TRACEBACK = 0.3
"""For the deepest frame's line; a frame n further out gets a share of 1 / (1 + n)."""
VALUE = 0.2
"""For the function that first returned the wrong value itself."""
WORDS = 0.3
"""For a function all of whose name's words are in the test's name."""
NAMED = 0.1
"""For a function the test calls by name."""
BRANCH = 1.01
"""A condition counts a little more than the rarest block it leads into: the decision comes before its effect."""
DATA = 0.6
"""Data counts less than the statement that reads it."""
MISSING = 0.5
"""For a class that lacks a method, shared among all such classes."""
OUTGROWN = 1.01
"""A class that adds state counts a little more than the inherited method that leaves it out."""
SHALLOW = 0.05
"""For a function the test calls itself; one n calls further in gets a share of 1 / n. A check that is missing
altogether (nothing was raised) is missed where the input comes in, so it counts four times there."""
NEARNESS_POWER = 2.0
TRIVIAL = frozenset({"None", "True", "False", "''", "[]", "{}", "()", "0", "1", "-1", "2"})
DECIDES = frozenset({"If", "While", "For", "ExceptHandler", "Match", "With"})


@dataclass(frozen=True)
class Suspect:
    """One function or statement that may hold the cause, with the reason in one line."""

    file: str
    function: str
    first: int
    last: int
    score: float
    rank: float
    """Mean rank among ties."""
    reason: str

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.function


@dataclass(frozen=True)
class Ranking:
    """Both lists, best first."""

    functions: tuple[Suspect, ...]
    statements: tuple[Suspect, ...]

    def top(self, count: int) -> Ranking:
        return Ranking(self.functions[:count], self.statements[:count])


def rank(trace: Trace, found: Spectrum, sources: Sources) -> Ranking:
    """Suspects of one trace. Works with no passing test at all."""
    weights = tuple(near**NEARNESS_POWER for near in found.nearness)
    scores: dict[tuple[str, int], float] = {}
    reasons: dict[tuple[str, int], str] = {}
    total = len(found.passing)
    for key in found.failing:
        scores[key] = ochiai(found.counts(key, weights))
        ran = int(found.counts(key).ep)
        reasons[key] = f"runs in the failing test and in {ran} of {total} passing ones"
    for key, bonus, reason in _bonuses(trace, found, sources):
        scores[key] += bonus
        reasons[key] = f"{reason}; {reasons[key]}" if reason else reasons[key]
    _credit_conditions(found, sources, scores, reasons)
    places = dict(found.failing)
    _add_data(trace, sources, (places, scores, reasons))
    return fused(places, scores, reasons, sources)


def fused(
    places: Mapping[tuple[str, int], Statement],
    scores: Mapping[tuple[str, int], float],
    reasons: Mapping[tuple[str, int], str],
    sources: Sources,
) -> Ranking:
    """Both lists from statement scores; a function is as suspect as its best statement."""
    ranks = mean_ranks(scores)
    statements = [
        Suspect(s.file, s.function, s.first, s.last, scores[key], ranks[key], reasons[key]) for key, s in places.items()
    ]
    statements.sort(key=lambda s: (-s.score, s.file, s.first))
    best: dict[tuple[str, str], Suspect] = {}
    for suspect in statements:
        best.setdefault(suspect.key, suspect)
    function_ranks = mean_ranks({key: suspect.score for key, suspect in best.items()})
    functions = []
    for key, suspect in best.items():
        module = sources.module(suspect.file)
        whole = module.functions.get(suspect.function) if module else None
        span = whole or Function(suspect.file, suspect.function, suspect.first, suspect.last)
        reason = f"line {suspect.first}: {suspect.reason}"
        functions.append(Suspect(*key, span.first, span.last, suspect.score, function_ranks[key], reason))
    return Ranking(tuple(functions), tuple(statements))


def _bonuses(trace: Trace, found: Spectrum, sources: Sources) -> Iterator[tuple[tuple[str, int], float, str]]:
    frames = _source_frames(trace)
    producers = _producers(trace, sources)
    words, called = _test_words(trace, sources)
    depths = _depths(trace, sources)
    shallow = SHALLOW * (4 if trace.failure and "DID NOT RAISE" in trace.failure.message else 1)
    for key, statement in found.failing.items():
        depth = next(
            (d for d, (file, line) in enumerate(frames) if file == statement.file and line in statement.lines), None
        )
        if depth is not None:
            yield key, TRACEBACK / (1 + depth), "on the traceback" + (", where it was raised" if depth == 0 else "")
        owner = (statement.file, statement.function)
        if owner in producers:
            yield key, VALUE / (1 + producers.index(owner)), "its function returned the wrong value"
        alike = _likeness(statement, words)
        if alike:
            yield key, WORDS * alike, "the test is named like it"
        if statement.function.rsplit(".", 1)[-1] in called:
            yield key, NAMED, "the test calls its function"
        if depth := depths.get(owner):
            yield key, shallow / depth, ""


def _source_frames(trace: Trace) -> list[tuple[str, int]]:
    frames = trace.failure.frames if trace.failure else ()
    return [(file, line) for file, line, *_ in reversed(frames) if not is_test_file(file)]


def _producers(trace: Trace, sources: Sources) -> list[tuple[str, str]]:
    """Functions that returned a value equal to an operand of the failed comparison, in the order they did."""
    failure = trace.failure
    sides = {side for side in (failure.left, failure.right) if side and side not in TRIVIAL} if failure else set()
    first: dict[tuple[str, str], int] = {}
    for (file, line, name), kept in trace.story.returns.items():
        module = None if is_test_file(file) else sources.module(file)
        function = module.code_name(line, name) if module else None
        for _, text, clock in kept:
            if function and text in sides:
                first[file, function] = min(first.get((file, function), clock), clock)
    return sorted(first, key=lambda key: first[key])


def _depths(trace: Trace, sources: Sources) -> dict[tuple[str, str], int]:
    """Function → least number of the project's frames above it, the test's own included."""
    found: dict[tuple[str, str], int] = {}
    for (file, first, name), depth in trace.story.depths.items():
        module = None if is_test_file(file) else sources.module(file)
        function = module.code_name(first, name) if module else None
        if function:
            found[file, function] = min(found.get((file, function), depth), depth)
    return found


def split_words(name: str) -> frozenset[str]:
    """The words of an identifier, lower case, those of three letters and more."""
    return frozenset(w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name) if len(w) > 2)


def _test_words(trace: Trace, sources: Sources) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the target's own name, and the names its body uses."""
    file, *rest = trace.target.split("::")
    own = rest[-1] if rest else ""
    module = sources.module(file)
    names: set[str] = set()
    for qualified, node in module.nodes.items() if module else ():
        if qualified.rsplit(".", 1)[-1] == own.split("[")[0]:
            for part in ast.walk(node):
                names.update(x for x in (getattr(part, "id", None), getattr(part, "attr", None)) if isinstance(x, str))
    return split_words(own) - {"test"}, frozenset(names)


def _likeness(statement: Statement, words: frozenset[str]) -> float:
    """Cosine of the test's words and those of the function's qualified name and its file's name, 0 to 1."""
    own = split_words(statement.function.replace("<locals>", "")) | split_words(statement.file.rsplit("/", 1)[-1][:-3])
    return len(own & words) / (len(own) * len(words)) ** 0.5 if own and words else 0.0


def _credit_conditions(
    found: Spectrum, sources: Sources, scores: dict[tuple[str, int], float], reasons: dict[tuple[str, int], str]
) -> None:
    """A condition that leads into a suspect block is as suspect as the block: the decision may be the fault."""
    credit: dict[tuple[str, int], tuple[float, int]] = {}
    for key, statement in found.failing.items():
        module = sources.module(statement.file)
        parent = (statement.file, module.parents.get(statement.first, 0)) if module else ("", 0)
        above = found.failing.get(parent)
        if above is not None and above.kind in DECIDES:
            credit[parent] = max(credit.get(parent, (0.0, 0)), (BRANCH * scores[key], statement.first))
    for parent, (score, line) in credit.items():
        if score > scores[parent]:
            scores[parent] = score
            reasons[parent] = f"decides whether line {line} runs; {reasons[parent]}"


Tables = tuple[dict[tuple[str, int], Statement], dict[tuple[str, int], float], dict[tuple[str, int], str]]


def _add_data(trace: Trace, sources: Sources, tables: Tables) -> None:
    places, scores, reasons = tables
    for key, (statement, score, reason) in data_suspects(trace, sources, dict(scores)).items():
        if key not in places:
            places[key], scores[key] = statement, DATA * score
            reasons[key] = f"runs at import only; {reason}"
    lacking = missing_methods(trace, sources)
    for each in lacking:
        place = next((place for place in each.places if place.key not in places), None)
        if place is not None:
            instead = (scores[key] for key, s in places.items() if (s.file, s.function) == each.instead)
            score = OUTGROWN * max(instead, default=0.0) if each.instead else MISSING / len(lacking) ** 0.5
            places[place.key], scores[place.key], reasons[place.key] = place, score, each.reason
