"""The stage of the controls: each puts something beside the change; all are run, and what was seen is written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rootproof.experiments import control_judgements, controls, script_source
from rootproof.experiments.change import Edit
from rootproof.experiments.cold import Wanted
from rootproof.experiments.conclusion import lasting
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.masks import tree_of
from rootproof.experiments.neighbours import neighbours, places_to_watch
from rootproof.experiments.owners import all_owners
from rootproof.experiments.record import Confirmation, Place
from rootproof.experiments.stages import Confirming, with_runs

Asked = tuple[Wanted, Sequence[Edit]]
"""One run, and the edits it is made with."""
Planned = tuple[Confirmation, list[Asked]]
"""The record with what was decided before any run, and the runs."""


def controls_at_once(state: Confirming, record: Confirmation) -> Confirmation:
    """All controls side by side, for none waits for another's outcome; then the neighbours of places that helped."""
    asked: list[Asked] = []
    for plan in (_inert, _places, _assertion, _renamed):
        record, wanted = plan(state, record)
        asked += wanted
    runs = state.cold.run_all([state.beside(*each) for each in asked])
    return _neighbours_of_places(state, _copies_again(state, with_runs(record, *runs), asked))


def _copies_again(state: Confirming, record: Confirmation, asked: Sequence[Asked]) -> Confirmation:
    """A copy of the test that tells against the change is run again under other seeds, as far as the budget goes."""
    matter = state.matter(record)
    said = {"assertion": control_judgements.asserted(matter), "renamed": control_judgements.renamed(matter)}
    against = {control for control, verdict in said.items() if verdict is not None and verdict.rule != "cut"}
    for wanted, edits in asked:
        if wanted.stage not in against or state.cold.meter.short(controls.AGAIN, state.base.cold_seconds):
            continue
        again = [replace(wanted, stage=f"{wanted.stage}_again", seed=2 + n) for n in range(controls.AGAIN)]
        record = with_runs(record, *state.cold.run_all([state.beside(each, edits) for each in again]))
    return record


def _inert(state: Confirming, record: Confirmation) -> Planned:
    change = controls.inert(record.change, state.sources)
    if change is None:
        return _unmade(record, "inert", "no edit without effect could be made there")
    return record, [(Wanted("inert", "inert", (record.target,), seed=1), change.edits)]


def _places(state: Confirming, record: Confirmation) -> Planned:
    """A like change elsewhere."""
    places = tuple(_chosen_places(state, record))
    asked: list[Asked] = [
        (Wanted("place", f"place:{number}", (record.target,), seed=1), each.edits) for number, each in enumerate(places)
    ]
    return replace(record, places=places), asked


def _chosen_places(state: Confirming, record: Confirmation) -> Iterator[Place]:
    if state.base.trace is None:
        yield from _places_without_trace(state, record)
        return
    ran = {f: n for f, n in state.base.trace.lines.items() if not protected(f, state.site.test_files)}
    for function, change in controls.places(record.change, ran, state.sources, state.matter(record).functions):
        yield Place(function, change.edits, _neighbours_of(state, function))


def _places_without_trace(state: Confirming, record: Confirmation) -> Iterator[Place]:
    """The other places are taken from the subject's own files; their neighbours are the change's."""
    file, kept = record.reduced[0].file, lasting(record)
    own = [n for e in record.reduced for n in range(e.first, e.last + 1) if e.file == file]
    data = state.sources[file]
    for function, change in script_source.negations(file, data, own, record.change.digest, controls.MAX_PLACES):
        yield Place(function, change.edits, kept)


def _neighbours_of_places(state: Confirming, record: Confirmation) -> Confirmation:
    """Where a place flips the target: whether it does so cleanly."""
    for number, place in enumerate(record.places):
        run = record.of("place", f"place:{number}")[0]
        if not run.passed(record.target) or not place.neighbours:
            continue
        plain = Wanted("place_neighbours", f"unchanged:{number}", place.neighbours, place.neighbours)
        changed = state.beside(replace(plain, variant=f"place:{number}"), place.edits)
        for _ in range(1 + controls.PAIRS_AGAIN):
            record = with_runs(record, *state.cold.run_all([(plain, {}), changed]))
            if not control_judgements.place_breaks(record, number, 1):
                break
    return record


def _neighbours_of(state: Confirming, function: str) -> tuple[str, ...]:
    file, _, name = function.partition("::")
    tree = tree_of(state.sources.get(file, b""))
    if tree is None or state.spectrum is None:
        return ()
    owners = [owner for owner in all_owners(file, tree) if owner.name == name]
    return neighbours(state.spectrum, places_to_watch(owners, state.sources))


def _assertion(state: Confirming, record: Confirmation) -> Planned:
    copies = control_judgements.wanted_copies(state.matter(record))
    if not copies:
        return _unmade(record, "assertion", "no copy of the test can be made in its file")
    edits = (*record.reduced, *(copy.edit for copy in copies))
    ids = tuple(copy.test for copy in copies)
    return record, [(Wanted("assertion", "changed", ids, seed=1), edits)]


def _renamed(state: Confirming, record: Confirmation) -> Planned:
    copy = control_judgements.renamed_copy(state.matter(record))
    if copy is None:
        return _unmade(record, "renamed", "no copy of the test can be made in its file")
    return record, [(Wanted("renamed", "changed", (copy.test,), seed=1), (*record.reduced, copy.edit))]


def _unmade(record: Confirmation, control: str, why: str) -> Planned:
    return replace(record, unmade=(*record.unmade, (control, why))), []
