"""Trying a mechanism for real before trusting it: a handful of attempts inside, judged from outside.

About a second. Reading the system's settings would not do: they say what is allowed, not what works.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.interface import Command, Completed, Limits, Probe, Sandbox
from rootproof.sandbox.interrupt import scratch_folder

CONTAINS = (
    "writes: the repository is read-only or has a sized throw-away layer; /tmp and /dev/shm are sized and private",
    "network: none; loopback inside only",
    "files: home, keys, tokens and other projects are not there",
    "environment: a short allow-list",
    "processes: own process tree, killed as a whole, daemons too; others are out of sight",
    "CPU, memory, process count, file size, output: limited",
    "system calls: no keyrings, io_uring, ptrace, new namespaces, raw or odd sockets; no privileges to gain",
)
MISSING = (
    "faults of the kernel itself",
    "memory in socket and pipe buffers, which is not counted",
)
_PROGRAM = Path(__file__).parent / "inside" / "selftest.py"
_NAMES = ("write", "read", "network", "environment", "namespaces", "privileges", "processes", "kernel")
_LIMITS = Limits(seconds=10.0, cpu_seconds=10.0, processes=64, scratch_mb=16)


def probe(sandbox: Sandbox) -> Probe:
    """Run the attempts under ``sandbox``; never raises."""
    try:
        with scratch_folder("rootproof-selftest-") as folder:
            os.chmod(folder, 0o755)
            fault = _try(sandbox, folder.resolve())
    except (ContainmentUnavailable, OSError) as caught:
        return Probe(sandbox.name, sandbox.level, False, str(caught), missing=CONTAINS)
    if fault:
        return Probe(sandbox.name, sandbox.level, False, f"the self-test failed: {fault}", missing=CONTAINS)
    detail = f"the self-test held: {len(_NAMES)} attempts, a daemon, a throw-away write"
    return Probe(sandbox.name, sandbox.level, True, detail, CONTAINS, MISSING)


def _try(sandbox: Sandbox, folder: Path) -> str:
    """What did not hold, or an empty text."""
    root = folder / "root"
    root.mkdir()
    (root / "kept").write_text("kept")
    (root / "attempts.py").write_bytes(_PROGRAM.read_bytes())
    outside = folder / "outside"
    outside.write_text("not to be seen")
    marker = "rootproof-selftest-" + secrets.token_hex(8)
    os.environ["ROOTPROOF_SELFTEST_SECRET"] = marker
    try:
        with _listening() as (port, reached):
            done = sandbox.run(_command(root, (str(root / "attempts.py"), str(root), str(outside), str(port), marker)))
            hits = reached()
    finally:
        del os.environ["ROOTPROOF_SELFTEST_SECRET"]
    return _judge(done, root, hits, marker) or _judge_writable(sandbox, root)


def _command(root: Path, arguments: tuple[str, ...], *, writable: bool = False) -> Command:
    readable = (Path(sys.prefix), Path(sys.base_prefix))
    argv = (sys.executable, "-I", "-S", *arguments)
    return Command(argv, root, root, readable=readable, writable=writable, limits=_LIMITS)


def _judge(done: Completed, root: Path, hits: int, marker: str) -> str:
    lines = done.stdout.text().splitlines()
    missed = [name for name in _NAMES if f"{name} held" not in lines]
    if missed:
        said = done.stderr.text().strip()[-300:]
        return f"{', '.join(missed)} not contained, or not tried (exit {done.exit_code}, {done.signal or ''} {said})"
    if hits:
        return "the network outside was reached"
    if sorted(path.name for path in root.iterdir()) != ["attempts.py", "kept"]:
        return "the repository was written"
    return "a daemon outlived the run" if _alive(marker) else ""


def _judge_writable(sandbox: Sandbox, root: Path) -> str:
    script = "import os;os.close(os.open('new',os.O_CREAT|os.O_WRONLY));os.remove('kept');print(sorted(os.listdir()))"
    done = sandbox.run(_command(root, ("-c", script), writable=True))
    if done.stdout.text().strip() != "['attempts.py', 'new']":
        return f"a throw-away tree cannot be written ({done.stderr.text().strip()[-300:]})"
    return "" if (root / "kept").exists() and not (root / "new").exists() else "the repository was written"


@contextmanager
def _listening() -> Iterator[tuple[int, Callable[[], int]]]:
    """A listener on loopback: its port, and a call that gives how often it was reached."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        listener.setblocking(False)

        def reached() -> int:
            count = 0
            while True:
                try:
                    listener.accept()[0].close()
                except BlockingIOError:
                    return count
                count += 1

        yield listener.getsockname()[1], reached


def _alive(marker: str) -> bool:
    for entry in (entry for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        try:
            if marker.encode() in (entry / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False
