"""The manifest of real bugs: what a case is. Facts alone; the code itself comes from the package index.

A case's ``truth`` and ``patch`` are for scoring. Nothing that looks for a cause may be given them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof.errors import MissingExtra, UsageError


@dataclass(frozen=True)
class Truth:
    """One true place in the buggy source."""

    file: str
    function: str
    """Qualified name as ``__qualname__`` has it; ``<module>`` or a class name for code outside functions."""
    kind: str
    """``replace``, ``delete`` or ``insert_after``."""
    lines: tuple[int, ...]

    @property
    def hit_lines(self) -> frozenset[int]:
        """Lines that count as this place; for an insertion the line before and the line after."""
        if self.kind == "insert_after":
            return frozenset(n for line in self.lines for n in (line, line + 1))
        return frozenset(self.lines)


@dataclass(frozen=True)
class Sdist:
    """One source distribution: its file name and SHA-256."""

    version: str
    file: str
    sha256: str


@dataclass(frozen=True)
class Case:
    """One bug: the buggy release with the regression test of the fixed release laid over it."""

    id: str
    package: str
    module: str
    buggy: Sdist
    fixed: Sdist
    requirements: tuple[str, ...]
    failing_tests: tuple[str, ...]
    suite_args: tuple[str, ...]
    overlay: tuple[tuple[str, str], ...]
    signature: str
    truth: tuple[Truth, ...]

    @property
    def test_files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(test.split("::")[0] for test in self.failing_tests))


def load(path: Path) -> tuple[Case, ...]:
    """Read a manifest.

    Raises:
        MissingExtra: the YAML reader is not installed.
        UsageError: the file is not a manifest.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtra("reading a manifest", "bench") from None
    try:
        document = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return tuple(_case(entry) for entry in document["cases"])
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not a manifest of bugs: {type(error).__name__}: {error}") from None


def _case(entry: Mapping[str, Any]) -> Case:
    return Case(
        id=entry["id"],
        package=entry["package"],
        module=entry["module"],
        buggy=_sdist(entry, "buggy"),
        fixed=_sdist(entry, "fixed"),
        requirements=tuple(entry["requirements"]),
        failing_tests=tuple(entry["failing_tests"]),
        suite_args=tuple(entry.get("suite_args") or ()),
        overlay=tuple((item["from"], item["to"]) for item in entry["overlay"]),
        signature=entry.get("failure_signature", ""),
        truth=tuple(
            Truth(item["file"], item["function"], item["kind"], tuple(item["lines"])) for item in entry["truth"]
        ),
    )


def _sdist(entry: Mapping[str, Any], side: str) -> Sdist:
    sdist = entry["sdists"][side]
    return Sdist(str(entry[f"{side}_version"]), sdist["file"], sdist["sha256"])
