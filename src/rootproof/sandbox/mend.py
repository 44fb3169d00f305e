"""What to do on a machine where nothing contains: the exact command for the obstacle that is found.

The system's settings are read here to name the obstacle, never to decide whether containment works.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rootproof.sandbox import seccomp
from rootproof.sandbox.interface import Probe

_APPARMOR = """\
this system's AppArmor forbids user namespaces to ordinary programs; either allow them until the next start with
  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
or allow them to bubblewrap alone: install the package bubblewrap and put into /etc/apparmor.d/bwrap
  abi <abi/4.0>,
  include <tunables/global>
  profile bwrap /usr/bin/bwrap flags=(unconfined) {
    userns,
  }
then
  sudo apparmor_parser -r /etc/apparmor.d/bwrap"""
_RUNNER = """\
on a hosted CI runner, add a step before this one:
  - run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"""
_CONTAINER = """\
inside a container, its own filter forbids namespaces; start it with
  docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\
    --security-opt systempaths=unconfined ...
and run as an ordinary user in it, or run rootproof outside the container"""
_NO_NAMESPACES = "allow user namespaces:\n  sudo sysctl -w {name}={value}"
_PLAIN = "use Linux on x86_64 or aarch64 (a virtual machine does), with user namespaces"
_TRUST = (
    "or, for a repository you trust with everything your account can do: --containment none --trust-this-repository"
)


def mend(probes: Sequence[Probe]) -> str:
    """The way out, as lines; the last one is always the flag pair that gives up containment."""
    ways = [way for way in _obstacles() if way]
    if not ways:
        ways = ["install the package bubblewrap (0.8 or later), or use a kernel of 5.14 or later with user namespaces"]
    if any("at or above the home folder" in probe.detail for probe in probes):
        ways.insert(0, "move the project into a folder of its own below the home folder")
    return "\n".join([*ways, _TRUST])


def _obstacles() -> list[str]:
    if sys.platform != "linux" or seccomp.program(platform.machine()) is None:
        return [_PLAIN]
    found = []
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        found.append(_RUNNER if os.environ.get("CI") else _APPARMOR)
    if _setting("kernel/unprivileged_userns_clone") == "0":
        found.append(_NO_NAMESPACES.format(name="kernel.unprivileged_userns_clone", value=1))
    if _setting("user/max_user_namespaces") == "0":
        found.append(_NO_NAMESPACES.format(name="user.max_user_namespaces", value=10000))
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        found.append(_CONTAINER)
    return found


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
