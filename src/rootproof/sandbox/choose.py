"""Which mechanism runs a command here: the strongest that was tried and held, or a refusal with the way out.

What was tried and held is kept in the user's cache folder for this boot; what failed is tried again each time,
because somebody may have mended it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox import policy
from rootproof.sandbox.bare import Bare
from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import LEVELS, Command, Completed, Level, Probe, Sandbox
from rootproof.sandbox.mend import mend
from rootproof.sandbox.namespaces import Namespaces


class Layered:
    """Both containing mechanisms, each for what it is better at.

    ``bwrap`` starts faster and serves read-only trees; the Python launcher lays the throw-away layer, and serves root,
    whose files it can show to an ordinary id.
    """

    name = "bubblewrap and namespaces"
    level: Level = "contained"

    def __init__(self) -> None:
        self._quick = Bubblewrap()
        self._full = Namespaces()

    def probe(self) -> Probe:
        """The weaker of both probes."""
        probes = [self._quick.probe(), self._full.probe()]
        return next((found for found in probes if not found.works), probes[1])

    def run(self, command: Command) -> Completed:
        """Run one command; see :class:`rootproof.sandbox.interface.Sandbox`."""
        full = command.writable or command.changes or os.geteuid() == 0
        return self._full.run(command) if full else self._quick.run(command)


def strongest(minimum: Level = "contained", root: Path | None = None) -> Sandbox:
    """The strongest mechanism that holds here.

    Args:
        minimum: the least level accepted; with ``none`` an uncontained run is the last resort.
        root: the repository, to refuse early one that cannot be contained wherever it is run.

    Raises:
        ContainmentUnavailable: nothing here reaches ``minimum``; reason and mend are in it.
    """
    if root is not None and minimum != "none":
        policy.refuse_home(Command((), root, root))
    probes: list[Probe] = []
    works: dict[str, Sandbox] = {}
    for sandbox in (Namespaces(), Bubblewrap()):
        probe = kept_probe(sandbox)
        probes.append(probe)
        if probe.works:
            works[sandbox.name] = sandbox
    if len(works) == 2:
        return Layered()
    if works:
        return next(iter(works.values()))
    if LEVELS.index(minimum) > LEVELS.index("none"):
        reasons = "; ".join(f"{probe.mechanism}: {probe.detail}" for probe in probes)
        raise ContainmentUnavailable(f"nothing on this machine reaches level {minimum} ({reasons})", mend(probes))
    return Bare()


def doctor() -> tuple[Probe, ...]:
    """Try every mechanism now, strongest first; what does not work says how to mend it."""
    probes = [sandbox.probe() for sandbox in (Bubblewrap(), Namespaces())]
    if not any(probe.works for probe in probes):
        way = mend(probes)
        probes = [_with_mend(probe, way) for probe in probes]
    elif not probes[0].works and shutil.which("bwrap") is None:
        probes[0] = _with_mend(probes[0], "optional: install the package bubblewrap (0.8 or later) for faster starts")
    return (*probes, Bare().probe())


def _with_mend(probe: Probe, way: str) -> Probe:
    return Probe(probe.mechanism, probe.level, probe.works, probe.detail, probe.contains, probe.missing, way)


def describe(probes: Sequence[Probe]) -> list[str]:
    """The doctor's findings as lines for people."""
    best = max((probe for probe in probes if probe.works), key=lambda probe: LEVELS.index(probe.level), default=None)
    lines = [f"level of this machine: {best.level if best else 'nothing works'}"]
    if best:
        lines += [f"  contains  {entry}" for entry in best.contains]
        lines += [f"  does not contain  {entry}" for entry in best.missing]
    for probe in probes:
        lines.append(
            f"{probe.mechanism} ({probe.level}): {'works' if probe.works else 'does not work'}: {probe.detail}"
        )
        if probe.mend:
            lines += [f"  mend  {line}" for line in probe.mend.splitlines()]
    return lines


def kept_probe(sandbox: Sandbox) -> Probe:
    """The result of the self-test, from the cache folder where it held already in this boot."""
    note = _note(sandbox.name)
    if note is not None and _ours(note):
        return Probe(sandbox.name, sandbox.level, True, "the self-test held earlier in this boot")
    probe = sandbox.probe()
    if probe.works and note is not None:
        try:
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.write_text(probe.detail + "\n")
            note.chmod(0o600)
        except OSError:
            pass  # a read-only home costs a second each time, no more
    return probe


def _ours(note: Path) -> bool:
    """Whether the note is a file of this user that nobody else can write."""
    try:
        found = note.lstat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and found.st_mode & 0o177777 == 0o100600


def _note(mechanism: str) -> Path | None:
    """The file that says that a mechanism held. Named after all that the result may depend on."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        from platformdirs import user_cache_path

        folder = user_cache_path("rootproof") / "selftest"
    except (OSError, ImportError):
        return None
    program = Path("/usr/bin/bwrap")
    stamp = str(program.stat().st_mtime_ns) if program.exists() else "none"
    here = Path(__file__).parent
    ours = str(max(path.stat().st_mtime_ns for path in [*here.glob("*.py"), *here.glob("inside/*.py")]))
    parts = [boot, mechanism, ours, str(os.geteuid()), sys.executable, sys.version, platform.release(), stamp]
    return folder / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
