"""Are we done? Criteria over facts, what is still missing in words, and which limit ends the run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from rootproof import criterion
from rootproof.contract import Contract, EvidenceItem
from rootproof.criterion import Criterion, Value
from rootproof.event import FinalJudged, Stopped
from rootproof.state import State, fold
from rootproof.text import quoted


@lru_cache(maxsize=1024)
def parsed(text: str) -> Criterion:
    return criterion.parse(text)


def subjects(contract: Contract, state: State) -> list[str]:
    """What the required facts may be about: one empty subject where the contract speaks of one only."""
    if not any(item.about for item in contract.evidence):
        return [""]
    names = {item.id for item in contract.evidence if item.about}
    found = {fact.about: None for fact in state.facts.values() if fact.name in names and fact.about}
    return list(found) or [""]


def held(state: State, subject: str = "") -> dict[str, Value]:
    """Name → value of the facts that stand and are about one subject, or about none."""
    return {
        fact.name: fact.value
        for fact in state.facts.values()
        if fact.standing == "held" and fact.about in ("", subject) and not isinstance(fact.value, tuple)
    }


def unmet(contract: Contract, state: State, subject: str = "") -> list[str]:
    """Criteria that are false or unknown for one subject."""
    facts = held(state, subject)
    return [text for text in contract.completion.all if parsed(text).truth(facts) is not True]


def best(contract: Contract, state: State) -> tuple[str, list[str]]:
    """The subject with the fewest unmet criteria, and those."""
    ranked = [(unmet(contract, state, subject), subject) for subject in subjects(contract, state)]
    missing, subject = min(ranked, key=lambda pair: len(pair[0]))
    return subject, missing


def met(contract: Contract, state: State) -> bool:
    """Whether one subject has every fact that the criteria need."""
    return not best(contract, state)[1]


def missing_words(contract: Contract, state: State) -> tuple[str, ...]:
    """What is still missing, in words a person or a model can act on."""
    subject, texts = best(contract, state)
    told: set[str] = set()
    return tuple(_words(contract, state, subject, text, told) for text in texts)


def _words(contract: Contract, state: State, subject: str, text: str, told: set[str]) -> str:
    """One criterion; a name that an earlier one has told of is not told of again."""
    notes = []
    for name in (name for name in parsed(text).names if name not in told):
        told.add(name)
        fact = state.facts.get((name, subject)) or state.facts.get((name, ""))
        if fact is None:
            item = provider(contract, name)
            notes.append(f"{name}: not established" + (f"; needs {needs(item, contract)}" if item else ""))
        elif fact.standing != "held":
            notes.append(f"{name}: {fact.standing}" + (f": {fact.why}" if fact.why else ""))
        else:
            notes.append(f"{name} is {quoted(fact.value, 80)}")
    return f"{text} — {'; '.join(notes)}" if notes else text


def provider(contract: Contract, name: str) -> EvidenceItem | None:
    """The evidence item that can make a fact."""
    from rootproof import pattern

    for item in contract.evidence:
        if name == item.id or name in item.bind or (item.capture and name in pattern.groups(item.capture)):
            return item
    return None


def needs(item: EvidenceItem, contract: Contract | None = None) -> str:
    """What an evidence item asks for, in words; what the tool's own settings say already is left out."""
    known = contract.tools.get(item.tool, {}) if contract else {}
    where = ", ".join(f"{key} {value}" for key, value in item.where.items() if known.get(key) != value)
    expect = ", ".join(f"{key}={value!r}" for key, value in item.expect.items())
    parts = [item.tool + (f" on {where}" if where else "")]
    if expect:
        parts.append(f"with {expect}")
    if item.capture:
        parts.append("containing the contract's pattern")
    return " ".join(parts) + (f" ({item.means})" if item.means else "")


def stop_reason(contract: Contract, state: State) -> Stopped | None:
    """The limit or counter that ends the run, looked at only when nothing is pending."""
    budget = contract.budget
    if state.consecutive_parse_errors >= budget.max_consecutive_parse_errors:
        return Stopped(status="failed", reason=f"{state.consecutive_parse_errors} parse errors in a row")
    if state.consecutive_invalid_actions >= budget.max_consecutive_invalid_actions:
        return Stopped(status="failed", reason=f"{state.consecutive_invalid_actions} invalid actions in a row")
    if budget.max_no_progress is not None and state.no_progress >= budget.max_no_progress:
        return Stopped(status="undetermined", reason=f"no new fact in {state.no_progress} steps")
    if state.step >= budget.max_steps:
        return Stopped(status="max_steps", reason=f"all {budget.max_steps} steps are used")
    spent = exhausted(contract, state)
    return Stopped(status="budget", reason=spent) if spent else None


def exhausted(contract: Contract, state: State) -> str:
    """The first budget that is used up, in words; empty while all last."""
    budget, spent = contract.budget, state.spent
    limits: Mapping[str, tuple[float, float | None]] = {
        "seconds": (spent.seconds, budget.seconds),
        "CPU seconds": (spent.cpu_seconds, budget.cpu_seconds),
        "test runs": (spent.test_runs, budget.test_runs),
        "model tokens": (spent.model_tokens, budget.model_tokens),
    }
    for name, (used, limit) in limits.items():
        if limit is not None and used >= limit:
            return f"{used:g} of {limit:g} {name} are used"
    return ""


@dataclass(frozen=True)
class Left:
    """What an action may still use."""

    seconds: float
    cpu_seconds: float
    test_runs: int


def left(contract: Contract, state: State) -> Left:
    """The rest of each budget; what is not limited is very large."""
    budget, spent = contract.budget, state.spent
    return Left(
        budget.seconds - spent.seconds,
        (budget.cpu_seconds or 1e9) - spent.cpu_seconds,
        (budget.test_runs or 1_000_000_000) - spent.test_runs,
    )


def after_final(contract: Contract, state: State, judged: FinalJudged) -> FinalJudged:
    """The judgement of a final, once the facts that rest on changed files are taken as stale."""
    after = fold(replace(state, pending=None), judged)
    subject, texts = best(contract, after)
    if texts:
        return judged.model_copy(update={"missing": missing_words(contract, after)})
    return judged.model_copy(update={"accepted": True, "subject": subject})


def answer(contract: Contract, state: State) -> str | None:
    """The answer, from facts alone; None at every end but success."""
    if state.status != "success" or contract.answer is None:
        return None
    from rootproof.answer import render

    return render(contract.answer.template, held(state, state.subject))
