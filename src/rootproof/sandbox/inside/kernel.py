"""The few system calls that Python does not offer, through the C library."""

from __future__ import annotations

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

# numbers from 424 on are the same on every architecture
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_HERE = -100  # AT_FDCWD
_EMPTY_PATH, _RECURSIVE = 0x1000, 0x8000
_CLONE_TREE, _CLOSE_ON_EXEC = 1, os.O_CLOEXEC
_MOVE_FROM_EMPTY = 4
READ_ONLY, NO_SETUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8
"""Equal for mount(2) and mount_setattr(2)."""
PRIVATE, DETACH = 0x4000 | 1 << 18, 2

NEW_USER, NEW_REST = 0x10000000, 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000
"""The user namespace; mount, process, network, IPC, host name and cgroup namespaces."""

_PARENT_DEATH, _DUMPABLE, _SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVS, _AMBIENT = 1, 4, 22, 24, 38, 47


class Attributes(ctypes.Structure):
    """``struct mount_attr``."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


class Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))


def checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    checked(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    words = [word.encode() for word in (source, target, kind, options)]
    checked(_LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"mount {kind} on {target}")


def make_private() -> None:
    """Nothing that is mounted from now on is seen outside."""
    checked(_LIBC.mount(b"none", b"/", None, ctypes.c_ulong(PRIVATE), None), "make mounts private")


def take_tree(path: str) -> int:
    """A detached copy of what is mounted at ``path`` and below, as a descriptor."""
    flags = _CLONE_TREE | _RECURSIVE | _CLOSE_ON_EXEC
    return checked(_LIBC.syscall(_OPEN_TREE, _HERE, path.encode(), flags), f"open_tree {path}")


def restrict(tree: int, flags: int, path: str = "", recursive: bool = True) -> None:
    """Set mount flags on a detached tree, or at ``path`` when ``tree`` is -100."""
    wanted = Attributes(flags, 0, 0, 0)
    how = (_EMPTY_PATH if not path else 0) | (_RECURSIVE if recursive else 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    result = _LIBC.syscall(_MOUNT_SETATTR, tree, path.encode(), how, ctypes.byref(wanted), size)
    checked(result, f"mount_setattr {path}")


def map_ids(tree: int, userns: int, flags: int) -> None:
    """Show owners through the id map of a user namespace, on a detached tree (MOUNT_ATTR_IDMAP, Linux 5.12)."""
    wanted = Attributes(0x00100000 | flags, 0, 0, userns)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    result = _LIBC.syscall(_MOUNT_SETATTR, tree, b"", _EMPTY_PATH | _RECURSIVE, ctypes.byref(wanted), size)
    checked(result, "MOUNT_ATTR_IDMAP")


def put_tree(tree: int, path: str) -> None:
    """Attach a detached tree at ``path`` and close its descriptor."""
    result = _LIBC.syscall(_MOVE_MOUNT, tree, b"", _HERE, path.encode(), _MOVE_FROM_EMPTY)
    checked(result, f"move_mount {path}")
    os.close(tree)


def change_root(path: str) -> None:
    """Make ``path`` the root and let go of the old one (pivot_root(2): both may be the same folder)."""
    os.chdir(path)
    checked(_LIBC.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    checked(_LIBC.umount2(b".", DETACH), "leave the old root")
    os.chdir("/")


def unmount(path: str) -> int:
    """Detach what is mounted at ``path``; what is already in use goes on living."""
    result: int = _LIBC.umount2(path.encode(), DETACH)
    return result


def set_hostname(name: str) -> None:
    word = name.encode()
    checked(_LIBC.sethostname(word, ctypes.c_size_t(len(word))), "sethostname")


def loopback_up(descriptor: int) -> None:
    """Bring up ``lo`` (SIOCSIFFLAGS with IFF_UP and IFF_RUNNING) through any IPv4 socket."""
    request = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little") + bytes(22)
    checked(_LIBC.ioctl(descriptor, ctypes.c_ulong(0x8914), ctypes.c_char_p(request)), "loopback")


def die_with_parent(signal: int) -> None:
    checked(_LIBC.prctl(_PARENT_DEATH, signal, 0, 0, 0), "PR_SET_PDEATHSIG")


def not_dumpable() -> None:
    """Nobody without privilege may look at this process through ``/proc`` or trace it."""
    checked(_LIBC.prctl(_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE")


def drop_bounding() -> None:
    """No program started from here can gain a capability; needs to be called before :func:`drop_capabilities`."""
    for number in range(64):
        if _LIBC.prctl(_DROP_BOUNDING, number, 0, 0, 0) < 0:
            break  # past the last one the kernel knows
    _LIBC.prctl(_AMBIENT, 4, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up all capabilities and every way to new ones (capset(2), version 3; no_new_privs)."""
    header = (0x20080522).to_bytes(4, "little") + bytes(4)
    checked(_LIBC.capset(ctypes.c_char_p(header), ctypes.c_char_p(bytes(24))), "capset")
    checked(_LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def filter_calls(lines: bytes) -> None:
    """Put a seccomp program into force for this process and all it starts."""
    kept = ctypes.create_string_buffer(lines, len(lines))
    wanted = Program(len(lines) // 8, ctypes.addressof(kept))
    checked(_LIBC.prctl(_SECCOMP, 2, ctypes.byref(wanted), 0, 0), "seccomp")
