"""The confirmation: stage after stage of cold runs, each judged before the next is paid for.

What is written down is what was seen. What follows from it is said by ``verdict`` alone, from the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rootproof.canonical import digest_bytes
from rootproof.contract import file_of
from rootproof.experiments import control_judgements, control_stages, judgements, stages
from rootproof.experiments.baseline import Baseline
from rootproof.experiments.change import Edit
from rootproof.experiments.cold import Cold, Site
from rootproof.experiments.conclusion import Judgement
from rootproof.experiments.neighbours import Spectrum
from rootproof.experiments.record import Confirmation
from rootproof.experiments.stages import Confirming
from rootproof.experiments.trace import Trace
from rootproof.experiments.watching import MAX_FILES, as_record

MAX_SOURCES = 2 * 1024 * 1024
Stage = Callable[[Confirming, Confirmation], Confirmation]


def begin(site: Site, base: Baseline, proposed: Sequence[Edit], tries: int) -> tuple[Confirmation, dict[str, bytes]]:
    """The record as it is before any run of its own, and the sources it is about."""
    test_file = file_of(base.target)
    wanted = dict.fromkeys([*(e.file for e in proposed), test_file, *_traced_files(base.trace)])
    sources: dict[str, bytes] = {}
    for path in list(wanted)[: MAX_FILES + 5]:
        data = site.read(path)
        if (
            path in (test_file, *(e.file for e in proposed))
            or sum(map(len, sources.values())) + len(data) < MAX_SOURCES
        ):
            sources[path] = data
    return Confirmation(
        target=base.target,
        tree=base.tree,
        proposed=tuple(proposed),
        level=site.sandbox.level,
        covered=test_file.endswith(".py"),
        tries=tries,
        signature=base.signature,
        operands=base.operands,
        raised=base.raised,
        failing=base.failing,
        files=tuple(sorted((path, digest_bytes(data)) for path, data in sources.items())),
        tests=site.test_files,
        runs=base.runs,
        traces=(as_record(base.trace, "unchanged", sources),) if base.trace else (),
    ), sources


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
    for stage, asked in STAGES:
        if stage is not None and not record.stopped[0]:
            record = stage(state, record)
        matter = state.matter(record)
        if any(judgement(matter) is not None for judgement in asked):
            return record, sources
    return record, sources


STAGES: tuple[tuple[Stage | None, tuple[Judgement, ...]], ...] = (
    (None, (judgements.applies, judgements.reproduced)),
    (stages.pair_up, (judgements.not_masked,)),
    (stages.reserve, (judgements.not_stopped,)),
    (stages.flip, (judgements.flipped, judgements.contained)),
    (stages.near, (judgements.neighbours,)),
    (stages.reduce, (judgements.narrow_enough, judgements.minimal, judgements.not_masked)),
    (stages.retrace, (judgements.executed, control_judgements.compared)),
    (stages.pairs, (judgements.paired,)),
    (
        control_stages.controls_at_once,
        (
            control_judgements.inert,
            control_judgements.placed,
            control_judgements.asserted,
            control_judgements.renamed,
            judgements.unswayed,
        ),
    ),
)
"""What is done, and what must then have nothing against the change for the next to be done."""
