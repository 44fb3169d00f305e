"""Which runner fits a repository. The runners are handed in: this module knows none of them by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rootproof.errors import NotRunnable, UsageError
from rootproof.runners.interface import Runner
from rootproof.runners.test_id import split


@dataclass(frozen=True)
class Choice:
    """A runner and why it was chosen."""

    runner: Runner
    reason: str


def choose(runners: Sequence[Runner], root: Path, test: str = "", named: str = "auto") -> Choice:
    """The named runner, or the first that fits; where a test is given, only those that can run its kind of file.

    The folders between the test and the root are looked at before the root itself: in a monorepo each package may
    have a runner of its own.

    Raises:
        UsageError: no runner has that name.
        NotRunnable: none fits.
    """
    if named != "auto":
        for runner in runners:
            if runner.name == named:
                return Choice(runner, f"{named}, as named")
        known = ", ".join(runner.name for runner in runners)
        raise UsageError(f"there is no runner {named!r}", f"known are: {known}")
    able = [runner for runner in runners if not test or _speaks(runner, test)]
    for folder, runner in _places(_folders(root, test), able):
        reason = runner.detect(folder)
        if reason is not None:
            where = "" if folder == root else f" in {folder.relative_to(root).as_posix()}"
            return Choice(runner, f"{runner.name}: {reason}{where}")
    raise NotRunnable("no test runner was recognised here", "name one with --runner")


def _places(folders: list[Path], able: list[Runner]) -> list[tuple[Path, Runner]]:
    """Where to look for what, in order: the nearest folder decides between runners that exclude each other. pytest runs
    unittest's cases too, so settings for it win wherever they stand above the test."""
    if all(runner.separator == "::" for runner in able):
        return [(folder, runner) for runner in able for folder in folders]
    return [(folder, runner) for folder in folders for runner in able]


def _folders(root: Path, test: str) -> list[Path]:
    file = split(split(test, "::")[0], "#")[0]
    if not file:
        return [root]
    folder = (root / file).parent
    inner = [place for place in (folder, *folder.parents) if root in place.parents]
    return [*inner, root]


def _speaks(runner: Runner, test: str) -> bool:
    """An id of PATH::NAME in a .py file is for the Python runners, one of PATH#NAME for the others; a folder or a glob
    without a suffix says nothing."""
    suffix = PurePosixPath(split(split(test, "::")[0], "#")[0]).suffix
    if not suffix or "*" in suffix:
        return True
    return (suffix == ".py") == (runner.separator == "::")
