"""Reports in which every text from outside is one given text: whatever a repository, a test or a model may say."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from rootproof.fact import Fact, Source
from rootproof.report.document import (
    CodeCause,
    ConditionCause,
    Context,
    Criterion,
    Derived,
    Edit,
    Flip,
    Hypothesis,
    Needed,
    Pair,
    Report,
    Row,
    Search,
    Span,
    Spent,
    StoredEvent,
    Suspect,
    Tested,
)
from rootproof.status import Status

EVENT_TYPES = ("began", "started", "observed", "checked", "rejected", "parse_error", "final")
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>",
    "</pre></code></table></style><style>body{display:none}</style>",
    "\x1b[2J\x1b]8;;http://example.invalid\x07click\x1b]8;;\x07\x9b31m\r\x08",
    "::error file=a.py,line=1::told\n::set-output name=x::y\n  ::add-mask::z\n\u00a0::stop-commands::t",
    "##[error]told ##vso[task.complete result=Succeeded;]x ##teamcity[testFinished name='x'] ##[set-output name=a]b",
    "\u202egnp.exe\u2066\u200b\ufeff\u00ad\U000e0041 \u2028 \u0085",
    "[x](javascript:alert(1)) ![i](http://example.invalid/i.png) <javascript:alert(1)> https://example.invalid @someone #1",
    "```\n# heading\n````\n| a | b |\n|---|---|\n> quote\n- item\n``` ` `` ```` ````` \\` ~~~\n***\n===",
    "{{ 7 * 7 }} {% raw %} ${{ secrets.TOKEN }} &lt;b&gt; &#60;script&#62; %0A%0D \ud800 \" ' onmouseover=alert(1) x='",
    'data:text/html,<script>alert(1)</script>" autofocus onfocus="alert(1)',
    "",
    "`",
)
"""Text that tries to be markup, a link, a terminal's or a build service's command, or to look like something else."""


def report(text: str, cause: str = "code", status: Status = "success") -> dict[str, Any]:
    """A whole report with ``text`` wherever a text may come from outside; ``cause`` is a kind, or empty."""
    source = text.encode("utf-8", "surrogatepass") + b"\n"
    digest = hashlib.sha256(source).hexdigest()
    found = {"code": _code, "": None}.get(cause, _condition)
    made = Report(
        derived=_derived(text, status, found(text, digest, cause) if found else None),
        run=text,
        head=text,
        events=[StoredEvent(seq=1, epoch=1, time=text, hash=text, body=text)],
        observations={digest: base64.b64encode(source).decode()},
    )
    return _plain(made)


def _plain(made: Report) -> dict[str, Any]:
    """As plain data; a lone surrogate, which no stored text can hold, stays as it is."""
    return made.model_dump(mode="python", by_alias=True)


def _derived(text: str, status: Status, cause: CodeCause | ConditionCause | None) -> Derived:
    return Derived(
        status=status, reason=text, goal=text, answer=text, contract_digest=text, contract_by="proposer", origin=text,
        model=text, rules=text, containment="none", spent=Spent(seconds=1.0, steps=2), facts=_facts(text),
        criteria=[Criterion(text=text, met=met) for met in (True, False, None)],
        needed=[Needed(name="shown", means=text, held=True, event=3), Needed(name=text, means=text, held=False, event=None)],
        missing=[text], cause=cause, suspects=[_suspect(text)],
        hypotheses=[_hypothesis(text, event, kind) for event, kind in ((3, "code"), (4, "code"), (5, text), (6, "order"))],
        searches=[Search(event=3, tries=2, by_status={text or "none": 2}, flips=[_flip(text)])],
        timeline=_rows(text), scope={text: text}, claim=text,
    )  # fmt: skip


def _facts(text: str) -> list[Fact]:
    source = Source(path=text, line=1, digest=text)
    values: Sequence[Any] = (text, 1, True, None, (text, 2))
    return [
        Fact(name=text, value=value, about=str(n), event=3, observation=text, check=text, source=source)
        for n, value in enumerate(values)
    ]


def _suspect(text: str) -> Suspect:
    return Suspect(event=3, rank=1.5, path=text, function=text, first=1, last=2, why=text)


def _hypothesis(text: str, event: int, kind: str) -> Hypothesis:
    return Hypothesis(
        event=event,
        kind=kind,
        verdict=text,
        grade=text,
        rule=text,
        reason=text,
        subject=text,
        diff=text,
        open_in=[text],
    )


def _flip(text: str) -> Flip:
    return Flip(place=text, change=text, clean=False, kept=1, broken=2)


def _rows(text: str) -> list[Row]:
    return [
        Row(
            event=n, step=n // 3, type=kind, tool=text, what=text, at=text, seconds=0.5, test_runs=1,
            model_says_unverified=text,
        )
        for n, kind in enumerate((*EVENT_TYPES, text), 1)
    ]  # fmt: skip


def _code(text: str, digest: str, kind: str) -> CodeCause:
    lines = text.split("\n")
    span = Span(path=text, first=1, last=1, function=text)
    context = Context(**dict(span), start=1, lines=lines, digest=digest)
    return CodeCause(
        event=3, kind="code", target=text, grade="B", reason=text, signature=text, subject=text,
        change=[Edit(path=text, start=1, end=1, text=text)], diff=f"--- a\n+++ b\n {text}\n+{text}\n-{text}",
        spans=[span, Span(path=f"{text}2", first=3, last=2, function="")],
        context=[context, Context(**{**dict(context), "path": "file.py", "lines": ["x = 1"], "digest": "none"})],
        place=text, width=text, executed=None, pairs={"needed": 5, "failed_unchanged": 5, "passed_changed": 5},
        runs=[Pair(unchanged=text, changed=text)],
        neighbours={"kept": 1, "broken": [text], "dropped": [text]}, tests=[Tested(test=text, before=text, after=text)],
        controls={"inert": text, f"place {text}": text, text: text}, unmade=[text], containment=text,
    )  # fmt: skip


def _condition(text: str, digest: str, kind: str) -> ConditionCause:
    return ConditionCause(
        event=3, kind=kind, target=text, grade="A", reason=text, signature=text, subject=text, condition=text,
        predecessors=[text], variable=text, against=text, counts={text: 1}, interval=[0.25, 0.5], containment=text,
    )  # type: ignore[arg-type]  # fmt: skip
