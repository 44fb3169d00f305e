"""What every attempt uses: the configuration the judge wrote, and the lines by which an attempt says what it got.

Attempts are bounded and aim only at what the judge put up. Nothing but text that starts with ``CANARY-`` is echoed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile_config.json")) as source:
    CONFIG = json.load(source)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
ATTEMPTS = {}


def attempt(function):
    ATTEMPTS[function.__name__] = function
    return function


def say(**found):
    """One line of evidence for the judge."""
    sys.stdout.write("EVIDENCE " + json.dumps(found) + "\n")
    sys.stdout.flush()


def why(fault):
    return errno.errorcode.get(fault.errno, str(fault)) if isinstance(fault, OSError) else type(fault).__name__


def last_error():
    return errno.errorcode.get(ctypes.get_errno(), "none")


def tried(action):
    """``done`` or the name of the error."""
    try:
        action()
        return "done"
    except OSError as fault:
        return why(fault)


def write(path, text="CANARY-written\n", mode="w"):
    def action():
        with open(path, mode) as target:
            target.write(text)

    return tried(action)


def secrets_in(path, most=1 << 20):
    """Canaries in a file, or the name of the error."""
    try:
        with open(path, "rb") as opened:
            data = opened.read(most)
    except OSError as fault:
        return why(fault)
    return canaries(data)


def canaries(data):
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    return sorted(set(re.findall(r"CANARY-[A-Za-z0-9_-]+", text)))


def processes():
    return [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
