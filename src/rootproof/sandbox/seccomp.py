"""The system calls a contained command may not make, as a classic BPF program for seccomp(2).

Namespaces leave some doors open: VSOCK and other socket families, io_uring, the kernel's keyrings, ptrace, new user
namespaces, typing into a terminal. This shuts them. Calls are refused with an error, so that programs that probe for
a feature fall back; only a foreign instruction set (x86 32-bit calls and the like) kills the process.

Numbers: ``asm/unistd_64.h`` (x86_64) and ``asm-generic/unistd.h`` (aarch64). Another machine gets no program, and
the caller refuses to contain there.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

_REFUSED = {
    # other processes' memory and descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # keyrings are inherited from the session, whatever the namespaces
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # large and often attacked parts of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    # files by handle, past every mount
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the machine itself
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "fanotify_init": (300, 262),
    "syslog": (103, 116),
    "vhangup": (153, 58),
}
_ABSENT = {
    # answered as if the kernel were too old: programs have another way
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_secret": (447, 447),
    "clone3": (435, 435),  # its flags lie in memory, where a filter cannot look; libc goes on with clone
}

_SEGMENTS = {"shmget": (29, 194)}
"""System V shared memory lives on without being mapped, where no watch sees it."""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (interface lists)."""
_TERMINAL_REQUESTS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: input typed into somebody's terminal."""

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERROR = 0x00050000

_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in ``struct seccomp_data``: call number, architecture, low halves of the first two arguments."""


@dataclass(frozen=True)
class _Machine:
    audit: int
    column: int
    clone: int
    socket: int
    socketpair: int
    ioctl: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0, 56, 41, 53, 16),
    "aarch64": _Machine(0xC00000B7, 1, 220, 198, 199, 29),
}


def program(machine: str | None = None, *, segments: bool = False) -> bytes | None:
    """The filter for one machine (``platform.machine()`` names), or None where its call numbers are not known.

    ``segments``: System V shared memory may be made, because its total is limited otherwise.
    """
    found = _MACHINES.get(machine or platform.machine())
    if found is None:
        return None
    lines = [_load(_ARCHITECTURE), _equal(found.audit, 1, 0), _answer(_KILL), _load(_NUMBER)]
    if found.column == 0:
        lines += [_at_least(0x40000000, 0, 1), _answer(_ERROR | errno.ENOSYS)]  # the x32 numbers
    absent = _ABSENT if segments else {**_ABSENT, **_SEGMENTS}
    for table, error in ((_REFUSED, errno.EPERM), (absent, errno.ENOSYS)):
        for row in table.values():
            number = row[found.column]
            if number is not None:
                lines += [_equal(number, 0, 1), _answer(_ERROR | error)]
    lines += [_equal(found.clone, 0, 4), _load(_FIRST), _any_bit(_NEW_NAMESPACES, 0, 1)]
    lines += [_answer(_ERROR | errno.EPERM), _load(_NUMBER)]
    for call in (found.socket, found.socketpair):
        lines += _families(call)
    lines += [_equal(found.ioctl, 0, 5), _load(_SECOND), _equal(_TERMINAL_REQUESTS[0], 1, 0)]
    lines += [_equal(_TERMINAL_REQUESTS[1], 0, 1), _answer(_ERROR | errno.EPERM), _load(_NUMBER)]
    return b"".join([*lines, _answer(_ALLOW)])


def _families(call: int) -> list[bytes]:
    """Refuse all socket families but ours."""
    count = len(_FAMILIES)
    ours = [_equal(family, count - i, 0) for i, family in enumerate(_FAMILIES)]
    refuse = _answer(_ERROR | errno.EAFNOSUPPORT)
    return [_equal(call, 0, count + 3), _load(_FIRST), *ours, refuse, _load(_NUMBER)]


def _line(code: int, when_true: int, when_false: int, value: int) -> bytes:
    """One ``struct sock_filter``."""
    return struct.pack("HBBI", code, when_true, when_false, value)


def _load(offset: int) -> bytes:
    return _line(0x20, 0, 0, offset)


def _equal(value: int, when_true: int, when_false: int) -> bytes:
    return _line(0x15, when_true, when_false, value)


def _at_least(value: int, when_true: int, when_false: int) -> bytes:
    return _line(0x35, when_true, when_false, value)


def _any_bit(mask: int, when_true: int, when_false: int) -> bytes:
    return _line(0x45, when_true, when_false, mask)


def _answer(value: int) -> bytes:
    return _line(0x06, 0, 0, value)
