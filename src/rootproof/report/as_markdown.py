"""A report as Markdown. Facts are inert: nothing from outside can be markup, a link or a terminal command. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rootproof.text import one_line, quoted, visible


def markdown(report: Mapping[str, Any]) -> str:
    """The whole page."""
    return "\n".join(_lines(report["derived"], report)) + "\n"


def code(value: object, limit: int = 200) -> str:
    """A value as inline code that cannot end early."""
    return f"`{one_line(str(value), limit).replace('`', 'ˋ')}`"


def _lines(derived: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {derived['status']}: {code(derived['goal'], 160)}"
    yield ""
    if derived["contract_by"] != "user":
        yield "The contract was written by whoever proposed the steps: this is no plain success."
    if derived["containment"] == "none":
        yield "**Run without containment** (`--containment none --trust-this-repository`): grade B at most."
    yield from _cause(derived["cause"]) if derived["cause"] else _no_cause(derived)
    yield from _facts(derived)
    yield from _tried(derived)
    yield from _suspects(derived)
    yield "## Steps"
    yield ""
    for row in derived["timeline"]:
        yield f"- event {row['event']}, step {row['step']}, {row['type']}: {code(row['what'])}"
        if row.get("model_says_unverified"):
            yield f"  - the model's own words, unverified: {code(row['model_says_unverified'], 300)}"
    yield ""
    yield "## Re-check it"
    yield ""
    yield f"`rootproof verify report.json --repo PATH` runs everything again. Run {code(report['run'])}, head "
    yield f"{code(report['head'])}: a head held elsewhere proves every event."
    yield ""
    yield derived["claim"]


def _condition(cause: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"The failure of {code(cause['target'])} is no fault that a change of code explains. It is confirmed, grade "
        f"{cause['grade']} (event {cause['event']}): {code(cause['condition'], 400)}."
    )
    yield ""
    if cause["signature"]:
        yield f"It fails as {code(cause['signature'], 400)}."
        yield ""
    yield from (f"- must run before it: {code(test)}" for test in cause["predecessors"])
    yield from (f"- {name.replace('_', ', ')}: {count} runs" for name, count in cause["counts"].items())
    if cause["interval"]:
        low, high = cause["interval"]
        yield f"- rate of failure: {low:.0%} to {high:.0%} (95 %)"
    yield ""


def _cause(cause: Mapping[str, Any]) -> Iterator[str]:
    if cause["kind"] != "code":
        yield from _condition(cause)
        return
    yield f"The cause of {code(cause['target'])} is confirmed, grade {cause['grade']} (event {cause['event']})."
    yield ""
    for span in cause["spans"]:
        yield f"- {code(span['path'])} lines {span['first']}–{span['last']} in {code(span['function'])}"
    yield ""
    yield f"It fails as {code(cause['signature'], 400)}. This change, tried in throw-away copies only, makes it pass:"
    yield ""
    yield from _fenced(cause["diff"] or "", "diff")
    pairs, kept = cause["pairs"], cause["neighbours"]
    failed, passed = pairs["failed_unchanged"], pairs["passed_changed"]
    yield f"- interleaved cold pairs: {failed} failed unchanged, {passed} passed changed"
    yield f"- neighbours kept: {kept.get('kept', 0)}; broken: {len(kept.get('broken', []))}"
    yield from (f"- control {code(name)}: {code(said)}" for name, said in cause["controls"].items())
    yield ""
    yield (
        "Not checked: " + ("; ".join(code(each) for each in cause["unmade"]) or "nothing that the rules ask for") + "."
    )
    yield ""


def _no_cause(derived: Mapping[str, Any]) -> Iterator[str]:
    yield f"No cause is confirmed: {code(derived['reason'], 400)}."
    yield ""
    if derived["answer"]:
        yield f"Answer: {code(derived['answer'], 1000)}"
    yield from (f"- missing: {code(text, 300)}" for text in derived["missing"])
    yield ""


def _facts(derived: Mapping[str, Any]) -> Iterator[str]:
    yield "## Facts"
    yield ""
    for fact in derived["facts"]:
        source = fact.get("source")
        where = f", {code(source['path'])} line {source['line']}" if source else ""
        value = quoted(fact["value"]).replace("`", "ˋ")
        yield f"- {code(fact['name'])} = `{value}` ({fact['standing']}; event {fact['event']}{where})"
    yield ""


def _tried(derived: Mapping[str, Any]) -> Iterator[str]:
    if derived["hypotheses"]:
        yield "## Changes tried"
        yield ""
        for row in derived["hypotheses"]:
            said = f"**{row['verdict']}** {row['grade'] or ''}"
            yield f"- event {row['event']}: {said} {code(row['rule'])}: {code(row['reason'], 300)}"
        yield ""


def _suspects(derived: Mapping[str, Any]) -> Iterator[str]:
    if derived["suspects"]:
        yield "## Suspects"
        yield ""
        for row in derived["suspects"]:
            where = f"{code(row['path'])} {code(row['function'])}"
            yield f"- {row['rank']:g}. {where}: {code(row['why'])} (event {row['event']})"
        yield ""


def _fenced(text: str, kind: str) -> Iterator[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in text.split() if set(run) == {"`"}), default=0))
    yield f"{fence}{kind}"
    yield visible(text.rstrip("\n"))
    yield fence
    yield ""
