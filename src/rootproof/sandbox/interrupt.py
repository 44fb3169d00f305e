"""Putting off an interrupt while a process tree is being started or ended, or a folder is being made or removed.

An interrupt between a fork and the line that stores the process id would leave a tree that nobody knows; one amid the
removal of a folder would leave the rest of it.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


@contextmanager
def held_back() -> Iterator[None]:
    """Signals with a Python handler (Ctrl-C) are kept until the block is over, then delivered to that handler.

    Outside the main thread nothing is done, because no handler runs there. Blocks may nest.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept: list[tuple[int, FrameType | None]] = []
    watched = [s for s in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(s))]
    handlers = {s: signal.signal(s, lambda number, frame: kept.append((number, frame))) for s in watched}
    try:
        yield
    finally:
        for watched_signal, handler in handlers.items():
            signal.signal(watched_signal, handler)
        for number, frame in kept[:1]:
            first = handlers[signal.Signals(number)]
            if callable(first):
                first(number, frame)


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A new folder for temporary files that is gone after the block, whenever an interrupt comes."""
    place: Path | None = None
    try:
        with held_back():
            place = Path(tempfile.mkdtemp(prefix=prefix))
        yield place
    finally:
        with held_back():
            if place is not None:
                shutil.rmtree(place, ignore_errors=True)
