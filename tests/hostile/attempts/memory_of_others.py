"""Attempts on secrets that are not files: environments, command lines, keyrings, descriptors, shared memory."""

from __future__ import annotations

import ctypes
import os

from ground import CONFIG, LIBC, attempt, canaries, last_error, processes, say, secrets_in

_KEYS = {"x86_64": (250, 249), "aarch64": (219, 218)}
_SEARCH, _READ = 10, 11


@attempt
def env_secret():
    say(got=canaries("\n".join(f"{name}={value}" for name, value in os.environ.items())))


@attempt
def env_of_others():
    say(got=[secrets_in(f"/proc/{pid}/environ") for pid in processes() if pid != str(os.getpid())])


@attempt
def cmdline_of_others():
    say(got=[secrets_in(f"/proc/{pid}/cmdline") for pid in processes()])


@attempt
def keyring_read():
    keyctl, request = _KEYS[os.uname().machine]
    buffer = ctypes.create_string_buffer(200)
    got = []
    for ring in (-2, -3, -4, -5):
        key = LIBC.syscall(keyctl, _SEARCH, ring, b"user", b"hostile_canary", 0)
        if key > 0 and LIBC.syscall(keyctl, _READ, key, buffer, 200) > 0:
            got += canaries(buffer.value)
    key = LIBC.syscall(request, b"user", b"hostile_canary", None, 0)
    reason = last_error()
    if key > 0 and LIBC.syscall(keyctl, _READ, key, buffer, 200) > 0:
        got += canaries(buffer.value)
    say(got=got, why=reason)


@attempt
def inherited_fd():
    got = []
    for fd in range(3, 256):
        try:
            got += canaries(os.pread(fd, 4096, 0))
        except OSError:
            continue
    say(got=got, open=sorted(int(name) for name in os.listdir("/proc/self/fd")))


@attempt
def sysv_shm_read():
    LIBC.shmat.restype = ctypes.c_void_p
    segment = LIBC.shmget(CONFIG["shm_key"], 4096, 0)
    reason, got = last_error(), []
    if segment >= 0:
        place = LIBC.shmat(segment, None, 0o10000)
        if place not in (None, ctypes.c_void_p(-1).value):
            got = canaries(ctypes.string_at(place, 200))
    say(got=got, why=reason)
