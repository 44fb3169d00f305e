"""PYTEST_DONT_REWRITE

What containment may have refused, noted per test phase: by an audit hook for what the code tried, and from the
exceptions of a failure for what the system answered.

Seen: this process's own connects and lookups beyond loopback, its writes to places that cannot be written, and its
reads of hidden places. Not seen: child processes, and libraries that call the system without Python (their error
text is looked at when a test fails).
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import threading

LINES_A_PHASE = 20
LINE_LIMIT = 200
LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "", "::1", "::", "0.0.0.0")
CONTAINMENT_ERRORS = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,  # these three are how limits on file size, memory and processes show
    errno.ENOMEM,
    errno.EAGAIN,
    errno.ENETUNREACH,
    errno.EHOSTUNREACH,
    errno.ENETDOWN,
    errno.EADDRNOTAVAIL,
    errno.EAFNOSUPPORT,
    errno.ECONNREFUSED,
)
REFUSED_TEXT = re.compile(
    r"connection refused|network is unreachable|name or service not known|name resolution|read-only file system"
    r"|could not connect|could not translate host name|no route to host",
    re.IGNORECASE,
)
WRITES = {
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.truncate": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "sqlite3.connect": (0,),
}
CONNECTS = ("socket.connect", "socket.sendto")
LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
WATCHED = frozenset(WRITES).union(CONNECTS, LOOKUPS, ("open",))


class Watch:
    """Collects lines until they are taken; asleep until it is started."""

    def __init__(self, root: str, hidden: list[str]) -> None:
        self._root = root
        self._hidden = tuple(os.path.join(root, path) for path in hidden)
        self._lines: dict[str, None] = {}
        self._nearby: dict[str, None] = {}
        self._awake = False
        self._inside = threading.local()

    def start(self) -> None:
        sys.addaudithook(self._hook)
        self._awake = True

    def clear(self) -> None:
        self._lines = {}
        self._nearby = {}

    def take(self, error: BaseException | None = None) -> list[str]:
        """The lines since the last call, and those that the exceptions of a failure add."""
        lines, nearby = self._lines, self._nearby
        self.clear()
        for link in chain_of(error):
            line = self._refusal(link)
            if isinstance(link, ConnectionRefusedError):
                lines.update((f"connect {address}: refused", None) for address in nearby)
            elif line:
                lines[line] = None
        return list(lines)[:LINES_A_PHASE]

    def _note(self, line: str) -> None:
        if len(self._lines) < LINES_A_PHASE:
            self._lines[self._shown(line)] = None

    def _shown(self, line: str) -> str:
        return line.replace(self._root + os.sep, "").replace("\n", " ")[:LINE_LIMIT]

    def _hook(self, event: str, args: tuple[object, ...]) -> None:
        if event not in WATCHED or not self._awake or getattr(self._inside, "busy", False):
            return
        self._inside.busy = True
        try:
            self._look(event, args)
        except Exception:  # A hook that raises would change what the code under test does.
            pass
        finally:
            self._inside.busy = False

    def _look(self, event: str, args: tuple[object, ...]) -> None:
        if event in CONNECTS:
            if is_loopback(args[1]):
                self._nearby[address_text(args[1])] = None
            else:
                self._note(f"connect {address_text(args[1])}")
        elif event in LOOKUPS:
            if not is_loopback_name(args[0]) and not is_number(args[0]):
                self._note(f"lookup {name_text(args[0])}")
        elif event == "open":
            self._look_open(args)
        else:
            for position in WRITES[event]:
                self._look_write(args[position])

    def _look_open(self, args: tuple[object, ...]) -> None:
        path, flags = path_text(args[0]), args[2]
        if path is None:
            return
        if self._is_hidden(path):
            self._note(f"open {path}: hidden")
        elif isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            self._look_write(path)

    def _look_write(self, target: object) -> None:
        path = path_text(target)
        if path is None or path.endswith(":memory:") or path.startswith("/dev/"):
            return
        place = path if os.path.exists(path) else os.path.dirname(path)
        if os.path.exists(place) and not os.access(place, os.W_OK):
            self._note(f"write {path}: refused")

    def _is_hidden(self, path: str) -> bool:
        return any(path == place or path.startswith(place.rstrip("/") + "/") for place in self._hidden)

    def _refusal(self, error: BaseException) -> str:
        if isinstance(error, socket.gaierror):
            return self._shown(f"{type(error).__name__}: lookup failed")
        if isinstance(error, OSError):
            hidden = isinstance(error.filename, str) and self._is_hidden(os.path.abspath(error.filename))
            if error.errno in CONTAINMENT_ERRORS or hidden:
                code = errno.errorcode.get(error.errno or 0, "?")
                return self._shown(f"{type(error).__name__} {code} {error.filename or ''}")
        if isinstance(error, (AssertionError, SyntaxError)):
            return ""
        try:
            text = str(error)
        except Exception:
            return ""
        return self._shown(f"{type(error).__name__}: {text}") if REFUSED_TEXT.search(text) else ""


def chain_of(error: BaseException | None) -> list[BaseException]:
    """An exception with its causes, contexts and, for groups, members; at most 20, each once."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting and len(found) < 20:
        link = waiting.pop(0)
        if link is None or any(link is known for known in found):
            continue
        found.append(link)
        waiting.extend((link.__cause__, link.__context__))
        members = getattr(link, "exceptions", ())
        waiting.extend(m for m in members if isinstance(m, BaseException)) if isinstance(members, tuple) else None
    return found


def path_text(path: object) -> str | None:
    """An absolute path, or None for a descriptor or anything else."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    return os.path.abspath(path) if isinstance(path, str) and path else None


def is_loopback_name(host: object) -> bool:
    name = name_text(host)
    return name in LOOPBACK_NAMES or name.startswith("127.") or name == socket.gethostname()


def is_number(host: object) -> bool:
    """A numeric address needs no lookup; its connect is seen on its own."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, name_text(host))
        except (OSError, ValueError):
            continue
        return True
    return False


def is_loopback(address: object) -> bool:
    """Also true for what is no internet address: a path socket reaches nothing beyond this machine."""
    if not isinstance(address, tuple) or not address:
        return True
    return is_loopback_name(address[0])


def name_text(host: object) -> str:
    if isinstance(host, bytes):
        return host.decode("ascii", "replace")
    return host if isinstance(host, str) else ""


def address_text(address: object) -> str:
    return ":".join(str(part) for part in address[:2]) if isinstance(address, tuple) else str(address)
