"""Which test files are worth collecting beside a failing test, told from their text alone: nothing of them is run.

A test that runs the same code nearly always imports the same module. So files that share the target's rarer imports
come first, then those in folders near by. Where a project is small nothing is left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

ENOUGH_TESTS = 1000
"""Test functions beyond which no further file is collected."""
MAX_BYTES = 2 << 20
IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([^#\n]+)|import[ \t]+([^#\n]+))", re.MULTILINE)
TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+test", re.MULTILINE)


def near_files(root: Path, own: str, files: Sequence[str], enough: int = ENOUGH_TESTS) -> tuple[str, ...]:
    """The target's own file, then others, the nearest first, until they hold enough tests.

    Args:
        own: root-relative file of the target.
        files: root-relative test files of the whole project.
    """
    texts = {file: _text(root / file) for file in dict.fromkeys((own, *files))}
    tests = {file: len(TESTS.findall(text)) for file, text in texts.items()}
    if sum(tests.values()) <= enough:
        return tuple(texts)
    chosen: list[str] = []
    held = 0
    for file in _nearest_first(own, texts):
        if chosen and held + tests[file] > enough:
            break
        chosen.append(file)
        held += tests[file]
    return tuple(chosen)


def _nearest_first(own: str, texts: dict[str, bytes]) -> list[str]:
    names = {file: frozenset(_imports(text)) for file, text in texts.items()}
    common = Counter(name for found in names.values() for name in found)
    weight = {name: math.log(1 + len(texts) / count) for name, count in common.items()}

    def far(file: str) -> tuple[bool, float, int, str]:
        shared = sum(weight[name] for name in names[own] & names[file])
        return file != own, -shared, _steps(own, file), file

    return sorted(texts, key=far)


def _imports(text: bytes) -> Iterator[str]:
    """Dotted names a file imports, with those of ``from package import module``."""
    for source, taken, plain in IMPORTED.findall(text):
        parts = [part.split()[0] for part in (taken or plain).strip(b"() \\").split(b",") if part.split()]
        for part in parts:
            yield (source + b"." + part if source else part).decode("ascii", "replace")
        if source:
            yield source.decode("ascii", "replace")


def _steps(one: str, other: str) -> int:
    """Folders between two files."""
    left, right = PurePosixPath(one).parts[:-1], PurePosixPath(other).parts[:-1]
    shared = sum(1 for _ in _alike(left, right))
    return len(left) + len(right) - 2 * shared


def _alike(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    for a, b in zip(left, right, strict=False):
        if a != b:
            return
        yield a


def _text(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""
