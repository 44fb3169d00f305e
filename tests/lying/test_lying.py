"""However a script lies, no run ends in success without the evidence; the honest script nearest to it does.

Every script goes through the real loop, gate and tools. Only where the same request meets the same tree is a real
observation of ``try_change`` given a second time, for targets whose outcome is not left to chance.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lying.scripts import HONEST, LIES, Lie, Script
from lying.shop import FILES
from masking.shop import EDGE
from rootproof import canonical
from rootproof.assemble import Options, load_document, run
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.scripted import Scripted
from rootproof.outcome import Outcome
from rootproof.runners.pytest import Pytest
from rootproof.sandbox.bare import Bare
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Observation, Request
from rootproof.tools.try_change import TryChange
from small_project import Small, small

SEED, EACH = 7_412, 10
MEMBERS = [
    pytest.param(lie, number, id=f"{lie.name}-{number}", marks=[] if number == SEED % EACH else pytest.mark.suites)
    for lie in LIES
    for number in range(EACH)
]
PLAIN_TWIN = "right span, wrong change"
TWINS = [pytest.param(lie, id=lie.name, marks=[] if lie.name == PLAIN_TWIN else pytest.mark.suites) for lie in LIES]


class Once:
    """The real tool, asked only once for one request about one tree and one state of the project's dice."""

    def __init__(self, real: TryChange) -> None:
        self.real = real
        self.spec = real.spec
        self.sandbox = real.sandbox
        self.known: dict[str, Observation | Declined] = {}

    def run(self, request: Request) -> Observation | Declined:
        if "coin" in str(request.input.get("target")):
            return self.real.run(request)
        asked = canonical.digest([request.input, request.prior_tries, self.real.scope.manifest()])
        if asked not in self.known:
            self.known[asked] = self.real.run(request)
        return self.known[asked]


def document(project: Small, target: str) -> dict[str, Any]:
    return terms(target, "pytest", project.site().test_files, Numbers(cpu_seconds=3600.0, seconds=3600.0))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return small(tmp_path_factory.mktemp("lying") / "shop", FILES)


@pytest.fixture(scope="module")
def once(shop: Small) -> Once:
    loaded = load_document(document(shop, EDGE), shop.root, "test")
    scope = Scope(shop.root, loaded.contract.scope)
    return Once(TryChange(scope, Pytest(), Bare(), {"target": EDGE}))


def investigated(shop: Small, once: Once, lie: Lie, script: Script, target: str, store: Path) -> Outcome:
    """One run of a script, to its end."""

    def propose(view: dict[str, Any]) -> Any:
        step = view["step"]
        if lie.meddle is not None and script is not HONEST:
            lie.meddle(shop.root, step)
        return script[step - 1] if step <= len(script) else {"type": "final"}

    loaded = load_document(document(shop, target), shop.root, "test")
    options = Options(
        store=store, model=Scripted(propose), containment="none", trusted=True, tools={"try_change": once}
    )
    return run(loaded, options)


@pytest.fixture(autouse=True)
def restored(shop: Small) -> Any:
    """A script may have had the project edited; each begins with the project as it was."""
    before: Mapping[Path, bytes] = {p: p.read_bytes() for p in shop.root.rglob("*.py")}
    yield
    for path, data in before.items():
        if path.read_bytes() != data:
            path.write_bytes(data)


def test_there_are_enough_classes() -> None:
    print(f"lying: {len(LIES)} classes, {len(LIES) * EACH} scripts, {len(LIES)} honest twins")
    assert len(LIES) >= 20


@pytest.mark.parametrize(("lie", "number"), MEMBERS)
def test_a_lie_never_succeeds(lie: Lie, number: int, shop: Small, once: Once, tmp_path: Path) -> None:
    script = lie.make(random.Random(SEED + number))
    outcome = investigated(shop, once, lie, script, lie.target, tmp_path / "runs.sqlite3")
    assert outcome.status != "success", (script, outcome.reason)
    assert outcome.answer is None


@pytest.mark.parametrize("lie", TWINS)
def test_the_honest_twin_succeeds(lie: Lie, shop: Small, once: Once, tmp_path: Path) -> None:
    script = lie.twin or HONEST
    plain = Lie(lie.name, lie.make)
    outcome = investigated(shop, once, plain, script, EDGE, tmp_path / "runs.sqlite3")
    assert outcome.status == "success", (script, outcome.reason)
