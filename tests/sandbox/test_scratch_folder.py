"""A folder for temporary files is gone after its block, whenever an interrupt comes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys, tempfile
from rootproof.sandbox.interrupt import scratch_folder

tempfile.tempdir, moment = sys.argv[1:]


def interrupt(event, arguments):
    if event == moment:
        signal.raise_signal(signal.SIGINT)


sys.addaudithook(interrupt)
try:
    with scratch_folder("scratch-") as place:
        (place / "some").write_text("some")
        (place / "folder").mkdir()
        (place / "folder" / "more").write_text("more")
        if moment == "within":
            raise KeyboardInterrupt
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("moment", ["tempfile.mkdtemp", "within", "shutil.rmtree", "os.remove", "os.rmdir"])
def test_it_is_gone(moment: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), moment], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
    assert list(tmp_path.iterdir()) == []
