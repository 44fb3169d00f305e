"""A report as Markdown. Facts are inert: nothing from outside can be markup, a link or a command. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rootproof.report import words
from rootproof.report.inert import code, fenced
from rootproof.text import quoted


def markdown(report: Mapping[str, Any]) -> str:
    """The whole page."""
    return "\n".join(_Page(report["derived"]).lines(report)) + "\n"


class _Page:
    """One report as it is written; knows in which step an event lies, so that facts can lead there."""

    def __init__(self, derived: Mapping[str, Any]) -> None:
        self.derived = derived
        self.step_of = {row["event"]: row["step"] for row in derived["timeline"]}

    def lines(self, report: Mapping[str, Any]) -> Iterator[str]:
        cause = self.derived["cause"]
        yield from self._head()
        if cause:
            yield from self._code(cause) if cause["kind"] == "code" else self._condition(cause)
            yield from self._not_checked(cause)
            yield from self._evidence()
            yield from self._tried("What else was tried")
            yield from self._suspects()
        else:
            yield from self._tried("What was tried")
            yield from self._suspects()
            yield from self._evidence()
        yield from self._steps()
        yield from _again(report)
        yield words.CLAIM

    def ev(self, event: int) -> str:
        """The way to the event that shows something."""
        return f"[event {event}](#step-{self.step_of.get(event, 0)})"

    def _head(self) -> Iterator[str]:
        derived, cause = self.derived, self.derived["cause"]
        last = self.ev(derived["timeline"][-1]["event"])
        said, about = words.title(derived)
        yield f"# {said + ': ' if said else ''}{code(about, 300)}"
        yield ""
        if cause:
            grade = words.GRADE.get(cause["grade"], "")
            yield f"**{derived['status']}**: the cause is confirmed, {grade} ({self.ev(cause['event'])})."
        elif derived["status"] == "success":
            yield f"**success** ({last}): {code(derived['answer'] or words.STATUS['success'], 4000)}"
        else:
            yield f"**{derived['status']}** ({last}): {words.STATUS.get(derived['status'], '')}"
            yield ""
            yield f"Reason: {code(derived['reason'], 600)}"
        yield ""
        yield from self._warnings()
        spent = derived["spent"]
        yield (
            f"Steps chosen by {code(derived['model'])}; {spent['steps']} steps, {spent['seconds']:.0f} s, "
            f"{spent['test_runs']} test runs; containment {code(derived['containment'])}."
        )
        yield ""

    def _warnings(self) -> Iterator[str]:
        if self.derived["contract_by"] != "user":
            yield "**The contract was written by whoever proposed the steps: this is no plain success.**"
            yield ""
        if self.derived["containment"] == "none":
            yield "**Run without containment** (`--containment none --trust-this-repository`): grade B at most."
            yield ""

    def _code(self, cause: Mapping[str, Any]) -> Iterator[str]:
        event = self.ev(cause["event"])
        yield f"It fails with {code(cause['signature'], 500)} ({event})."
        yield ""
        if cause["grade"] == "B":
            yield f"Why no better grade: {code(cause['reason'], 400)} ({event})."
            yield ""
        yield "## The cause in its context"
        yield ""
        for span in cause["context"]:
            lines = f"{span['first']} to {span['last']}" if span["last"] != span["first"] else f"{span['first']}"
            yield f"{code(span['path'])}, line {lines}, in {code(span['function'] or 'the module')} ({event}):"
            yield ""
            yield from fenced("\n".join(_numbered(span)))
            yield ""
        yield "## The change that mends it"
        yield ""
        yield f"Tried in throw-away copies only; the repository was not written ({event})."
        yield ""
        yield from fenced(cause["diff"] or "", "diff")
        yield ""
        yield from self._checks(cause, event)

    def _checks(self, cause: Mapping[str, Any], event: str) -> Iterator[str]:
        pairs, kept = cause["pairs"], cause["neighbours"]
        yield "## Before and after"
        yield ""
        needed, failed, passed = (pairs.get(name, 0) for name in ("needed", "failed_unchanged", "passed_changed"))
        yield (
            f"- The failing test, in {needed} interleaved cold pairs: unchanged it failed {failed} times, changed it "
            f"passed {passed} times ({event})."
        )
        yield f"- Neighbours: {kept.get('kept', 0)} kept, {len(kept.get('broken', []))} broken ({event})."
        yield from (
            f"  - {code(row['test'])}: {code(row['before'])}, then {code(row['after'])}" for row in cause["tests"]
        )
        yield from (f"  - left out: {code(test, 300)}" for test in kept.get("dropped", []))
        for done, where, wanted, said in words.controls(cause):
            yield f"- {done}{' in ' + code(where) if where else ''}: {wanted}; it was {code(said)} ({event})."
        yield ""

    def _condition(self, cause: Mapping[str, Any]) -> Iterator[str]:
        event = self.ev(cause["event"])
        yield f"It is not in the code: {words.KIND.get(cause['kind'], '')}. {code(cause['condition'], 800)} ({event})."
        yield ""
        if cause["signature"]:
            yield f"It fails with {code(cause['signature'], 500)} ({event})."
            yield ""
        yield "## What was run"
        yield ""
        yield from (f"- must run before it: {code(test, 300)}" for test in cause["predecessors"])
        if cause["variable"]:
            yield f"- what differs: {code(cause['variable'])} against {code(cause['against'] or 'not set')}"
        yield from (
            f"- {code(name.replace('_', ', '))}: {count} runs ({event})" for name, count in cause["counts"].items()
        )
        if cause["interval"]:
            low, high = cause["interval"]
            yield f"- rate of failure: {low:.0%} to {high:.0%} (95 %, {event})"
        yield ""

    def _not_checked(self, cause: Mapping[str, Any]) -> Iterator[str]:
        yield "## What was not checked"
        yield ""
        yield from (f"- {code(each, 400)} ({self.ev(cause['event'])})" for each in words.not_checked(self.derived))
        yield from (f"- {each}" for each in words.LIMITS)
        yield ""

    def _evidence(self) -> Iterator[str]:
        derived = self.derived
        if derived["needed"]:
            yield "## What had to be shown"
            yield ""
            for need in derived["needed"]:
                means = code(need["means"] or "a value taken from an observation", 500)
                if need["held"]:
                    yield f"- [x] {code(need['name'])}: {means} ({self.ev(need['event'])})"
                elif derived["status"] != "success":
                    yield f"- [ ] {code(need['name'])}: {means}: not shown"
            yield ""
        yield from self._facts()

    def _facts(self) -> Iterator[str]:
        rest = words.shown_facts(self.derived)
        if rest:
            yield "## Facts"
            yield ""
        for fact in rest:
            source = fact.get("source")
            where = f", {code(source['path'])} line {source['line']}" if source else ""
            shown = f"{fact['standing']}; {self.ev(fact['event'])}{where}"
            yield f"- {code(fact['name'])} = {code(quoted(fact['value']))} ({shown})"
        yield ""

    def _tried(self, title: str) -> Iterator[str]:
        rows = words.others(self.derived)
        if not rows and not self.derived["searches"]:
            return
        yield f"## {title}"
        yield ""
        for row in rows:
            kind = "a change in" if row["kind"] == "code" else words.KIND.get(row["kind"], "")
            verdict = f"**{words.VERDICT.get(row['verdict'], 'not decided')}** ({self.ev(row['event'])})"
            yield f"- {verdict}: {kind} {code(row['subject'], 300)}: {code(row['reason'], 600)}"
        for search in self.derived["searches"]:
            ends = ", ".join(f"{count} {code(name)}" for name, count in search["by_status"].items())
            event = self.ev(search["event"])
            yield f"- {search['tries']} small changes, tried by a program to see where to look ({event}): {ends}"
            for flip in search["flips"]:
                kept = f"{flip['kept']} neighbours kept, {flip['broken']} broken"
                yield f"  - passed with {code(flip['place'])}: {code(flip['change'])}; {kept}"
        yield ""

    def _suspects(self) -> Iterator[str]:
        if self.derived["suspects"]:
            yield "## Suspects"
            yield ""
            yield "A ranking, no evidence: where the cause may lie."
            yield ""
            for row in self.derived["suspects"]:
                where = f"{code(row['path'])} {code(row['function'])}"
                yield f"- rank {row['rank']:g}, {where}: {code(row['why'])} ({self.ev(row['event'])})"
            yield ""

    def _steps(self) -> Iterator[str]:
        yield "## Step by step"
        yield ""
        for step in words.steps(self.derived):
            yield f"### Step {step['number']}"
            yield ""
            for row in step["rows"]:
                tool = f" {code(row['tool'])}" if row["tool"] else ""
                yield f"- event {row['event']}, {words.EVENT.get(row['type'], 'event')}{tool}: {code(row['what'])}"
            yield from (f"- the proposer's own words, unverified: {code(said, 300)}" for said in step["own"])
            yield ""


def _numbered(span: Mapping[str, Any]) -> Iterator[str]:
    for number, line in enumerate(span["lines"], span["start"]):
        yield f"{'>' if span['first'] <= number <= span['last'] else ' '} {number:5d} {line}"


def _again(report: Mapping[str, Any]) -> Iterator[str]:
    yield "## Check it again"
    yield ""
    yield "`rootproof verify report.json --repo PATH` derives every fact again and runs the confirmation again."
    yield f"Run {code(report['run'])}, head {code(report['head'])}: a head held elsewhere proves every event."
    yield ""
