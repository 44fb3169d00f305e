"""A project of a few lines in a temporary folder, and confirmations over it: real runs, the smallest there are."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rootproof.canonical import digest, digest_bytes
from rootproof.experiments.baseline import Baseline, measure
from rootproof.experiments.change import Edit, change_between
from rootproof.experiments.cold import Cold, Meter, Site, guard_files
from rootproof.experiments.conclusion import Verdict
from rootproof.experiments.confirm import confirm
from rootproof.experiments.record import Confirmation, from_data, to_data
from rootproof.experiments.reduce import hunks
from rootproof.experiments.verdict import judge
from rootproof.runners.pytest import Pytest
from rootproof.sandbox.bare import Bare
from rootproof.sandbox.interface import Limits, Sandbox


@dataclass
class Small:
    """One project on disk."""

    root: Path
    sandbox: Sandbox

    def site(self) -> Site:
        files = sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file())
        tests = tuple(f for f in files if Path(f).name.startswith("test_") and f.endswith(".py"))
        project = Pytest().project(self.root, tests[0], None)
        guards = guard_files(self.root, files, tests)
        return Site(self.root, project, Pytest(), self.sandbox, tests, Limits(seconds=60, cpu_seconds=60), guards)

    def tree(self) -> str:
        files = sorted(p for p in self.root.rglob("*") if p.is_file())
        return digest({p.relative_to(self.root).as_posix(): digest_bytes(p.read_bytes()) for p in files})

    def edits(self, changed: Mapping[str, str]) -> tuple[Edit, ...]:
        """The edits that make these files so; layout and comments count."""
        before = {path: self.read(path) for path in changed}
        found = change_between(before, {path: dedented(text) for path, text in changed.items()})
        assert hasattr(found, "edits"), found
        return found.edits

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def sources(self, record: Confirmation) -> dict[str, bytes]:
        """The files that a verdict on the record needs, as they lie there."""
        return {path: self.read(path) for path, _ in record.files}

    def baseline(self, target: str) -> Baseline:
        return measure(Cold(self.site(), Meter()), target, self.tree(), covered=True)

    def confirm(
        self, target: str, changed: Mapping[str, str], tries: int = 1, base: Baseline | None = None
    ) -> tuple[Verdict, Confirmation]:
        """The verdict, which must be the same when derived again from the stored bytes."""
        site = self.site()
        cold = Cold(site, Meter())
        base = base or measure(cold, target, self.tree(), covered=True)
        record, sources = confirm(site, cold, base, self.edits(changed), tries)
        verdict = judge(record, sources)
        assert judge(from_data(to_data(record)), sources) == verdict
        return verdict, record


def dedented(text: str) -> bytes:
    return textwrap.dedent(text).lstrip("\n").encode()


def small(root: Path, files: Mapping[str, str], sandbox: Sandbox | None = None) -> Small:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(dedented(text))
    return Small(root, sandbox or Bare())


__all__ = ["Small", "dedented", "hunks", "small"]
