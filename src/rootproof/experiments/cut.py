"""Was a run ended from outside before it could say anything? What load or a short budget ended is no outcome. Pure.

A change can make a test run for ever; that is an outcome of the change. It is told apart by the processor time it
used, which other load on the machine does not change: a run that used much more of it than the same tests without the
change hangs, one that did not was merely ended early.
"""

from __future__ import annotations

from rootproof.experiments.conclusion import Verdict, undecided
from rootproof.experiments.record import Confirmation, Run

TIMES = 4.0
MORE_SECONDS = 2.0
"""A run hangs that used this many times the CPU of the unchanged one, and so many seconds beyond it."""


def ended_early(run: Run, plain: float) -> bool:
    """Whether a limit or the system ended the run, and not what it did.

    Args:
        plain: CPU seconds that the same tests take without the change.
    """
    if run.cut in ("time", "cpu"):
        return run.cpu_seconds <= TIMES * plain + MORE_SECONDS
    return run.cut == "killed"


def target_cpu(record: Confirmation) -> float:
    """CPU seconds of the unchanged target alone."""
    return max((run.cpu_seconds for run in record.of("reproduce", "alone")), default=0.0)


def neighbours_cpu(record: Confirmation) -> float:
    """CPU seconds of the unchanged neighbours."""
    return max((run.cpu_seconds for run in record.of("neighbours", "unchanged")), default=0.0)


def plain_cpu(record: Confirmation, run: Run) -> float:
    """What the tests of a run take without the change, as far as the record knows."""
    if run.stage in ("neighbours", "neighbours_again"):
        return neighbours_cpu(record)
    if run.stage == "reduce":
        return target_cpu(record) + neighbours_cpu(record)
    if run.stage == "place_neighbours":
        number = run.variant.partition(":")[2]
        return max((r.cpu_seconds for r in record.of("place_neighbours", f"unchanged:{number}")), default=0.0)
    if run.stage == "reproduce":
        return run.cpu_seconds
    return target_cpu(record)


def cut(record: Confirmation, *runs: Run) -> Verdict | None:
    """Undecided where one of the runs was ended early; None where each of them told its own end."""
    for run in runs:
        if ended_early(run, plain_cpu(record, run)):
            return undecided("cut", f"{run.stage}: a run was ended early ({run.cut}): what it would have said is open")
    return None


def any_cut(record: Confirmation) -> bool:
    """Whether any run of the record was ended early."""
    return cut(record, *record.runs) is not None
