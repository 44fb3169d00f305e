"""A handful of attempts to get out, run inside by ``selftest.py``, one answer a line: ``name held`` or ``name open``.

Harmless where they succeed: they touch only what the caller put up for them.
"""

from __future__ import annotations

import _socket
import ctypes
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def main(root: str, outside: str, port: str, marker: str) -> None:
    attempts: dict[str, Callable[[], object]] = {
        "write": lambda: write(root + "/planted"),
        "read": lambda: os.close(os.open(outside, os.O_RDONLY)),
        "network": lambda: connect(int(port)),
        "environment": lambda: os.environ["ROOTPROOF_SELFTEST_SECRET"],
        "namespaces": new_namespace,
        "privileges": privileged,
        "processes": others,
        "kernel": lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            print(name, "open", flush=True)
        except (OSError, KeyError):
            print(name, "held", flush=True)
    leave_daemon(marker)


def write(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def connect(port: int) -> None:
    caller = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    caller.settimeout(1.0)
    caller.connect(("127.0.0.1", port))
    caller.close()


def new_namespace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def privileged() -> None:
    """Raises when there is no capability, no way to one, and a filter in force."""
    with open("/proc/self/status") as status:
        found = dict(line.split(":", 1) for line in status)
    powers = [int(found[name], 16) for name in ("CapEff", "CapPrm", "CapInh")]
    if not any(powers) and found["NoNewPrivs"].strip() == "1" and found["Seccomp"].strip() == "2":
        raise PermissionError("no privilege")


def others() -> None:
    """Raises when no process but a few of our own world can be seen."""
    if sum(name.isdigit() for name in os.listdir("/proc")) <= 8:
        raise ProcessLookupError("alone")


def leave_daemon(marker: str) -> None:
    """A process that forked twice and left the session, holding the output: it must die with the run."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", marker])
    time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:5])
