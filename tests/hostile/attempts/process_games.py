"""Attempts to outlive the run, or to reach a process that is not the run's own."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

from ground import CONFIG, LIBC, attempt, last_error, processes, say, tried

SLEEPER = "import time,signal\nfor s in (1,2,15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)"


def daemon(keep_output):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    if not keep_output:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
    os.closerange(3, 256)
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", SLEEPER, "HOSTILE-DAEMON-" + CONFIG["run_id"]])


@attempt
def daemon_left():
    daemon(keep_output=False)
    time.sleep(0.3)
    say(started=True)


@attempt
def daemon_holds_stdout():
    daemon(keep_output=True)
    time.sleep(0.3)
    say(started=True)


@attempt
def daemon_race():
    """Forks on and on, so that who looks and then kills comes too late (for 20 s at most)."""
    if os.fork() == 0:
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        until = time.time() + 20
        while time.time() < until:
            try:
                if os.fork():
                    os._exit(0)
                os.setsid()
            except OSError:
                pass
            time.sleep(0.001)
        os._exit(0)
    time.sleep(0.3)
    say(started=True)


def victim():
    """The process outside that must not be touched: as ``/proc`` shows it, or else by its number."""
    for pid in processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if CONFIG["victim_marker"].encode() in line.read():
                    return int(pid)
        except OSError:
            continue
    return CONFIG["victim_pid"]


@attempt
def kill_outside():
    say(found=tried(lambda: os.kill(victim(), signal.SIGKILL)))


@attempt
def kill_parent():
    first = tried(lambda: os.kill(os.getppid(), signal.SIGKILL))
    say(parent=first, supervisor=tried(lambda: os.kill(CONFIG["supervisor_pid"], signal.SIGKILL)))


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@attempt
def ptrace_outside():
    pid = victim()
    attached = LIBC.ptrace(16, pid, None, None) == 0
    reason = last_error()
    if attached:
        time.sleep(0.1)
        LIBC.ptrace(17, pid, None, None)
    memory = tried(lambda: open(f"/proc/{pid}/mem", "rb").close())
    buffer = ctypes.create_string_buffer(16)
    ours, theirs = Vector(ctypes.addressof(buffer), 16), Vector(0x400000, 16)
    LIBC.process_vm_readv(pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    read = last_error()
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            theirs_really = CONFIG["victim_marker"].encode() in line.read()
    except OSError:
        theirs_really = False
    say(escaped=theirs_really and (attached or memory == "done" or read == "EFAULT"), why=[reason, memory, read])
