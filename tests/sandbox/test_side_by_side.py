"""Commands at once: results in order; one fault, or an interrupt of the caller, ends them all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sandbox_ground import PYTHON, READABLE

from rootproof.sandbox.bare import Bare
from rootproof.sandbox.interface import Command, Completed
from rootproof.sandbox.side_by_side import side_by_side


def run(tree: Path, text: str) -> Completed:
    return Bare().run(Command((PYTHON, "-c", text), tree, tree, readable=READABLE))


def test_results_come_in_the_order_asked_for(tree: Path) -> None:
    tasks = [partial(run, tree, f"print({number})") for number in range(5)]
    assert [done.stdout.head for done in side_by_side(tasks, 2)] == [b"%d\n" % number for number in range(5)]


@pytest.mark.writes_its_tree
def test_they_run_at_once(tree: Path) -> None:
    """Each waits for what the other writes: one after the other they would wait for ever."""
    names = [tree / "one", tree / "other"]
    for name in names:
        os.mkfifo(name)
    ask = "import sys; a = open({0!r}, 'r+b', 0); b = open({1!r}, 'r+b', 0); a.write(b'x'); sys.exit(b.read(1) != b'x')"
    texts = [ask.format(str(names[0]), str(names[1])), ask.format(str(names[1]), str(names[0]))]
    assert [done.exit_code for done in side_by_side([partial(run, tree, text) for text in texts], 2)] == [0, 0]


def test_a_fault_ends_the_others(tree: Path) -> None:
    def fault() -> Completed:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        side_by_side([fault, partial(run, tree, "import signal; signal.pause()")], 2)


def test_an_interrupt_ends_them_all(tree: Path) -> None:
    caller = f"""
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_side_by_side import run
from rootproof.sandbox.side_by_side import side_by_side
text = "import signal; kept = open({str(tree / "begun")!r}, 'ab', 0); kept.write(b'x'); signal.pause()"
side_by_side([partial(run, Path({str(tree)!r}), text)] * 2, 2)
"""
    os.mkfifo(tree / "begun")
    with subprocess.Popen([sys.executable, "-c", caller], stderr=subprocess.PIPE) as started:
        with (tree / "begun").open("rb") as begun:
            assert begun.read(1) + begun.read(1) == b"xx"
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said or b"CalledOff" in said
