"""A benchmark that is told to end takes the diagnoses it has started with it, and all that those have started."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PR_SET_CHILD_SUBREAPER = 36
TEST = "tests/test_slow.py::test_it"
SLOW = """import pathlib, time


def test_it():
    pathlib.Path({mark!r}).write_text("")
    time.sleep(600)
"""


def below(pid: int) -> set[int]:
    """Living processes below this one; with a subreaper, orphans too."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):  # each thread has its own
        with contextlib.suppress(OSError):
            children += [int(word) for word in task.read_text().split()]
    return {*children, *(inner for child in children for inner in below(child))}


def manifest(place: Path, work: Path) -> Path:
    """Two cases, set up already: their tests never end."""
    sdist = {"file": "a-1.tar.gz", "sha256": ""}
    entries = []
    key = hashlib.sha256(json.dumps([sys.executable, []]).encode()).hexdigest()[:12]
    for name in ("one", "two"):
        test = work / "trees" / name / "tests" / "test_slow.py"
        test.parent.mkdir(parents=True)
        test.write_text(SLOW.format(mark=str(place / name)))
        base = work / "environments" / f"a-{key}"
        for environment in (base, base.parent / "own" / f"{name}-{base.name}"):
            (environment / "bin").mkdir(parents=True, exist_ok=True)
            (environment / "whole").write_text("")
            python = environment / "bin" / "python"
            python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            python.chmod(0o755)
        entries.append(
            {"id": name, "package": "a", "module": "a", "buggy_version": "1", "fixed_version": "2", "truth": []}
            | {"sdists": {"buggy": sdist, "fixed": sdist}, "requirements": [], "overlay": [], "failing_tests": [TEST]}
        )
    file = place / "manifest.json"  # JSON is YAML
    file.write_text(json.dumps({"cases": entries}))
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a child subreaper")
@pytest.mark.parametrize("jobs", [1, 2])
def test_nothing_outlives_a_request_to_terminate(jobs: int, tmp_path: Path) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, work = below(os.getpid()), tmp_path / "work"
    command = [sys.executable, "-m", "rootproof", "bench", str(manifest(tmp_path, work)), "--work", str(work)]
    command += ["--jobs", str(jobs), "--peer", "none", "--python", sys.executable]
    started = subprocess.Popen([*command, "--containment", "none", "--trust-this-repository"])
    until = time.monotonic() + 120
    while sum((tmp_path / name).exists() for name in ("one", "two")) < jobs and time.monotonic() < until:
        with pytest.raises(subprocess.TimeoutExpired):  # else it ended before a test began
            started.wait(0.05)
    assert len(below(os.getpid()) - before) > 2 * jobs
    started.send_signal(signal.SIGTERM)
    assert started.wait(60) == 130
    assert below(os.getpid()) - before == set()
