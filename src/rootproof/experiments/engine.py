"""One project in the engine: traced once for each test, searched with mutants, every run in the same sandbox."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rootproof.experiments.mutants import MutantLimits, Search, mutants_command, read_search
from rootproof.experiments.plan import plan
from rootproof.experiments.rerank import rerank
from rootproof.experiments.sources import Sources
from rootproof.experiments.spectrum import Spectrum, spectrum
from rootproof.experiments.suspects import Ranking, rank
from rootproof.experiments.trace import Subject, Trace, TraceLimits, read_trace, trace_command
from rootproof.sandbox.interface import Sandbox

SPECTRUM_SECONDS = 120.0
SPECTRUM_TESTS = 500


@dataclass(frozen=True)
class Study:
    """What is known of one failing test after tracing."""

    trace: Trace
    spectrum: Spectrum
    ranking: Ranking


@dataclass
class Engine:
    """The engine for one tree. Studies are kept while the process lives; a changed tree needs a new engine."""

    subject: Callable[[str], Subject]
    """Project as it must be run for one test."""
    sandbox: Sandbox
    files: Sequence[str]
    """Every test file of the project."""
    sources: Sources
    jobs: int = 1
    _studies: dict[str, Study] = field(default_factory=dict)
    _tried: dict[str, set[str]] = field(default_factory=dict)
    """Digests of the changes that were tried for a test; a later search goes on where the last one stopped."""

    def study(self, test: str, seconds: float) -> Study:
        """Trace one test beside its neighbours, nearest files first."""
        if test not in self._studies:
            self._studies[test] = self._trace(test, seconds)
        return self._studies[test]

    def _trace(self, test: str, seconds: float) -> Study:
        own = test.split("::", 1)[0]
        files = [own, *(file for file in self.files if file != own)]
        limits = TraceLimits(
            target_seconds=min(60.0, max(seconds / 4, 5.0)),
            seconds=min(SPECTRUM_SECONDS, max(seconds / 4, 5.0)),
            tests=SPECTRUM_TESTS,
        )
        with tempfile.TemporaryDirectory(prefix="rootproof-trace-") as scratch:
            command = trace_command(self.subject(test), [test], files, Path(scratch), limits)
            trace = read_trace(test, self.sandbox.run(command))
        found = spectrum(trace, self.sources)
        return Study(trace, found, rank(trace, found, self.sources))

    def nearest(self, test: str) -> str:
        """The passing test whose run is most like the target's, if it was traced; else empty."""
        study = self._studies.get(test)
        if study is None or not study.spectrum.passing:
            return ""
        near = study.spectrum.nearness
        return study.spectrum.passing[max(range(len(near)), key=lambda number: near[number])][0]

    def search(self, test: str, most: int, limits: MutantLimits) -> tuple[Study, Search]:
        """Try up to ``most`` changes of the suspects, the most promising first, none of them twice.

        The study that comes back, and is kept, has its suspects ranked anew by what the search heard from them.
        """
        study = self.study(test, limits.seconds)
        tried = self._tried.setdefault(test, set())
        every = plan(study.trace, study.spectrum, study.ranking, self.sources, most + len(tried))
        mutants = [mutant for mutant in every if mutant.change.digest not in tried][:most]
        with tempfile.TemporaryDirectory(prefix="rootproof-search-") as scratch:
            command = mutants_command(self.subject(test), study.trace, mutants, self.sources, Path(scratch), limits)
            completed = self.sandbox.run(command)
        search = read_search(completed, mutants)
        tried.update(mutants[verdict.mutant].change.digest for verdict in search.verdicts)
        ranking = rerank(study.ranking, mutants, search, self.sources)
        self._studies[test] = study = replace(study, ranking=ranking)
        return study, search
