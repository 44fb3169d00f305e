from __future__ import annotations

import runpy
from pathlib import Path

MEASURE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/view.py"))["measure"]


def test_what_is_sent_is_flat_a_step_and_its_fixed_part_never_changes() -> None:
    few, many = MEASURE(8), MEASURE(60)
    assert few.same and many.same
    assert many.largest <= 12_000
    assert many.ours / 60 <= 12_000 + 3_500
    assert many.transcript > 4 * many.ours
