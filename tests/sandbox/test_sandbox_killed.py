"""kill -9 of any process of ours leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sandbox_ground import MEMBERS, PYTHON, READABLE, alive, working

CALLER = """
import sys
from pathlib import Path
from rootproof.sandbox.interface import Command
sys.path.insert(0, sys.argv[5])
from sandbox_ground import MEMBERS
root = Path(sys.argv[2])
text = "import os,signal\\nif os.fork()==0:\\n  os.setsid()\\n  if os.fork(): os._exit(0)\\nsignal.pause()"
readable = tuple(map(Path, filter(None, sys.argv[6].split(":"))))
MEMBERS[sys.argv[1]]().run(Command((sys.argv[4], "-c", text, sys.argv[3]), root, root, readable=readable))
"""


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@pytest.mark.parametrize("victim", ["caller", "launcher"])
@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_nothing_outlives(name: str, victim: str, tree: Path) -> None:
    working(name)
    if (name, victim) == ("bare", "launcher") and not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this kernel does not list children")
    marker = f"outlives-{name}-{victim}"
    words = [sys.executable, "-c", CALLER, name, str(tree), marker + "-inside", PYTHON, str(Path(__file__).parent)]
    caller = subprocess.Popen([*words, ":".join(map(str, READABLE))], stderr=subprocess.DEVNULL)
    ready = os.pidfd_open(caller.pid)
    until = time.monotonic() + 20
    while len(inside(marker, caller.pid)) < 2 and time.monotonic() < until:
        select.select([ready], [], [], 0.01)
    launcher = children(caller.pid)[0]
    other = ready if victim == "launcher" else os.pidfd_open(launcher)
    os.kill(caller.pid if victim == "caller" else launcher, signal.SIGKILL)
    # The one that is left cleans up and ends; a look before that may miss a process that is being made.
    assert select.select([other], [], [], 20)[0], f"the {'caller' if victim == 'launcher' else 'launcher'} goes on"
    until = time.monotonic() + 20
    while inside(marker, caller.pid) and time.monotonic() < until:
        select.select([], [], [], 0.01)
    caller.wait()
    for descriptor in {ready, other}:
        os.close(descriptor)
    assert inside(marker, caller.pid) == []


def inside(marker: str, caller: int) -> list[int]:
    """Processes of the command itself, without the caller and bwrap, whose command lines name it too."""
    found = []
    for pid in alive(marker + "-inside"):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if pid != caller and line.startswith(PYTHON.encode()) and b"signal.pause" in line and b"Command" not in line:
            found.append(pid)
    return found
