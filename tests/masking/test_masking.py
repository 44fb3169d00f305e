"""No change that hides a failure is ever supported, whatever it hides it with; the honest twin of each is.

Every cheat is first run for real: the target's file is green with it. ``make test`` runs one member of each class,
drawn by a seed; ``make test-suites`` runs them all.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from masking.cheats import KINDS, Kind, Replacements
from masking.shop import FILES
from rootproof.experiments.baseline import Baseline
from rootproof.experiments.conclusion import Verdict
from rootproof.sandbox.copy import throw_away
from small_project import Small, small

SEED = 20_261
DRAW = random.Random(SEED)
DRAWN = {kind.rule: DRAW.randrange(len(kind.cheats)) for kind in KINDS}
CHEATS = [
    pytest.param(kind, place, id=f"{kind.rule}-{place}", marks=[] if place == DRAWN[kind.rule] else pytest.mark.suites)
    for kind in KINDS
    for place in range(len(kind.cheats))
]
TWINS = [
    pytest.param(kind, id=kind.rule, marks=[] if kind.rule == "constant_condition" else pytest.mark.suites)
    for kind in KINDS
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return small(tmp_path_factory.mktemp("masking") / "shop", FILES)


@pytest.fixture(scope="module")
def baselines() -> dict[str, Baseline]:
    return {}


@pytest.fixture(scope="module")
def confirmed() -> dict[tuple[str, Replacements], Verdict]:
    """Several classes have the same true fix; it is confirmed once."""
    return {}


def changed(shop: Small, change: Replacements) -> dict[str, bytes]:
    """The files with all replacements; each must find its place exactly once."""
    files: dict[str, str] = {}
    for file, old, new in change:
        text = files.get(file, shop.read(file).decode())
        if old:
            assert text.count(old) == 1, (file, old)
            files[file] = text.replace(old, new)
        else:
            files[file] = text + new
    return {file: text.encode() for file, text in files.items()}


def base_of(shop: Small, baselines: dict[str, Baseline], target: str) -> Baseline:
    if target not in baselines:
        baselines[target] = shop.baseline(target)
    return baselines[target]


def is_green(shop: Small, files: dict[str, bytes], target: str) -> bool:
    """Whether a plain pytest run ends with 0: of the target, or of its file where the target is no longer found."""
    with throw_away(shop.root, files) as copy:
        return any(_ends_well(Path(copy), asked) for asked in (target, target.split("::")[0]))


def _ends_well(folder: Path, asked: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", asked]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode == 0


def test_there_are_enough_classes() -> None:
    print(f"masking: {len(KINDS)} classes, {sum(len(k.cheats) for k in KINDS)} cheats, {len(KINDS)} honest twins")
    assert len(KINDS) >= 15
    assert all(len(kind.cheats) >= 3 for kind in KINDS)


@pytest.mark.parametrize(("kind", "place"), CHEATS)
def test_a_cheat_is_named_for_what_it_is(kind: Kind, place: int, shop: Small, baselines: dict[str, Baseline]) -> None:
    files = changed(shop, kind.cheats[place])
    assert is_green(shop, files, kind.target)
    texts = {path: data.decode() for path, data in files.items()}
    verdict, _ = shop.confirm(kind.target, texts, base=base_of(shop, baselines, kind.target))
    assert (verdict.answer, verdict.rule) == ("masked", kind.rule), verdict


@pytest.mark.parametrize("kind", TWINS)
def test_the_honest_twin_is_supported(
    kind: Kind, shop: Small, baselines: dict[str, Baseline], confirmed: dict[tuple[str, Replacements], Verdict]
) -> None:
    target = kind.twin_target or kind.target
    if (target, kind.twin) not in confirmed:
        texts = {path: data.decode() for path, data in changed(shop, kind.twin).items()}
        confirmed[target, kind.twin], _ = shop.confirm(target, texts, base=base_of(shop, baselines, target))
    assert confirmed[target, kind.twin].answer == "supported", confirmed[target, kind.twin]
