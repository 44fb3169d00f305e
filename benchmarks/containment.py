"""What containment costs: ``python benchmarks/containment.py [--check]``.

Each figure is the least of the runs (machines are busy), over the least of a bare subprocess that does the same. CPU is
that of the whole process tree and of this process. ``--check`` exits 1 when a target is missed.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.bare import Bare
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Sandbox
from rootproof.sandbox.namespaces import Namespaces

RUNS = 20
FILES = 5000
PROGRAM = "/bin/true"

OVERLAY = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
uid, gid = os.getuid(), os.getgid()
libc.unshare(0x10020000)
for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
    with open("/proc/self/" + name, "w") as target:
        target.write(text)
libc.mount(b"none", b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"/mnt", b"tmpfs", 6, b"size=512m")
for name in "uwm":
    os.mkdir("/mnt/" + name)
options = f"lowerdir={sys.argv[1]},upperdir=/mnt/u,workdir=/mnt/w,userxattr"
if libc.mount(b"overlay", b"/mnt/m", b"overlay", 6, options.encode()):
    sys.exit(9)
os.chdir("/mnt/m")
if os.fork() == 0:
    os.execv("/bin/true", ["true"])
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@dataclass(frozen=True)
class Cost:
    """Least wall and CPU time of one case, in milliseconds."""

    wall: float
    cpu: float


def measure(action: Callable[[], object], runs: int = RUNS) -> Cost:
    walls, cpus = [], []
    action()
    for _ in range(runs):
        before, began = cpu(), time.perf_counter()
        action()
        walls.append(time.perf_counter() - began)
        cpus.append(cpu() - before)
    return Cost(1000 * min(walls), 1000 * min(cpus))


def cpu() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def bare() -> None:
    subprocess.run([PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, check=True)


def overlay(root: Path) -> None:
    """A user and a mount namespace and one overlay, nothing else."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", OVERLAY, str(root)], stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise ContainmentUnavailable("an overlay cannot be mounted here")


def sandboxed(sandbox: Sandbox, root: Path, *, writable: bool = False) -> Callable[[], object]:
    command = Command((PROGRAM,), root, root, writable=writable)

    def action() -> None:
        done = sandbox.run(command)
        if done.exit_code != 0:
            raise SystemExit(f"{sandbox.name}: {done.stderr.text()}")

    return action


def repository(folder: Path, files: int) -> Path:
    """A repository of that many files, fifty a folder, readable for all."""
    root = folder / f"files-{files}"
    for number in range(files):
        path = root / "src" / f"package{number // 50}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n")
    return root


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="rootproof-benchmark-")).resolve()
    folder.chmod(0o755)
    try:
        missed = report(repository(folder, 20), repository(folder, FILES))
    finally:
        shutil.rmtree(folder)
    return 1 if missed and "--check" in sys.argv else 0


def report(small: Path, large: Path) -> int:
    base = measure(bare)
    print(f"as {'root' if os.geteuid() == 0 else 'an ordinary user'}, {os.cpu_count()} cores, least of {RUNS}")
    print(f"{'case':44} {'wall':>8} {'CPU':>8} {'ratio':>7}   target")
    line("bare subprocess", base, base, "")
    missed = 0
    cases: list[tuple[str, Sandbox, bool, float, float]] = [
        ("bubblewrap, read-only", Bubblewrap(), False, 15, 40),
        ("namespaces, read-only", Namespaces(), False, 40, 150),
        ("namespaces, throw-away layer", Namespaces(), True, 40, 150),
        ("bare member (level none)", Bare(), False, 0, 0),
    ]
    for name, sandbox, writable, most_cpu, most_wall in cases:
        try:
            cost = measure(sandboxed(sandbox, small, writable=writable))
        except ContainmentUnavailable as refused:
            print(f"{name:44} not here: {refused}")
            continue
        held = not most_cpu or (cost.cpu - base.cpu <= most_cpu and cost.wall - base.wall <= most_wall)
        missed += not held
        target = f"CPU +{most_cpu:g}, wall +{most_wall:g}: {'held' if held else 'MISSED'}" if most_cpu else ""
        line(name, cost, base, target)
    return missed + copies(large)


def copies(root: Path) -> int:
    """The two are measured in turns, so that a busy moment meets both."""
    view_of = sandboxed(Namespaces(), root, writable=True)
    try:
        turns = [(measure(lambda: overlay(root), 2), measure(view_of, 2)) for _ in range(RUNS)]
    except ContainmentUnavailable as refused:
        print(f"{'bare overlay mount':44} not here: {refused}")
        return 0
    mount, view = (Cost(min(c.wall for c in half), min(c.cpu for c in half)) for half in zip(*turns, strict=True))
    held = view.wall <= 2 * mount.wall
    line(f"bare overlay mount over {FILES} files", mount, mount, "")
    line(f"throw-away view of {FILES} files", view, mount, f"wall at most 2 x: {'held' if held else 'MISSED'}")
    copied = measure(sandboxed(Bare(), root, writable=True), runs=3)
    line(f"copy on disk of {FILES} files (level none)", copied, mount, "")
    return 0 if held else 1


def line(name: str, cost: Cost, base: Cost, target: str) -> None:
    print(f"{name:44} {cost.wall:6.1f}ms {cost.cpu:6.1f}ms {cost.wall / base.wall:6.1f}x   {target}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
