"""The plain words of a report, the same in every format: what a status, a grade, a control or an event means. Pure.

Takes ``derived`` as plain data. Words from outside pass as they are: whoever writes them down makes them inert.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CLAIM = (
    "A test's outcome is a claim of the code under test: a repository that lies about its own tests lies to everyone "
    "who runs them. This report holds against models, and against text of any origin."
)
STATUS = {
    "success": "Success: every condition of success is met, each by evidence.",
    "failed": "The run failed: what was expected to be observed was not.",
    "blocked": "Blocked: something outside the contract was asked for, and not done.",
    "max_steps": "No conclusion: all steps were used before enough was shown.",
    "budget": "No conclusion: the budget was used before enough was shown.",
    "undetermined": "No conclusion: what was found is not enough to be called a cause.",
    "waiting": "The run waits for a person.",
    "interrupted": "The run was interrupted; it can be resumed.",
    "cancelled": "The run was cancelled; it can be resumed.",
    "running": "The run has not ended.",
}
GRADE = {
    "A": "grade A: every check was made and held",
    "B": "grade B: it held, with a named exception",
}
KIND = {
    "order": "the tests that run before it",
    "environment": "the environment",
    "flaky": "chance: it passes and fails under equal conditions",
}
VERDICT = {
    "supported": "it holds",
    "refuted": "it does not hold",
    "masked": "it would only hide the failure",
    "inconclusive": "not decided",
}
EVENT = {
    "began": "began",
    "started": "asked for",
    "observed": "observed",
    "checked": "checked",
    "parse_error": "unreadable message",
    "rejected": "refused",
    "known": "known already",
    "blocked": "blocked",
    "invalid_observation": "invalid result",
    "final": "asked to end",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "resumed": "resumed",
    "planned": "plan accepted",
    "approval_requested": "asks a person",
    "approval_given": "approved",
    "approval_refused": "refused by a person",
    "approval_expired": "approval ran out",
    "waiting": "waits",
    "undo_started": "undoing",
    "undone": "undone",
}
_CONTROLS = {
    "inert": ("An edit that changes nothing, at the same place", "still fails"),
    "assertion": ("The test's assertion turned round, with the change in place", "fails"),
    "renamed": ("A copy of the test under another name, with the change in place", "passes"),
}

_ORDER = {name: number for number, name in enumerate(_CONTROLS)}


def title(derived: Mapping[str, Any]) -> tuple[str, str]:
    """What stands at the top: words of ours, then the name or text it is about."""
    cause = derived["cause"]
    if cause is None:
        return ("", derived["goal"])
    return ("Why this test fails", cause["target"])


def places(cause: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(function, file) of each place of a cause, once."""
    return list(dict.fromkeys((span["function"] or "the module", span["path"]) for span in cause["spans"]))


def is_mismatch(cause: Mapping[str, Any]) -> bool:
    """Whether one of its places is there because another one does not agree with it: no edit lies in it."""
    return len(places(cause)) == 2 and any(not _edited(cause, span) for span in cause["spans"])


def _edited(cause: Mapping[str, Any], span: Mapping[str, Any]) -> bool:
    first, last = span["first"], max(span["first"], span["last"])
    edits = (edit for edit in cause["change"] if edit["path"] == span["path"])
    return any(edit["start"] <= last and max(edit["start"], edit["end"]) >= first for edit in edits)


def controls(cause: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """(what was done, where, what has to happen, what happened) for each control."""
    rows = []
    ordered = sorted(cause["controls"].items(), key=lambda item: (_ORDER.get(item[0], len(_ORDER)), item[0]))
    for name, said in ordered:
        done, wanted = _CONTROLS.get(name, ("", ""))
        where = ""
        if name.startswith("place "):
            where = name.removeprefix("place ")
            done, wanted = "A like change in a function that is not the cause", "does not mend it as cleanly"
        rows.append((done or "Control", where or ("" if done else name), wanted or "holds", said))
    return rows


def not_checked(derived: Mapping[str, Any]) -> Iterator[str]:
    """What a reader could think was checked, and was not."""
    cause = derived["cause"]
    if cause is None:
        return
    yield from cause.get("unmade", ())
    if cause["kind"] == "code" and cause["executed"] is None:
        yield "whether the failing test runs these lines: there is no trace for this language here"
    if derived["containment"] == "none":
        yield "whether the tests kept to themselves: they ran without containment and could do whatever you can do"


LIMITS = (
    "Whether the test asks for the right thing. A wrong test makes good code look guilty.",
    "Whether the change is the best repair. It shows where the failure comes from; how to mend it is yours to decide.",
)


def steps(derived: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The timeline by steps: number, tool, seconds, the seconds before it, its rows that say something, own words."""
    found: dict[int, dict[str, Any]] = {}
    before = 0.0
    for row in derived["timeline"]:
        made = {"number": row["step"], "tool": "", "seconds": 0.0, "before": before, "runs": 0, "rows": [], "own": []}
        step = found.setdefault(row["step"], made)
        step["tool"] = step["tool"] or row["tool"] or ("final" if row["type"] == "final" else "")
        step["seconds"] += row["seconds"]
        step["runs"] += row["test_runs"]
        before += row["seconds"]
        if row["what"] or row["type"] != "replied":
            step["rows"].append(row)
        if row["model_says_unverified"]:
            step["own"].append(row["model_says_unverified"])
    return list(found.values())


def others(derived: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What was tried besides the confirmed cause."""
    own = derived["cause"]["event"] if derived["cause"] else None
    return [row for row in derived["hypotheses"] if row["event"] != own]


def shown_facts(derived: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The facts that are not told already as conditions of success."""
    told = {need["name"] for need in derived["needed"] if need["held"]}
    return [fact for fact in derived["facts"] if fact["name"] not in told]
