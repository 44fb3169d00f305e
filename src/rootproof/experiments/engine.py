"""One project in the engine: traced once for each test, searched with mutants, every run in the same sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rootproof.experiments.combine import Tried, combined
from rootproof.experiments.mutants import Flip, Mutant, MutantLimits, Search, mutants_command, read_search
from rootproof.experiments.near import near_files
from rootproof.experiments.patches import OPERATOR, Patch, born, patches
from rootproof.experiments.plan import plan
from rootproof.experiments.progress import Hearing, Tell, silent
from rootproof.experiments.rerank import gives_one_constant, rerank
from rootproof.experiments.sources import Sources
from rootproof.experiments.spectrum import Spectrum, spectrum
from rootproof.experiments.suspects import Ranking, rank
from rootproof.experiments.trace import Subject, Trace, TraceLimits, read_trace, trace_command
from rootproof.sandbox.interface import Sandbox
from rootproof.sandbox.interrupt import scratch_folder

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
    tell: Tell = silent
    """Told how far a long request is."""
    tree: Callable[[], str] = str
    """Digest of the tree as it is now; empty: unknown, and no trace is lent."""
    _studies: dict[str, Study] = field(default_factory=dict)
    _trees: dict[str, str] = field(default_factory=dict)
    """Of each studied test the tree it was traced on."""
    _tried: dict[str, list[Tried]] = field(default_factory=dict)
    """What was tried for a test and what it did; a later search goes on where the last one stopped."""
    _born: dict[str, tuple[str, int] | None] = field(default_factory=dict)
    """Of each test the statement where a wrong value is born, if a patch told."""

    def studied(self, test: str) -> bool:
        """Whether a study of this test costs nothing any more."""
        return test in self._studies

    def study(self, test: str, seconds: float) -> Study:
        """Trace one test beside its neighbours, nearest files first."""
        if test not in self._studies:
            tree = self.tree()
            self._studies[test] = self._trace(test, seconds)
            self._trees[test] = tree
        return self._studies[test]

    def lent(self, test: str, tree: str) -> Trace | None:
        """The whole trace of a test that was made on this very tree, for others who need one; None: none was."""
        study = self._studies.get(test)
        if study is None or not tree or self._trees.get(test) != tree or study.trace.story.cut:
            return None
        return study.trace

    def _trace(self, test: str, seconds: float) -> Study:
        subject = self.subject(test)
        files = near_files(subject.root, test.split("::", 1)[0], self.files)
        limits = TraceLimits(
            target_seconds=min(60.0, max(seconds / 4, 5.0)),
            seconds=min(SPECTRUM_SECONDS, max(seconds / 4, 5.0)),
            tests=SPECTRUM_TESTS,
        )
        with scratch_folder("rootproof-trace-") as scratch:
            command = trace_command(subject, [test], files, scratch, limits)
            heard = replace(command, heard=Hearing(self.tell))
            trace = read_trace(test, self.sandbox.run(heard))
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

        The study that comes back has its suspects ranked anew by what all searches so far heard from them.
        """
        study = self.study(test, limits.seconds)
        made = self._patches(test, study)[: most // 2]
        mutants = [*(patch.mutant for patch in made), *self._wanted(test, study, most - len(made))]
        with scratch_folder("rootproof-search-") as scratch:
            command = mutants_command(self.subject(test), study.trace, mutants, self.sources, scratch, limits)
            completed = self.sandbox.run(replace(command, heard=Hearing(self.tell)))
        search = read_search(completed, mutants)
        if made:
            heard = {verdict.mutant: verdict for verdict in search.verdicts}
            self._born[test] = born(made, heard, study.trace, self.sources)
        changes = tuple(verdict for verdict in search.verdicts if verdict.mutant >= len(made))
        self._tried[test].extend(Tried(mutants[verdict.mutant], verdict) for verdict in changes)
        patched = len(search.verdicts) - len(changes)
        search = replace(search, flips=tuple(self._flips(search)), verdicts=changes, patched=patched)
        ranking = rerank(study.ranking, self._tried[test], self.sources, self._born.get(test))
        return replace(study, ranking=ranking), search

    def _patches(self, test: str, study: Study) -> list[Patch]:
        """Where the wrong value is born is asked once, in the first search."""
        if test in self._tried:
            return []
        return patches(study.trace, study.spectrum, study.ranking, self.sources)

    def _flips(self, search: Search) -> Iterator[Flip]:
        """The changes that turned the test green; a patch is none, it only says where to look."""
        for flip in search.flips:
            if flip.change.operator != OPERATOR:
                yield replace(flip, hollow=gives_one_constant(flip.change, self.sources))

    def _wanted(self, test: str, study: Study, most: int) -> list[Mutant]:
        """What to try next: after a search, first what its single changes make together, then those not tried yet."""
        tried = self._tried.setdefault(test, [])
        done = {each.mutant.change.digest for each in tried}
        together = combined(tried, most // 2)
        ranking = rerank(study.ranking, tried, self.sources)
        single = plan(study.trace, study.spectrum, ranking, self.sources, most + len(tried))
        return [mutant for mutant in (*together, *single) if mutant.change.digest not in done][:most]
