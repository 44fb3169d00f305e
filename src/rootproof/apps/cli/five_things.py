"""The five things that are never confused, each with the event of a run that shows it."""

from __future__ import annotations

from collections.abc import Iterable

from rootproof.event import Began, Checked, FinalJudged, Observed, Replied, Started
from rootproof.ledger.interface import Stored
from rootproof.text import one_line


def lines(events: Iterable[Stored]) -> list[str]:
    """Five lines; a thing that this run did not show says so."""
    found = {"request": "", "observation": "", "state": "", "check": "", "criteria": ""}
    last: Stored | None = None
    for stored in events:
        event = stored.event
        if isinstance(event, Began):
            criteria = event.contract["completion"]["all"]
            found["criteria"] = f"event {stored.seq}: {len(criteria)} criteria, fixed before the first message"
        elif isinstance(event, Replied):
            last = stored
        elif isinstance(event, Started) and last and not found["request"]:
            found["request"] = f"event {last.seq}: the model asked for {event.tool}; only event {stored.seq} started it"
        elif isinstance(event, Observed) and not found["observation"]:
            found["observation"] = f"event {stored.seq}: what {event.tool} reported, unverified, digest {event.digest[:12]}"
        elif isinstance(event, Checked) and event.facts:
            names = ", ".join(fact.name for fact in event.facts if not fact.check.startswith("built-in"))
            found["state"] = f"event {stored.seq}: the controller alone committed {one_line(names, 80)}" if names else found["state"]
            if names and not found["check"]:
                found["check"] = f"event {stored.seq}: {event.tool}'s outcome, not an opinion, made a fact of event {stored.seq - 1}"
        elif isinstance(event, FinalJudged):
            judged = "accepted" if event.accepted else "rejected"
            found["criteria"] += f"; event {stored.seq} {judged} the final by them" if ";" not in found["criteria"] else ""
    titles = {
        "request": "action request",
        "observation": "observation",
        "state": "state",
        "check": "external check",
        "criteria": "completion criteria",
    }
    return [f"{title:<20} {found[key] or 'not shown by this run'}" for key, title in titles.items()]
