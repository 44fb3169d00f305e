"""What exists inside, as data: the one policy that every containing mechanism puts into effect.

An allow-list. System programs and about fifteen named entries of ``/etc``; generated account and host files; the
repository at its own path; the places the command names, one by one; sized writable places; nothing else.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.environment import environment, facts
from rootproof.sandbox.interface import Command

HOSTNAME = "sandbox"
HOME = Path("/tmp/home")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "fonts",
    "java*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "maven",
    "mime.types",
    "os-release",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "protocols",
    "python3*",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
)
"""Never ``/etc/ssl`` or ``/etc/pki`` as a whole: private keys lie there."""
WRITABLE = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
READ_ONLY_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
EMPTY_PROC = ("kcore", "keys", "key-users", "timer_list", "latency_stats", "sched_debug", "kmsg")
DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True)
class Plan:
    """One command's world. All paths are absolute; a bound path has the same name inside as outside."""

    root: str
    binds: tuple[str, ...]
    """Read-only; without the root."""
    readable: tuple[str, ...]
    """Those of ``binds`` that the command asked for."""
    links: tuple[tuple[str, str], ...]
    """(path, target) of links in the top folder, such as ``/bin``."""
    files: tuple[tuple[str, str], ...]
    """(path, text) of generated files."""
    hidden: tuple[str, ...]
    """What exists beneath the root and must not be seen."""
    env: dict[str, str]
    uid: int
    gid: int


def plan(command: Command, uid: int, gid: int, *, copied: bool = False) -> Plan:
    """The world of one command run as ``uid`` and ``gid``.

    ``copied``: the root will be a copy on disk, in which virtual environments are missing.

    Raises:
        ContainmentUnavailable: the repository, or a place the command needs, is at or above a home folder.
    """
    root = absolute(command.root)
    refuse_home(command)
    links, binds = _system()
    etc = [str(path) for name in _ETC for path in sorted(Path("/etc").glob(name))]
    readable = [str(path) for path in sorted(_needed(command, root, copied), key=lambda path: len(path.parts))]
    hidden = tuple(str(path) for path in _hidden(command, root))
    writable = [*WRITABLE, *([root] if command.writable or command.changes else [])]
    visible = [*binds, *etc, *readable, "/proc", "/dev", str(root)]
    shown = facts([Path(path) for path in visible], writable, [Path(path) for path in hidden])
    name = "root" if uid == 0 else "user"
    env = environment(HOME, Path("/tmp"), {"USER": name, "LOGNAME": name, **shown, **command.env})
    return Plan(
        root=str(root),
        binds=(*binds, *etc, *readable),
        readable=tuple(readable),
        links=tuple(links),
        files=_files(name, uid, gid),
        hidden=hidden,
        env=env,
        uid=uid,
        gid=gid,
    )


def absolute(path: Path) -> Path:
    """Absolute and without ``..``; links are left as they are."""
    return Path(os.path.abspath(path))


def refuse_home(command: Command) -> None:
    """Refuse to show a home folder: keys and tokens lie there.

    Raises:
        ContainmentUnavailable: see above; the mend names what to do.
    """
    for place in (command.root, *command.readable):
        resolved = place.resolve()
        for home in _homes():
            if resolved == home or resolved in home.parents:
                raise ContainmentUnavailable(
                    f"{place} is at or above the home folder {home}: everything private would be inside",
                    "move the project into a folder of its own below the home folder",
                )


def _homes() -> set[Path]:
    homes = {Path.home().resolve()}
    try:
        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir).resolve())
    except (KeyError, OSError):
        pass
    return {home for home in homes if home != Path("/")}


def _system() -> tuple[list[tuple[str, str]], list[str]]:
    links: list[tuple[str, str]] = []
    binds: list[str] = []
    for name in _SYSTEM:
        if os.path.islink(name):
            links.append((name, os.readlink(name)))
        elif os.path.isdir(name):
            binds.append(name)
    return links, binds


def _needed(command: Command, root: Path, copied: bool) -> set[Path]:
    """The command's readable places that are not there already; a link's target as well as the link's own name."""
    wanted: set[Path] = set()
    for place in command.readable:
        wanted |= {absolute(place), place.resolve()}
    there = [Path(name) for name in _SYSTEM if not os.path.islink(name)]
    if not copied:
        there.append(root)
    needed = {path for path in wanted if path.exists() and not _beneath(path, there)}
    return needed | _hops(command.argv[0], [root, *needed, *map(Path, _SYSTEM)])


def _hops(program: str, shown: Sequence[Path]) -> set[Path]:
    """Names on the way from a link to a program that is shown anyway: an environment's interpreter is often a link to
    a link, in a folder where nothing else is needed. A link to anything else adds nothing."""
    found: set[Path] = set()
    at = Path(program)
    while at.is_absolute() and at.is_symlink() and at.exists() and at not in found:
        found.add(at)
        at = absolute(at.parent / at.readlink())
    if not _beneath(at.resolve(), shown):
        return set()
    return {hop for hop in found if not _beneath(hop, shown)}


def _beneath(path: Path, places: Iterable[Path]) -> bool:
    return any(path == place or place in path.parents for place in places)


def _hidden(command: Command, root: Path) -> list[Path]:
    found = [root / os.path.normpath(relative) for relative in command.hidden]
    return [path for path in found if os.path.lexists(path) and path != root and _beneath(path, [root])]


def _files(name: str, uid: int, gid: int) -> tuple[tuple[str, str], ...]:
    """Account and host files: without them ``localhost`` and ``getpass`` fail."""
    users = [f"{name}:x:{uid}:{gid}:{name}:{HOME}:/bin/sh"]
    groups = [f"{name}:x:{gid}:"]
    for other, number in (("root", 0), ("nobody", 65534)):
        if number != uid:
            users.append(f"{other}:x:{number}:{number}:{other}:/nonexistent:/usr/sbin/nologin")
        if number != gid:
            groups.append(f"{'nogroup' if other == 'nobody' else other}:x:{number}:")
    return (
        ("/etc/passwd", "\n".join(users) + "\n"),
        ("/etc/group", "\n".join(groups) + "\n"),
        ("/etc/hosts", f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost ip6-localhost {HOSTNAME}\n"),
        ("/etc/hostname", HOSTNAME + "\n"),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n"),
        ("/etc/resolv.conf", ""),
    )
