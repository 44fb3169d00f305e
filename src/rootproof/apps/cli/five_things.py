"""The five things that are never confused, each with the event of a run that shows it."""

from __future__ import annotations

from collections.abc import Iterable

from rootproof.event import Began, Checked, FinalJudged, Observed, Replied, Started
from rootproof.ledger.interface import Stored
from rootproof.text import one_line

NOT_SHOWN = "not shown by this run"


def lines(events: Iterable[Stored]) -> list[str]:
    """Five lines; a thing that this run did not show says so."""
    stored = list(events)
    return [
        f"action request       {_request(stored)}",
        f"observation          {_observation(stored)}",
        f"state                {_state(stored)}",
        f"external check       {_check(stored)}",
        f"completion criteria  {_criteria(stored)}",
    ]


def _request(stored: list[Stored]) -> str:
    for number, one in enumerate(stored):
        if isinstance(one.event, Started) and isinstance(stored[number - 1].event, Replied):
            asked = stored[number - 1].seq
            return f"event {asked}: the model asked for {one.event.tool}; only event {one.seq} started it"
    return NOT_SHOWN


def _observation(stored: list[Stored]) -> str:
    for one in stored:
        if isinstance(one.event, Observed):
            return f"event {one.seq}: what {one.event.tool} reported, unverified, digest {one.event.digest[:12]}"
    return NOT_SHOWN


def _evidence(event: Checked) -> list[str]:
    return [fact.name for fact in event.facts if not fact.check.startswith("built-in:")]


def _state(stored: list[Stored]) -> str:
    for one in reversed(stored):
        if isinstance(one.event, Checked) and _evidence(one.event):
            names = one_line(", ".join(_evidence(one.event)), 80)
            return f"event {one.seq}: the controller alone committed {names}"
    return NOT_SHOWN


def _check(stored: list[Stored]) -> str:
    for one in stored:
        if isinstance(one.event, Checked) and _evidence(one.event):
            return f"event {one.seq}: {one.event.tool}'s outcome, no opinion, made facts of event {one.seq - 1}"
    return NOT_SHOWN


def _criteria(stored: list[Stored]) -> str:
    began = next((one for one in stored if isinstance(one.event, Began)), None)
    judged = [one for one in stored if isinstance(one.event, FinalJudged)]
    if began is None or not isinstance(began.event, Began):
        return NOT_SHOWN
    count = len(began.event.contract["completion"]["all"])
    said = f"event {began.seq}: {count} criteria, fixed before the first message"
    if judged and isinstance(judged[-1].event, FinalJudged):
        verdict = "accepted" if judged[-1].event.accepted else "rejected"
        said += f"; event {judged[-1].seq} {verdict} the final by them"
    return said
