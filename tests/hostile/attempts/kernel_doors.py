"""Attempts on the kernel's own interfaces."""

from __future__ import annotations

import fcntl
import os
import re
import termios

from ground import CONFIG, LIBC, attempt, last_error, say, tried


@attempt
def proc_sys_write():
    found = {}
    for name in ("vm/swappiness", "kernel/hostname", "kernel/core_pattern", "kernel/shmmax"):
        found[name] = tried(lambda name=name: _rewrite("/proc/sys/" + name))
    found["sysrq"] = tried(lambda: os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY)))
    say(escaped="done" in found.values(), **found)


def _rewrite(path):
    with open(path) as source:
        same = source.read()
    with open(path, "w") as target:
        target.write(same)


@attempt
def cgroup_escape():
    found = {}
    for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        folder = f"{place}/hostile_{CONFIG['run_id']}"
        found[place] = tried(lambda folder=folder: os.mkdir(folder))
        tried(lambda folder=folder: os.rmdir(folder))
    say(escaped="done" in found.values(), **found)


@attempt
def mount_attempt():
    os.makedirs("/tmp/mounted", exist_ok=True)
    mounted = LIBC.mount(b"none", b"/tmp/mounted", b"tmpfs", 0, None) == 0
    reason = last_error()
    if mounted:
        LIBC.umount2(b"/tmp/mounted", 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if LIBC.unshare(0x10020000) == 0 else 1)
    nested = os.waitpid(child, 0)[1] == 0
    say(escaped=mounted or nested, why=reason)


@attempt
def setuid_gain():
    with open("/proc/self/status") as status:
        text = status.read()
    locked = re.search(r"NoNewPrivs:\s*(\d)", text)
    powers = re.search(r"CapEff:\s*(\w+)", text)
    say(escaped=locked is None or locked[1] != "1" or powers is None or int(powers[1], 16) != 0)


@attempt
def tty_inject():
    found = {str(fd): tried(lambda fd=fd: fcntl.ioctl(fd, termios.TIOCSTI, b"\n")) for fd in range(3)}
    found["tty"] = tried(_inject)
    say(escaped="done" in found.values(), **found)


def _inject():
    fd = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(fd, termios.TIOCSTI, b"\n")
