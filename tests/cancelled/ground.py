"""A project whose tests can be told to hang, and a command that is interrupted once something of it hangs.

Everything is judged from outside: what hangs has a name of its own in the process list, ignores SIGTERM and has a
daemon, forked twice, that does the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof import assemble
from rootproof.investigations.root_cause.terms import Numbers, as_toml, terms

NAME = "lingers"
REACHED_SECONDS = 60.0
DEAD_SECONDS = 5.0
"""Until when everything must be dead: a second, and room for whoever else works on this machine."""
PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 15, 36

LINGER = f"""import ctypes, os, signal

def linger():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
    ctypes.CDLL(None).prctl({PR_SET_NAME}, b"{NAME}", 0, 0, 0)
    while True:
        signal.pause()
"""
FILES = {
    "linger.py": LINGER,
    "basket.py": "def count(items):\n    number = len(items)\n    return number + 1\n",
    "test_basket.py": """from pathlib import Path

from basket import count
from linger import linger

HANG = Path(__file__).with_name("hang")


def test_red():
    found = count([1, 2])
    if HANG.exists() and (HANG.read_text() == "always" or found != 3):
        linger()
    assert found == 2


def test_green():
    assert count([]) < 2
""",
}
RED = "test_basket.py::test_red"
MODEL = """STEPS = %s

def propose(view):
    return STEPS[min(view["step"], len(STEPS)) - 1]
"""
HANGING_MODEL = f"{LINGER}\nlinger()\n"


@dataclass(frozen=True)
class Ground:
    """A folder with the project, a store and a place for scratch files."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def store(self) -> Path:
        return self.folder / "runs.sqlite3"

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    @property
    def contract(self) -> Path:
        return self.folder / "contract.toml"

    def hang(self, when: str) -> None:
        """``always``, ``changed`` (only where the code under test is not what it was) or nothing: never."""
        if when:
            (self.root / "hang").write_text(when)
        else:
            (self.root / "hang").unlink(missing_ok=True)

    def model(self, *actions: dict[str, Any]) -> str:
        """One that asks for these in turn, and then for the end."""
        place = self.folder / "model.py"
        place.write_text(MODEL % repr([*({"type": "action", **one} for one in actions), {"type": "final"}]))
        return f"scripted:{place}"

    def begin(self, *words: object) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "TMPDIR": str(self.scratch), "ROOTPROOF_STORE": str(self.store)}
        command = [sys.executable, "-m", "rootproof", *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)

    def finish(self, *words: object) -> tuple[int, str]:
        """A command that is let be: exit status, and what it said."""
        process = self.begin(*words)
        try:
            said, _ = process.communicate(timeout=120)
        finally:
            process.kill()
        return process.returncode, said.decode()


def ground(folder: Path, steps: int) -> Ground:
    """The project, with a contract of so many steps for the failing test."""
    folder.chmod(0o755)
    made = Ground(folder)
    made.root.mkdir()
    made.scratch.mkdir()
    for name, text in FILES.items():
        (made.root / name).write_text(text)
    document = terms(RED, "pytest", ["test_basket.py"], Numbers(steps=steps))
    document["scope"]["root"] = "project"
    made.contract.write_text(as_toml(document))
    return made


def heavy(made: Ground) -> None:
    """So much to search that it takes a while."""
    first = made.root / "many0.py"
    first.write_text("some_Number = 1\n" * 400_000)
    for number in range(1, 12):
        (made.root / f"many{number}.py").hardlink_to(first)


def below(pid: int) -> set[int]:
    """Living processes below one; with a subreaper, orphans too."""
    found: set[int] = set()
    ahead = [pid]
    while ahead:
        for task in Path(f"/proc/{ahead.pop()}/task").glob("*"):  # a child belongs to the thread that started it
            with contextlib.suppress(OSError):
                children = [int(word) for word in (task / "children").read_text().split()]
                ahead += children
                found.update(children)
    return {one for one in found if _lives(one)}


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def named(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def lingering(pids: set[int]) -> bool:
    """Both that hang and their daemons are there."""
    return sum(named(pid) == NAME for pid in pids) >= 2


def frozen(name: str) -> Callable[[set[int]], bool]:
    """A process of that name is there, and stopped, so that it does not end before it is interrupted."""

    def look(pids: set[int]) -> bool:
        for pid in pids:
            if named(pid) == name:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    return True
        return False

    return look


def interrupted(
    process: subprocess.Popen[bytes], how: signal.Signals, reached: Callable[[set[int]], bool], pause: float = 0.02
) -> str:
    """Interrupt the one process that a user would, once its tree is as it should be; what was said until its end."""
    return dead_after(process, how, reached, pause)[1]


def dead_after(
    process: subprocess.Popen[bytes], how: signal.Signals, reached: Callable[[set[int]], bool], pause: float = 0.02
) -> tuple[float, str]:
    """Interrupt a command: seconds until its whole tree was dead, itself included, and what it said.

    Everything below this process must be dead in time, also what has left its parent, its group and its session.

    Args:
        pause: seconds between two looks.
    """
    before = below(os.getpid()) - {process.pid} - below(process.pid)
    output = b""
    try:
        _await(lambda: reached(below(os.getpid()) - before) or process.poll() is not None, REACHED_SECONDS, pause)
        assert process.poll() is None, (process.communicate()[0].decode(), "it ended before it came so far")
        assert reached(below(os.getpid()) - before), "it never came so far"
        process.send_signal(how)
        began = time.monotonic()
        _await(lambda: not (below(os.getpid()) - before), DEAD_SECONDS)
        seconds = time.monotonic() - began
        left = {pid: named(pid) for pid in below(os.getpid()) - before}
        assert left == {}, "something is alive"
        output, _ = process.communicate(timeout=DEAD_SECONDS)
    finally:
        for pid in below(os.getpid()) - before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    return seconds, output.decode()


def _await(seen: Callable[[], bool], seconds: float, pause: float = 0.01) -> None:
    until = time.monotonic() + seconds
    while not seen() and time.monotonic() < until:
        time.sleep(pause)


@contextlib.contextmanager
def reaper() -> Iterator[None]:
    """Orphans below this process become its children, and are seen."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def nothing_left(made: Ground) -> None:
    """No scratch file, no copy."""
    assert [path for path in made.scratch.rglob("*") if not path.is_dir()] == []
    assert [path for path in made.scratch.iterdir() if not path.name.startswith("rootproof-copies-")] == []


def stored(made: Ground) -> list[Any]:
    """The events of the one run, with the chain, every stored byte and the state proved."""
    store = assemble.open_store(made.store, read_only=True)
    try:
        run = store.find("last")
        assemble.proved(store, run)
        return [one.event for one in store.events(run)]
    finally:
        store.close()
