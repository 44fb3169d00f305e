"""The stages of a confirmation up to the pairs: each makes its runs and writes down what was seen, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rootproof.canonical import digest_bytes
from rootproof.experiments import control_judgements, controls, judgements
from rootproof.experiments.baseline import Baseline, earlier_assertions
from rootproof.experiments.change import Edit, Refused
from rootproof.experiments.cold import Cold, Site, Wanted
from rootproof.experiments.conclusion import lasting, unfinished
from rootproof.experiments.cut import cut
from rootproof.experiments.grade import owner_in
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.matter import Matter
from rootproof.experiments.neighbours import MOST, NEAREST, Spectrum, neighbours, places_to_watch
from rootproof.experiments.owners import Owner, rough_owners
from rootproof.experiments.readers import Elsewhere, paired_span
from rootproof.experiments.record import Confirmation, Run
from rootproof.experiments.reduce import apply_all, fits
from rootproof.experiments.reduction import reduced
from rootproof.experiments.script_source import is_script
from rootproof.experiments.script_tokens import other_side
from rootproof.experiments.sources import parse
from rootproof.experiments.watching import as_record, traced


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
        return with_runs(record, *self.cold.run_all([self.beside(wanted, edits)]))

    def beside(self, wanted: Wanted, edits: Sequence[Edit]) -> tuple[Wanted, dict[str, bytes]]:
        """What is to be run, and the files it is run with."""
        files = apply_all(edits, self.sources)
        assert not isinstance(files, Refused)
        return wanted, files

    def pair(self, record: Confirmation, wanted: Wanted, edits: Sequence[Edit]) -> Confirmation:
        """The same tests without and with edits, both begun at once, so that neither meets a busier machine."""
        unchanged = replace(wanted, variant="unchanged")
        both = [(unchanged, {}), self.beside(replace(wanted, variant="changed"), edits)]
        return with_runs(record, *self.cold.run_all(both))

    def matter(self, record: Confirmation) -> Matter:
        return Matter(record, self.sources)


def with_runs(record: Confirmation, *runs: Run) -> Confirmation:
    """The record with more runs."""
    return replace(record, runs=(*record.runs, *runs))


def pair_up(state: Confirming, record: Confirmation) -> Confirmation:
    """Find the other side of a relation among what the target executed; without a trace by its key alone."""
    matter = state.matter(record)
    if is_script(matter.test_file) and matter.new:
        return _pair_up_by_key(state, record)
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


def _pair_up_by_key(state: Confirming, record: Confirmation) -> Confirmation:
    matter, site = state.matter(record), state.site
    there = {path: state.sources.get(path) or site.read(path) for path in site.sources if is_script(path)}
    span = other_side(matter.edits, matter.new, {p: d for p, d in there.items() if not protected(p, site.test_files)})
    if span is None:
        return record
    state.sources[span.path] = there[span.path]
    files = {**dict(record.files), span.path: digest_bytes(there[span.path])}
    return replace(record, paired=(span,), files=tuple(sorted(files.items())))


def reserve(state: Confirming, record: Confirmation) -> Confirmation:
    """Say first if the budget cannot hold what a confirmation needs."""
    short = state.cold.meter.short(controls.runs_needed(record.tries), state.base.cold_seconds)
    return replace(record, stopped=("reserve", short)) if short else record


def flip(state: Confirming, record: Confirmation) -> Confirmation:
    """The target with the change; where it fails, further runs under other seeds: one failure may be chance."""
    wanted = Wanted("flip", "changed", (record.target,), seed=0)
    record = state.changed(record, wanted, record.proposed)
    if record.runs[-1].passed(record.target) or record.runs[-1].cut:
        return record
    again = [replace(wanted, stage="flip_again", seed=number + 1) for number in range(controls.AGAIN)]
    return with_runs(record, *state.cold.run_all([state.beside(each, record.proposed) for each in again]))


def near(state: Confirming, record: Confirmation) -> Confirmation:
    """Choose the neighbours, run them unchanged and with the change in one order."""
    chosen, whole = _chosen(state, record)
    record = replace(record, neighbours_cut=not whole)
    if not chosen:
        return replace(record, earlier_assertions=_earlier(state, record))
    record = replace(record, neighbours=chosen, witnesses=_witnesses(state, record, chosen))
    record = state.pair(record, Wanted("neighbours", "", chosen, chosen), state.matter(record).edits)
    return without_broken(state, record)


def _witnesses(state: Confirming, record: Confirmation, chosen: Sequence[str]) -> int:
    """Neighbours that run a changed statement; of a statement outside functions everything is one, so none is counted.

    A neighbour that runs the function but not the statement says nothing of what is put there.
    """
    if state.spectrum is None or not all(owner.is_function for owner in touched(state, record)):
        return -1
    lines: dict[str, set[int]] = {}
    for edit in record.proposed:
        module = parse(edit.file, state.sources[edit.file])
        for line in range(min(edit.first, edit.last), max(edit.first, edit.last) + 1):
            statement = module.by_line.get(line) if module else None
            lines.setdefault(edit.file, set()).update(statement.lines if statement else (line,))
    ran = {run.test: run.lines for run in state.spectrum.runs}
    return sum(
        any(not s.isdisjoint(ran[test].get(file, ())) for file, s in lines.items()) for test in chosen if test in ran
    )


def _earlier(state: Confirming, record: Confirmation) -> bool:
    if state.base.trace is None:
        return False
    found = frozenset((o.file, o.name) for o in touched(state, record) if o.is_function)
    return earlier_assertions(state.base.trace, found, state.site)


def touched(state: Confirming, record: Confirmation) -> tuple[Owner, ...]:
    matter = state.matter(record)
    if fits(matter.edits):
        return tuple(dict.fromkeys(owner for group in matter.by_edit.values() for owner in group))
    return rough_owners(matter.edits, state.sources)


def _chosen(state: Confirming, record: Confirmation) -> tuple[tuple[str, ...], bool]:
    """The neighbours, and whether every traced pass that they were looked for in came to its end."""
    if state.spectrum is None:
        return state.base.passing[:NEAREST], True
    whole = state.base.trace is not None and state.base.trace.whole
    owners = touched(state, record)
    found = list(neighbours(state.spectrum, places_to_watch(owners, state.sources)))
    fresh = [owner for owner in owners if owner.new and owner.is_function]
    if fresh:
        files = state.matter(record).new
        trace = traced(state.site, state.cold.meter, record.target, files)
        whole = whole and trace.whole
        after = Spectrum(record.target, trace.runs, trace.lines)
        passed = {run.test for run in state.spectrum.runs if run.status == "passed"}
        there = {**state.sources, **files}
        seen = [owner_in(owner, there) for owner in fresh]
        watched = places_to_watch([owner for owner in seen if owner is not None], there)
        found.extend(t for t in neighbours(after, watched) if t in passed and t not in found)
    return tuple(found[:MOST]), whole


def changed_neighbours(state: Confirming, record: Confirmation) -> Confirmation:
    """Run the neighbours with the change."""
    wanted = Wanted("neighbours", "changed", record.neighbours, record.neighbours)
    return without_broken(state, state.changed(record, wanted, state.matter(record).edits))


def without_broken(state: Confirming, record: Confirmation) -> Confirmation:
    """Run the neighbours in further pairs while some failed with the change only; drop what fails unchanged too."""
    wanted = Wanted("neighbours_again", "", record.neighbours, record.neighbours)
    gone: dict[str, str] = dict(record.dropped)
    for _ in range(controls.PAIRS_AGAIN):
        matter = state.matter(record)
        doubtful = judgements.broken(matter)
        if not doubtful or state.cold.meter.short(2, state.base.cold_seconds):
            break
        record = state.pair(record, wanted, matter.edits)
        unchanged, changed = record.runs[-2:]
        if cut(record, unchanged, changed) is not None or any(unchanged.silent(test) for test in doubtful):
            return record  # what it did not come to tells nothing of the neighbours
        gone.update({test: "it fails unchanged too" for test in doubtful if not unchanged.passed(test)})
        record = replace(record, dropped=tuple(gone.items()))
    return record


def reduce(state: Confirming, record: Confirmation) -> Confirmation:
    kept = lasting(record)
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
    methods = control_judgements.comparison_methods(matter)
    trace = traced(state.site, state.cold.meter, record.target, matter.new, beside=False)
    after = as_record(trace, "changed", {**state.sources, **matter.new}, methods)
    return replace(record, traces=(*record.traces, after))


def pairs(state: Confirming, record: Confirmation) -> Confirmation:
    target, edits = (record.target,), record.reduced
    for number in range(controls.pairs_needed(record.tries)):
        short = state.cold.meter.short(2, state.base.cold_seconds)
        if short:
            return replace(record, stopped=("pairs", short))
        record = state.pair(record, Wanted("pair", "", target, seed=number + 1), edits)
        if judgements.paired(state.matter(record)) not in (None, unfinished(record)):
            return record
    return record
