"""The stages of the controls: each puts something beside the change, runs, and writes down what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rootproof.experiments import control_judgements, controls, script_source
from rootproof.experiments.change import Change
from rootproof.experiments.cold import Wanted
from rootproof.experiments.conclusion import lasting
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.masks import tree_of
from rootproof.experiments.neighbours import neighbours, places_to_watch
from rootproof.experiments.owners import all_owners
from rootproof.experiments.record import Confirmation, Place
from rootproof.experiments.stages import Confirming, with_runs


def inert(state: Confirming, record: Confirmation) -> Confirmation:
    change = controls.inert(record.change, state.sources)
    if change is None:
        return replace(record, unmade=(*record.unmade, ("inert", "no edit without effect could be made there")))
    return state.changed(record, Wanted("inert", "inert", (record.target,), seed=1), change.edits)


def place(state: Confirming, record: Confirmation) -> Confirmation:
    """A like change elsewhere; where it flips the target, the neighbours of that place too."""
    matter = state.matter(record)
    if state.base.trace is None:
        return _place_without_trace(state, record)
    ran = {f: n for f, n in state.base.trace.lines.items() if not protected(f, state.site.test_files)}
    chosen = controls.places(record.change, ran, state.sources, matter.functions)
    return _try_places(state, record, [(f, c, _neighbours_of(state, f)) for f, c in chosen])


def _place_without_trace(state: Confirming, record: Confirmation) -> Confirmation:
    """The other places are taken from the subject's own files; their neighbours are the change's."""
    file, kept = record.reduced[0].file, lasting(record)
    own = [n for e in record.reduced for n in range(e.first, e.last + 1) if e.file == file]
    data = state.sources[file]
    chosen = script_source.negations(file, data, own, record.change.digest, controls.MAX_PLACES)
    return _try_places(state, record, [(f, c, kept) for f, c in chosen])


def _try_places(
    state: Confirming, record: Confirmation, chosen: Sequence[tuple[str, Change, tuple[str, ...]]]
) -> Confirmation:
    tried = tuple(Place(function, change.edits, near_it) for function, change, near_it in chosen)
    first, asked = len(record.places), []
    for number, each in enumerate(tried, first):
        asked.append(state.beside(Wanted("place", f"place:{number}", (record.target,), seed=1), each.edits))
    runs = state.cold.run_all(asked)
    record = with_runs(replace(record, places=(*record.places, *tried)), *runs)
    for number, (each, run) in enumerate(zip(tried, runs, strict=True), first):
        if run.passed(record.target) and each.neighbours:
            plain = Wanted("place_neighbours", f"unchanged:{number}", each.neighbours, each.neighbours)
            changed = state.beside(replace(plain, variant=f"place:{number}"), each.edits)
            record = with_runs(record, *state.cold.run_all([(plain, {}), changed]))
    return record


def _neighbours_of(state: Confirming, function: str) -> tuple[str, ...]:
    file, _, name = function.partition("::")
    tree = tree_of(state.sources.get(file, b""))
    if tree is None or state.spectrum is None:
        return ()
    owners = [owner for owner in all_owners(file, tree) if owner.name == name]
    return neighbours(state.spectrum, places_to_watch(owners, state.sources))


def assertion(state: Confirming, record: Confirmation) -> Confirmation:
    copies = control_judgements.wanted_copies(state.matter(record))
    if not copies:
        return replace(record, unmade=(*record.unmade, ("assertion", "no copy of the test can be made in its file")))
    edits = (*record.reduced, *(copy.edit for copy in copies))
    ids = tuple(copy.test for copy in copies)
    return state.changed(record, Wanted("assertion", "changed", ids, seed=1), edits)


def renamed(state: Confirming, record: Confirmation) -> Confirmation:
    matter = state.matter(record)
    copy = control_judgements.renamed_copy(matter)
    if copy is None:
        return replace(record, unmade=(*record.unmade, ("renamed", "no copy of the test can be made in its file")))
    return state.changed(record, Wanted("renamed", "changed", (copy.test,), seed=1), (*record.reduced, copy.edit))
