"""Conclusions exclude each other: what else this run knows of that may explain the target as well. Pure.

A rival is a change of another place that was proposed, or found by search, and with which the target may pass and
every neighbour be kept. One that was refuted or masked is none. One whose judgement did not come to an end, for
whatever reason, or that nobody put to the test, leaves the conclusion open until it is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rootproof import canonical
from rootproof.checking import Seen, Shift
from rootproof.contract import EvidenceItem
from rootproof.event import Observed
from rootproof.state import State
from rootproof.text import one_line

ANYWHERE = "?"
"""The place of a change whose judgement was lost: it may lie anywhere."""
SHOWN = 3


@dataclass(frozen=True)
class Rival:
    """One change that nothing has ruled out."""

    places: frozenset[str]
    why: str


def watch(item: EvidenceItem, seen: Seen, state: State) -> Shift:
    """Which conclusions are open after this observation, and which are no longer."""
    opened: list[tuple[str, str, str]] = []
    settled: list[tuple[str, str]] = []
    known = list(_observations(seen, state))
    for subject, places, target in conclusions(known, state):
        left = [rival for rival in rivals(target, known) if _elsewhere(rival, places)]
        if left:
            opened.append((item.id, subject, _words(left)))
        else:
            settled.append((item.id, subject))
    return Shift(tuple(opened), tuple(settled))


def _elsewhere(rival: Rival, places: frozenset[str]) -> bool:
    return ANYWHERE in rival.places or places.isdisjoint(rival.places)


def _words(left: list[Rival]) -> str:
    shown = "; ".join(f"{', '.join(sorted(rival.places))} ({rival.why})" for rival in left[:SHOWN])
    more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
    return one_line(f"a change elsewhere may explain it as well and is not judged to its end: {shown}{more}", 400)


def _observations(seen: Seen, state: State) -> Iterator[tuple[int, Observed]]:
    """(event, observation) of everything this run has seen, the present one last."""
    for earlier in (*state.requests.values(), *state.cut):
        yield earlier.event, earlier.observed
    yield state.seq, seen.observed


def conclusions(known: Iterable[tuple[int, Observed]], state: State) -> Iterator[tuple[str, frozenset[str], str]]:
    """(subject, places, target) of every supported change; an empty target where it is no longer known."""
    targets: dict[str, str] = {}
    places: dict[str, str] = {
        fact.about: str(fact.value) for fact in state.facts.values() if fact.name == "supported_in"
    }
    for _, observed in known:
        fields = _fields(observed)
        if observed.tool != "try_change" or not fields.get("subject"):
            continue
        targets[str(fields["subject"])] = str(fields.get("target", ""))
        if fields.get("verdict") == "supported":
            places[str(fields["subject"])] = str(fields.get("place", ""))
    for subject, told in places.items():
        yield subject, frozenset(told.split("; ")), targets.get(subject, "")


def rivals(target: str, known: list[tuple[int, Observed]]) -> list[Rival]:
    """Every change for this target that is not ruled out."""
    judged: dict[str, tuple[int, Observed]] = {}
    for event, observed in sorted(known, key=lambda pair: pair[0]):
        if observed.tool == "try_change" and _about(target, observed) and (_open(observed) or not observed.stale):
            judged[change_key(observed.input.get("edits"))] = event, observed
    found = [_tried(event, observed) for event, observed in judged.values() if _open(observed)]
    found += [_unsteady(event, observed) for event, observed in known if _is_unsteady(target, observed)]
    for event, observed in known:
        if observed.tool == "search_changes" and (not target or _fields(observed).get("test") == target):
            found += [_flip(event, row) for row in clean_flips(observed) if change_key(row.get("edits")) not in judged]
            if _fields(observed).get("left_out"):
                found.append(Rival(frozenset({ANYWHERE}), f"event {event}, more places than its list has room for"))
    return found


def _about(target: str, observed: Observed) -> bool:
    return str(_fields(observed).get("target") or observed.input.get("target") or target) == target or not target


def _open(observed: Observed) -> bool:
    return bool(observed.cut or _fields(observed).get("open_in"))


def _is_unsteady(target: str, observed: Observed) -> bool:
    """Whether the target was shown to follow chance or the order of tests: then no change of code explains it."""
    fields = _fields(observed)
    shown = observed.tool == "try_condition" and fields.get("verdict") == "supported"
    return shown and fields.get("kind") in ("flaky", "order") and _about(target, observed)


def _unsteady(event: int, observed: Observed) -> Rival:
    return Rival(frozenset({ANYWHERE}), f"event {event}, {_fields(observed).get('condition')}")


def _tried(event: int, observed: Observed) -> Rival:
    fields = _fields(observed)
    told = fields.get("open_in")
    places = frozenset(str(place) for place in told) if isinstance(told, list) and told else frozenset({ANYWHERE})
    said = (
        f"{fields.get('verdict')}: {fields.get('rule')}" if not observed.cut else f"its trial was cut: {observed.cut}"
    )
    return Rival(places, f"event {event}, {said}")


def clean_flips(observed: Observed) -> list[Mapping[str, Any]]:
    """Changes with which the target passed in a search, none of whose neighbours was seen to break."""
    rows = _fields(observed).get("flips")
    flips = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return [row for row in flips if row.get("unfinished") or (row.get("clean") and row.get("kept"))]


def _flip(event: int, row: Mapping[str, Any]) -> Rival:
    places = row.get("places") or [row.get("function") or ANYWHERE]
    return Rival(frozenset(str(place) for place in places), f"event {event}, found by search, not tried")


def change_key(edits: object) -> str:
    """The identity of a proposed change; a missing line end at the end of its text does not count."""
    rows = [row for row in edits if isinstance(row, Mapping)] if isinstance(edits, list) else []
    parts = [[row.get("path"), row.get("start"), row.get("end"), _ended(str(row.get("text", "")))] for row in rows]
    return canonical.digest(sorted(parts, key=str))


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _fields(observed: Observed) -> Mapping[str, Any]:
    return observed.fields if isinstance(observed.fields, dict) else {}
