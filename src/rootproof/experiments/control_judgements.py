"""The judgements on the controls: does the test still check, and does only this place help? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rootproof.experiments import script_source, test_copies
from rootproof.experiments.conclusion import Verdict, is_unmade, not_done, undecided
from rootproof.experiments.controls import AGAIN, PAIRS_AGAIN
from rootproof.experiments.cut import cut
from rootproof.experiments.mask_reach import new_comparisons
from rootproof.experiments.matter import Matter
from rootproof.experiments.record import Confirmation, Run


def inert(matter: Matter) -> Verdict | None:
    """An edit that alters bytes and nothing else must leave the failure as it is."""
    record = matter.record
    runs = record.of("inert")
    if not runs:
        return None if is_unmade(record, "inert") else not_done(matter, "inert")
    if all(run.failed(record.target, record.signature) and run.files for run in runs):
        return None
    return undecided(
        "inert_control", "an edit that changes nothing changes the outcome: the test reacts to any edit, or to a cache"
    )


def placed(matter: Matter) -> Verdict | None:
    """A like change in another function must not help as cleanly."""
    record = matter.record
    own = set(matter.functions)
    for number, place in enumerate(record.places):
        runs = record.of("place", f"place:{number}")
        if not runs:
            return not_done(matter, "place")
        if place.function in own or runs[0].files != matter.files_of(place.edits):
            return undecided("place_control", f"the control at {place.function} is not what it should be")
        ended = cut(record, runs[0], *record.of("place_neighbours", f"unchanged:{number}"))
        ended = ended or cut(record, *record.of("place_neighbours", f"place:{number}"))
        if ended is not None and not matter.masks(place.edits, known=True):
            return ended
        if (
            runs[0].passed(record.target)
            and not place_breaks(record, number)
            and not matter.masks(place.edits, known=True)
        ):
            return undecided("ambiguous", f"a change in {place.function} makes the target pass as cleanly")
    return None


def place_breaks(record: Confirmation, number: int, pairs: int = 1 + PAIRS_AGAIN) -> bool:
    """Whether a neighbour of the other place passes each time without the change there, and never with it.

    Args:
        pairs: how many there must be.
    """
    after = record.of("place_neighbours", f"place:{number}")
    before = record.of("place_neighbours", f"unchanged:{number}")
    return min(len(before), len(after)) >= pairs and any(
        all(run.passed(test) for run in before) and not any(run.passed(test) for run in after)
        for test in record.places[number].neighbours
    )


def asserted(matter: Matter) -> Verdict | None:
    """With the change in place the failing assertion still decides: turned round, it fails."""
    record = matter.record
    runs = record.of("assertion")
    if not runs:
        return None if is_unmade(record, "assertion") else not_done(matter, "assertion")
    ended = cut(record, *runs)
    if ended is not None:
        return ended
    copies = wanted_copies(matter)
    if not copies:
        return undecided("assertion_control", "no copy of the test could be derived")
    for copy in copies:
        said = _not_turned(copy, runs[0])
        if said:
            again = [not _not_turned(copy, run) for run in record.of("assertion_again")]
            return _each_time(matter, "assertion", again) or undecided("assertion_control", said)
    return None


def _not_turned(copy: test_copies.Copy, run: Run) -> str:
    """Why a turned copy did not fail where it should; empty where it did."""
    outcome = run.outcome(copy.test)
    if outcome is None or outcome.status != "failed" or outcome.phase != "call":
        seen = outcome.status if outcome else "without an outcome"
        return f"with its assertion turned round the test is {seen}: it no longer checks anything"
    if copy.marked and test_copies.MARK not in outcome.signature:
        return f"the turned assertion was not reached: {outcome.signature[:120]}"
    return ""


def _each_time(matter: Matter, control: str, again: Sequence[bool]) -> Verdict | None:
    """What is said of a copy that told against the change, before it did so each time; None where it did.

    Args:
        again: of each further run whether the copy did what it should.
    """
    ended = cut(matter.record, *matter.record.of(f"{control}_again"))
    if ended is not None:
        return ended
    if any(again):
        return undecided("unsteady_copy", f"{control}: the copy of the test did one thing, then another")
    return not_done(matter, f"{control}_again") if len(again) < AGAIN else None


def wanted_copies(matter: Matter) -> tuple[test_copies.Copy, ...]:
    record = matter.record
    data = matter.sources.get(matter.test_file, b"")
    if script_source.is_script(matter.test_file):
        return _script_copies(matter, script_source.NEGATED)
    return test_copies.turned(record.target, data, record.failing[1], raised=not matter.at_assertion)


def renamed_copy(matter: Matter) -> test_copies.Copy | None:
    """The test under another name; None where no such copy can be made."""
    if script_source.is_script(matter.test_file):
        return next(iter(_script_copies(matter, script_source.RENAMED)), None)
    return test_copies.renamed(matter.record.target, matter.sources.get(matter.test_file, b""))


def _script_copies(matter: Matter, wanted: str) -> tuple[test_copies.Copy, ...]:
    data, line = matter.sources.get(matter.test_file, b""), matter.record.failing[1]
    made = script_source.copies(matter.record.target, data, line)
    return tuple(test_copies.Copy(edit, test, False) for name, edit, test in made if name == wanted)


def renamed(matter: Matter) -> Verdict | None:
    """The test passes under another name too: nothing looks at its name."""
    record = matter.record
    runs = record.of("renamed")
    if not runs:
        return None if is_unmade(record, "renamed") else not_done(matter, "renamed")
    copy = renamed_copy(matter)
    if copy is not None and runs[0].passed(copy.test):
        return None
    again = [copy is not None and run.passed(copy.test) for run in record.of("renamed_again")]
    ended = cut(record, *runs) or _each_time(matter, "renamed", again)
    return ended or undecided("renamed_copy", "the test does not pass under another name")


def compared(matter: Matter) -> Verdict | None:
    """A new comparison method must be seen giving both outcomes."""
    for name in comparison_methods(matter):
        trace = matter.record.trace("changed")
        values = {v for key, given in (trace.returns if trace else ()) for v in given if key == name}
        if not {"True", "False"} <= values and (trace is None or not trace.told):
            return undecided("not_finished", f"the traced run did not end as it should: {name} was not seen to its end")
        if not {"True", "False"} <= values:
            return undecided("one_sided_comparison", f"{name} was not seen giving both outcomes")
    return None


def comparison_methods(matter: Matter) -> tuple[str, ...]:
    """``file::Class.method`` of comparison methods that the change brings."""
    found: list[str] = []
    for path in matter.new:
        before, after = matter.tree(path), matter.tree(path, new=True)
        if before is not None and after is not None:
            found.extend(f"{path}::{name}" for name, _, _ in new_comparisons(before, after))
    return tuple(found)
