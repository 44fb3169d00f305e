"""One confirmation with the sources it is about: what the pure judgements look at."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from rootproof.canonical import digest, digest_bytes
from rootproof.contract import file_of
from rootproof.experiments.change import Change, Edit, Refused, decoded, split_lines
from rootproof.experiments.grade import Shape, shape
from rootproof.experiments.mask_values import Assertion, shown_values
from rootproof.experiments.masks import Broken, Case, broken, tree_of
from rootproof.experiments.owners import Owner, new_lines, owner_at, owners
from rootproof.experiments.record import Confirmation, Span
from rootproof.experiments.reduce import apply_all, fits
from rootproof.experiments.script_source import is_script


@dataclass(frozen=True)
class Matter:
    """A record and its sources. Everything is derived; nothing is kept that the record does not hold."""

    record: Confirmation
    sources: Mapping[str, bytes]
    """Root-relative path → bytes of the unchanged tree, for every file of ``record.files``."""

    def strangers(self) -> str:
        """The first file whose bytes are not those the record was made with; empty where all are."""
        for path, wanted in self.record.files:
            if path not in self.sources or digest_bytes(self.sources[path]) != wanted:
                return path
        return ""

    @property
    def test_file(self) -> str:
        return file_of(self.record.target)

    @cached_property
    def test_function(self) -> str:
        return self.record.target.partition("[")[0].rsplit("::", 1)[-1]

    def changed(self, edits: Iterable[Edit]) -> dict[str, bytes] | Refused:
        """The changed files alone."""
        return (
            apply_all(edits, self.sources)
            if all(e.file in self.sources for e in edits)
            else Refused("a file is missing")
        )

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The reduced change, or before reduction the proposed one."""
        return self.record.reduced or self.record.proposed

    @cached_property
    def new(self) -> dict[str, bytes]:
        """The files with the reduced change; empty where it does not apply."""
        changed = self.changed(self.edits)
        return {} if isinstance(changed, Refused) else changed

    @cached_property
    def old(self) -> dict[str, bytes]:
        return {path: self.sources[path] for path in self.new}

    @cached_property
    def calls(self) -> frozenset[tuple[str, str]]:
        return frozenset(edge for trace in self.record.traces for edge in trace.calls)

    @cached_property
    def shape(self) -> Shape:
        if not fits(self.edits):
            return Shape("too_wide", (), 0, reason=f"{len(self.edits)} separate edits")
        return shape(Change(self.edits), self.old, self.new, self.calls)

    @cached_property
    def by_edit(self) -> dict[Edit, tuple[Owner, ...]]:
        return owners(Change(self.edits), self.old, self.new) if fits(self.edits) and self.new else {}

    @cached_property
    def edit_lines(self) -> dict[Edit, range]:
        """Each edit with the lines of the changed file that it put there."""
        change = Change(self.edits)
        return {edit: lines for file in change.files for edit, lines in new_lines(change, file)}

    @cached_property
    def paired_texts(self) -> tuple[str, ...]:
        return tuple(self.text(span) for span in self.record.paired)

    def text(self, span: Span) -> str:
        lines = split_lines(decoded(self.sources.get(span.path, b"")))
        return "".join(lines[span.first - 1 : span.last])

    @cached_property
    def assertion(self) -> Assertion:
        path, line = self.record.failing
        raised = self.record.raised or not self.at_assertion
        tree = tree_of(self.sources.get(self.test_file, b""))
        operands = shown_values(self.record.operands)
        return Assertion(tree, line if path == self.test_file else 0, self.test_function, operands, raised)

    @cached_property
    def at_assertion(self) -> bool:
        """Whether the failure is a failed comparison in the body of the test itself."""
        path, line = self.record.failing
        tree = tree_of(self.sources.get(self.test_file, b""))
        if is_script(self.test_file):
            return path == self.test_file
        if self.record.raised or path != self.test_file or tree is None:
            return False
        owner = owner_at(path, tree, line)
        return owner is not None and owner.name.rsplit(".", 1)[-1] == self.test_function

    def masks(self, edits: Iterable[Edit], *, known: bool) -> tuple[Broken, ...]:
        """The mask rules that a change breaks; ``known``: the failure has been seen."""
        new = self.changed(edits)
        if isinstance(new, Refused):
            return ()
        old = {path: self.sources[path] for path in new}
        assertion = self.assertion if known else None
        return broken(Case(old, new, self.record.tests, assertion, self.paired_texts))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The spans of the subject in the unchanged tree: each edited place, and the paired one."""
        found = [
            Span(edit.file, edit.first, edit.last, ",".join(owner.name for owner in self.by_edit.get(edit, ())))
            for edit in self.edits
        ]
        return (*found, *self.record.paired)

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """``file::name`` of every place of the subject, sorted: a relation has two."""
        edited = [owner.key for group in self.by_edit.values() for owner in group]
        paired = [f"{span.path}::{span.function}" for span in self.record.paired]
        return tuple(sorted(dict.fromkeys((*edited, *paired))))

    @cached_property
    def subject(self) -> str:
        """What all facts are about: target, failure signature, tree, reduced change and its spans."""
        change = [[e.file, e.first, e.last, e.old, e.new] for e in self.edits]
        spans = [[s.path, s.first, s.last] for s in self.spans]
        parts = [self.record.target, self.record.signature, self.record.tree, change, spans]
        return digest(parts)[:32]

    @cached_property
    def change_files(self) -> tuple[tuple[str, str], ...]:
        """(path, SHA-256) of the changed files: what a run with the change must have had in place."""
        return tuple(sorted((path, digest_bytes(data)) for path, data in self.new.items()))

    def files_of(self, edits: Iterable[Edit]) -> tuple[tuple[str, str], ...]:
        changed = self.changed(edits)
        if isinstance(changed, Refused):
            return ()
        return tuple(sorted((path, digest_bytes(data)) for path, data in changed.items()))

    def tree(self, path: str, *, new: bool = False) -> ast.Module | None:
        data = self.new.get(path) if new else None
        return tree_of(self.sources.get(path, b"") if data is None else data)
