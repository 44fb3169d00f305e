"""Attempts to use up the machine. All are bounded, also where nothing stops them."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import threading
import time

from ground import CONFIG, LIBC, attempt, last_error, say, why


@attempt
def fork_bomb():
    children, reason = [], ""
    for _ in range(CONFIG["fork_n"]):
        try:
            pid = os.fork()
        except OSError as fault:
            reason = why(fault)
            break
        if pid == 0:
            try:
                time.sleep(6)
            finally:
                os._exit(0)
        children.append(pid)
    say(reached=len(children), why=reason)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


@attempt
def thread_bomb():
    reached, release = 0, threading.Event()
    threading.stack_size(65536)
    try:
        for _ in range(2 * CONFIG["fork_n"]):
            threading.Thread(target=release.wait, args=(8,), daemon=True).start()
            reached += 1
    except RuntimeError:
        pass
    say(reached=reached)
    release.set()


def touch(size):
    """Memory that is really there."""
    block = mmap.mmap(-1, size)
    for offset in range(0, size, 4096):
        block[offset] = 1
    return block


@attempt
def memory_one():
    held = []
    for number in range(CONFIG["mem_mb"] // 64):
        try:
            held.append(touch(64 << 20))
        except (OSError, MemoryError, ValueError):
            break
        if number % 8 == 0:
            say(progress_mb=64 * len(held))
    say(reached_mb=64 * len(held))


@attempt
def memory_many():
    """Ten children of 800 MB: a limit for each process alone does not see it."""
    read, written = os.pipe()
    for _ in range(10):
        if os.fork() == 0:
            try:
                block = touch(800 << 20)
                os.write(written, b"x")
                time.sleep(5)
                block.close()
            finally:
                os._exit(0)
    os.set_blocking(read, False)
    until, done = time.time() + 7, 0
    while time.time() < until and done < 10:
        try:
            done += len(os.read(read, 100))
        except BlockingIOError:
            time.sleep(0.1)
    say(reached_mb=800 * done)


@attempt
def output_flood():
    block = b"F" * 65536
    for _ in range(16 * CONFIG["flood_mb"]):
        os.write(1, block)


@attempt
def run_forever():
    say(started=True)
    while True:
        time.sleep(1)


@attempt
def ignore_sigterm():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    say(started=True)
    while True:
        time.sleep(1)


@attempt
def cpu_burn():
    for _ in range(3):
        if os.fork() == 0:
            break
    else:
        say(started=True)
    while True:
        pass


# ---- our own


@attempt
def memory_unmapped():
    """Memory files that nobody maps: no process seems to hold them."""
    held, block = [], b"\1" * (1 << 20)
    for number in range(CONFIG["mem_mb"] // 64):
        try:
            held.append(os.memfd_create("hoard"))
            for _ in range(64):
                os.write(held[-1], block)
        except OSError:
            break
        if number % 8 == 0:
            say(progress_mb=64 * len(held))
    say(reached_mb=64 * len(held))


@attempt
def memory_segments():
    """System V segments that are filled and let go: they stay, and no process seems to hold them."""
    LIBC.shmat.restype = ctypes.c_void_p
    reached = 0
    for _ in range(CONFIG["mem_mb"] // 64):
        segment = LIBC.shmget(0, 64 << 20, 0o1600)
        place = LIBC.shmat(segment, None, 0) if segment >= 0 else None
        if place in (None, ctypes.c_void_p(-1).value):
            break
        ctypes.memset(place, 1, 64 << 20)
        LIBC.shmdt(ctypes.c_void_p(place))
        reached += 64
    say(reached_mb=reached, why=last_error())
