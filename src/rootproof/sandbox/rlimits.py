"""The kernel's own limits, set before the command starts and inherited by everything it starts."""

from __future__ import annotations

import math
import os
import resource

from rootproof.sandbox.interface import Limits

OPEN_FILES = 4096
"""Open files of one process: enough for a test runner, too few to hold much memory in unmapped files."""


def rlimits(limits: Limits) -> list[tuple[int, int, int]]:
    """(resource number, soft, hard) triples. No limit on address space: node reserves far more than it uses."""
    seconds = math.ceil(limits.cpu_seconds)
    file_bytes = limits.file_mb << 20
    wanted = [
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, seconds + 1, seconds + 3),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
    ]
    return [(number, _most(number, soft), _most(number, hard)) for number, soft, hard in wanted]


def process_limit(limits: Limits, uid: int, ours: int) -> list[tuple[int, int, int]]:
    """The kernel's own limit on processes and threads, where there is one for the namespace alone.

    It counts per user and, since Linux 5.14, per user namespace; before, it would count the user's other processes
    too. It does not bind root. ``ours``: processes of ours that it counts as well. Half as many again are let through,
    so that it is mostly the watch that ends the command, with the limit as the reason, and not a failed fork.
    """
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if uid == 0 or release < (5, 14):
        return []
    most = limits.processes + limits.processes // 2 + ours
    return [(resource.RLIMIT_NPROC, most, most)]


def _most(number: int, value: int) -> int:
    """``value``, or what we may have ourselves where that is less."""
    ours = resource.getrlimit(number)[1]
    return value if ours == resource.RLIM_INFINITY else min(value, ours)
