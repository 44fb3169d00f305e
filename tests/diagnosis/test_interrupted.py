"""A diagnosis that is interrupted, whatever it is at, leaves no process, no copy and no scratch file behind."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from living import lives

PROJECT = Path(__file__).parents[2] / "examples" / "login-redirect" / "python"
TARGET = "tests/auth/test_login_redirect.py::test_session_key_contract"
PR_SET_CHILD_SUBREAPER = 36


def descendants() -> set[int]:
    """Living processes below this one; with a subreaper, orphans too. One that is dead and not yet collected is none."""
    found: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        pid = ahead.pop()
        try:
            text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except OSError:
            continue
        children = [int(word) for word in text.split()]
        ahead += children
        found.update(filter(lives, children))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a child subreaper")
@pytest.mark.parametrize(
    ("said", "more"),
    [("agreed:", 1), ("trace_test", 1), ("read_file", 1), ("read_file", 4)],
    ids=["tracing", "searching", "reproducing", "confirming"],
)
def test_nothing_is_left(said: str, more: int, tmp_path: Path) -> None:
    """``more``: so many processes were begun since the line was said; that is how deep in its work it is."""
    project, scratch = tmp_path / "shop", tmp_path / "scratch"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv"))
    scratch.mkdir()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = descendants()
    command = [sys.executable, "-m", "rootproof", "diagnose", TARGET, "--root", str(project)]
    command += ["--store", str(tmp_path / "runs.db"), "--python", sys.executable]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": str(scratch)}
    )
    assert started.stdout is not None
    line = next((line for line in iter(started.stdout.readline, b"") if said.encode() in line), b"")
    assert line, "it ended before it came so far"
    seen: set[int] = set()
    until = time.monotonic() + 60
    while len(seen) < more and time.monotonic() < until and started.poll() is None:
        seen |= descendants() - before - {started.pid}
    started.send_signal(signal.SIGINT)
    output, _ = started.communicate(timeout=60)
    assert started.returncode in (130, -signal.SIGINT), output.decode()
    assert "cancelled" in output.decode()
    assert descendants() - before == set()
    left = [path for path in scratch.rglob("*") if not path.is_dir()]
    assert left == []
    assert [path for path in scratch.iterdir() if not path.name.startswith("rootproof-copies-")] == []
