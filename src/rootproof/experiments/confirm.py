"""The confirmation: stage after stage of cold runs, each judged before the next is paid for.

What is written down is what was seen. What follows from it is said by ``verdict`` alone, from the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rootproof.canonical import digest_bytes
from rootproof.contract import file_of
from rootproof.experiments import controls, script_source, verdict
from rootproof.experiments.baseline import Baseline, earlier_assertions
from rootproof.experiments.change import Change, Edit, Refused
from rootproof.experiments.cold import Cold, Site, Wanted
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.masks import tree_of
from rootproof.experiments.matter import Matter
from rootproof.experiments.neighbours import MOST, Spectrum, neighbours, places_to_watch
from rootproof.experiments.owners import Owner, rough_owners
from rootproof.experiments.readers import Elsewhere, paired_span
from rootproof.experiments.record import Confirmation, Place
from rootproof.experiments.reduce import apply_all, fits
from rootproof.experiments.reduction import reduced
from rootproof.experiments.trace import Trace
from rootproof.experiments.watching import MAX_FILES, as_record, traced

MAX_SOURCES = 2 * 1024 * 1024
Stage = Callable[["Confirming", Confirmation], Confirmation]


@dataclass
class Confirming:
    """The means of one confirmation."""

    site: Site
    cold: Cold
    base: Baseline
    sources: dict[str, bytes]
    """Every file the record names, read once at the beginning."""
    spectrum: Spectrum | None = None

    def changed(self, record: Confirmation, wanted: Wanted, edits: Sequence[Edit]) -> Confirmation:
        """One run with edits in place, added to the record."""
        files = apply_all(edits, self.sources)
        assert not isinstance(files, Refused)
        return _with(record, self.cold.run(wanted, files))

    def matter(self, record: Confirmation) -> Matter:
        return Matter(record, self.sources)


def _with(record: Confirmation, *runs: object) -> Confirmation:
    return replace(record, runs=(*record.runs, *runs))  # type: ignore[arg-type]


def begin(site: Site, base: Baseline, proposed: Sequence[Edit], tries: int) -> tuple[Confirmation, dict[str, bytes]]:
    """The record as it is before any run of its own, and the sources it is about."""
    test_file = file_of(base.target)
    covered = base.trace is not None
    wanted = dict.fromkeys([*(e.file for e in proposed), test_file, *_traced_files(base.trace)])
    sources: dict[str, bytes] = {}
    for path in list(wanted)[: MAX_FILES + 5]:
        data = site.read(path)
        if (
            path in (test_file, *(e.file for e in proposed))
            or sum(map(len, sources.values())) + len(data) < MAX_SOURCES
        ):
            sources[path] = data
    record = Confirmation(
        target=base.target,
        tree=base.tree,
        proposed=tuple(proposed),
        level=site.sandbox.level,
        covered=covered or not test_file.endswith(".py"),
        tries=tries,
        signature=base.signature,
        operands=base.operands,
        raised=base.raised,
        failing=base.failing,
        files=tuple(sorted((path, digest_bytes(data)) for path, data in sources.items())),
        tests=site.test_files,
        runs=base.runs,
        traces=(as_record(base.trace, "unchanged", sources),) if base.trace else (),
    )
    return replace(record, covered=test_file.endswith(".py")), sources


def _traced_files(trace: Trace | None) -> list[str]:
    return sorted(trace.lines) if trace else []


def confirm(
    site: Site, cold: Cold, base: Baseline, proposed: Sequence[Edit], tries: int
) -> tuple[Confirmation, dict[str, bytes]]:
    """Carry one proposed change through the protocol, as far as it holds.

    Raises:
        ContainmentUnavailable: a run could not be started.
    """
    record, sources = begin(site, base, proposed, tries)
    cold.number = max([run.number for run in base.runs], default=0)
    if base.trace is not None:
        lines = dict(base.trace.lines)
        spectrum = Spectrum(base.target, base.trace.runs, lines)
        state = Confirming(site, cold, base, sources, spectrum)
    else:
        state = Confirming(site, cold, base, sources)
    for stage, judgements in STAGES:
        if stage is not None and not record.stopped[0]:
            record = stage(state, record)
        matter = state.matter(record)
        if any(judgement(matter) is not None for judgement in judgements):
            return record, sources
    return record, sources


def pair_up(state: Confirming, record: Confirmation) -> Confirmation:
    """Find the other side of a relation among what the target executed."""
    matter = state.matter(record)
    if state.base.trace is None or not matter.new:
        return record
    ran = {f: lines for f, lines in state.base.trace.lines.items() if not protected(f, state.site.test_files)}
    for path in matter.new:
        old, new = matter.tree(path), matter.tree(path, new=True)
        if old is None or new is None:
            continue
        own = frozenset(owner.key for owner in rough_owners(matter.edits, state.sources))
        span = paired_span(old, new, Elsewhere(state.sources, ran, own))
        if span is not None:
            return replace(record, paired=(span,))
    return record


def reserve(state: Confirming, record: Confirmation) -> Confirmation:
    """Say first if the budget cannot hold what a confirmation needs."""
    runs = 2 * controls.pairs_needed(record.tries) + controls.FIXED_RUNS
    short = state.cold.meter.short(runs, state.base.cold_seconds)
    return replace(record, stopped=("reserve", short)) if short else record


def flip(state: Confirming, record: Confirmation) -> Confirmation:
    return state.changed(record, Wanted("flip", "changed", (record.target,), seed=0), record.proposed)


def near(state: Confirming, record: Confirmation) -> Confirmation:
    """Choose the neighbours, run them unchanged and with the change in one order."""
    chosen = _chosen(state, record)
    if not chosen:
        return replace(record, earlier_assertions=_earlier(state, record))
    record = replace(record, neighbours=chosen)
    record = _with(record, state.cold.run(Wanted("neighbours", "unchanged", chosen, chosen)))
    return changed_neighbours(state, record)


def _earlier(state: Confirming, record: Confirmation) -> bool:
    if state.base.trace is None:
        return False
    found = frozenset((o.file, o.name) for o in _touched(state, record) if o.is_function)
    return earlier_assertions(state.base.trace, found, state.site)


def _touched(state: Confirming, record: Confirmation) -> tuple[Owner, ...]:
    matter = state.matter(record)
    if fits(matter.edits):
        return tuple(dict.fromkeys(owner for group in matter.by_edit.values() for owner in group))
    return rough_owners(matter.edits, state.sources)


def _chosen(state: Confirming, record: Confirmation) -> tuple[str, ...]:
    if state.spectrum is None:
        return state.base.passing[:MOST]
    owners = _touched(state, record)
    found = list(neighbours(state.spectrum, places_to_watch(owners, state.sources)))
    fresh = [owner for owner in owners if owner.new and owner.is_function]
    if fresh:
        files = state.matter(record).new
        trace = traced(state.site, state.cold.meter, record.target, state.site.test_files, files)
        after = Spectrum(record.target, trace.runs, trace.lines)
        passed = {run.test for run in state.spectrum.runs if run.status == "passed"}
        there = {**state.sources, **files}
        seen = [_now(owner, there) for owner in fresh]
        watched = places_to_watch([owner for owner in seen if owner is not None], there)
        found.extend(t for t in neighbours(after, watched) if t in passed and t not in found)
    return tuple(found[:MOST])


def _now(owner: Owner, sources: dict[str, bytes]) -> Owner | None:
    from rootproof.experiments.grade import owner_in

    return owner_in(owner, sources)


def changed_neighbours(state: Confirming, record: Confirmation) -> Confirmation:
    """Run the neighbours with the change; those that fail once more unchanged, and drop what fails there too."""
    wanted = Wanted("neighbours", "changed", record.neighbours, record.neighbours)
    record = state.changed(record, wanted, state.matter(record).edits)
    before, after = record.of("neighbours", "unchanged")[0], record.runs[-1]
    gone: list[tuple[str, str]] = []
    broken = [t for t in record.neighbours if before.passed(t) and not after.passed(t)]
    if broken:
        again = state.cold.run(Wanted("neighbours_again", "unchanged", record.neighbours, record.neighbours))
        record = _with(record, again)
        gone.extend((t, "it fails unchanged too") for t in broken if not again.passed(t))
    return replace(record, dropped=tuple(dict.fromkeys((*record.dropped, *gone))))


def reduce(state: Confirming, record: Confirmation) -> Confirmation:
    kept = verdict.lasting(record)
    tests = (record.target, *kept)
    record, edits = reduced(state, record, tests)
    record = replace(record, reduced=edits)
    if record.stopped[0] or not fits(edits):
        return record
    if state.matter(record).files_of(edits) != state.matter(record).files_of(record.proposed) and record.neighbours:
        record = changed_neighbours(state, record)
    return record


def retrace(state: Confirming, record: Confirmation) -> Confirmation:
    """Trace the target with the reduced change in place."""
    if state.base.trace is None:
        return record
    matter = state.matter(record)
    methods = verdict.comparison_methods(matter)
    trace = traced(state.site, state.cold.meter, record.target, (), matter.new)
    after = as_record(trace, "changed", {**state.sources, **matter.new}, methods)
    return replace(record, traces=(*record.traces, after))


def pairs(state: Confirming, record: Confirmation) -> Confirmation:
    target, edits = (record.target,), record.reduced
    for number in range(controls.pairs_needed(record.tries)):
        short = state.cold.meter.short(2, state.base.cold_seconds)
        if short:
            return replace(record, stopped=("pairs", short))
        seed = number + 1
        record = _with(record, state.cold.run(Wanted("pair", "unchanged", target, seed=seed)))
        record = state.changed(record, Wanted("pair", "changed", target, seed=seed), edits)
        if verdict.paired(state.matter(record)) not in (None, verdict.unfinished(record)):
            return record
    return record


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
    file, kept = record.reduced[0].file, verdict.lasting(record)
    own = [n for e in record.reduced for n in range(e.first, e.last + 1) if e.file == file]
    data = state.sources[file]
    chosen = script_source.negations(file, data, own, record.change.digest, controls.MAX_PLACES)
    return _try_places(state, record, [(f, c, kept) for f, c in chosen])


def _try_places(
    state: Confirming, record: Confirmation, chosen: Sequence[tuple[str, Change, tuple[str, ...]]]
) -> Confirmation:
    for number, (function, change, near_it) in enumerate(chosen):
        record = replace(record, places=(*record.places, Place(function, change.edits, near_it)))
        wanted = Wanted("place", f"place:{number}", (record.target,), seed=1)
        record = state.changed(record, wanted, change.edits)
        if record.runs[-1].passed(record.target) and near_it:
            plain = Wanted("place_neighbours", f"unchanged:{number}", near_it, near_it)
            record = _with(record, state.cold.run(plain))
            record = state.changed(record, replace(plain, variant=f"place:{number}"), change.edits)
    return record


def _neighbours_of(state: Confirming, function: str) -> tuple[str, ...]:
    file, _, name = function.partition("::")
    tree = tree_of(state.sources.get(file, b""))
    if tree is None or state.spectrum is None:
        return ()
    from rootproof.experiments.owners import all_owners

    owners = [owner for owner in all_owners(file, tree) if owner.name == name]
    return neighbours(state.spectrum, places_to_watch(owners, state.sources))


def assertion(state: Confirming, record: Confirmation) -> Confirmation:
    copies = verdict.wanted_copies(state.matter(record))
    if not copies:
        return replace(record, unmade=(*record.unmade, ("assertion", "no copy of the test can be made in its file")))
    edits = (*record.reduced, *(copy.edit for copy in copies))
    ids = tuple(copy.test for copy in copies)
    return state.changed(record, Wanted("assertion", "changed", ids, seed=1), edits)


def renamed(state: Confirming, record: Confirmation) -> Confirmation:
    matter = state.matter(record)
    copy = verdict.renamed_copy(matter)
    if copy is None:
        return replace(record, unmade=(*record.unmade, ("renamed", "no copy of the test can be made in its file")))
    return state.changed(record, Wanted("renamed", "changed", (copy.test,), seed=1), (*record.reduced, copy.edit))


STAGES: tuple[tuple[Stage | None, tuple[verdict.Judgement, ...]], ...] = (
    (None, (verdict.applies, verdict.reproduced)),
    (pair_up, (verdict.not_masked,)),
    (reserve, (verdict.not_stopped,)),
    (flip, (verdict.flipped, verdict.contained)),
    (near, (verdict.neighbours,)),
    (reduce, (verdict.narrow_enough, verdict.minimal, verdict.not_masked)),
    (retrace, (verdict.executed, verdict.compared)),
    (pairs, (verdict.paired,)),
    (inert, (verdict.inert,)),
    (place, (verdict.placed,)),
    (assertion, (verdict.asserted,)),
    (renamed, (verdict.renamed, verdict.unswayed)),
)
"""What is done, and what must then have nothing against the change for the next to be done."""

__all__ = ["STAGES", "Change", "Confirming", "begin", "confirm"]
