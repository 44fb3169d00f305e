"""The file system, devices, host name and loopback of one command's world, built by process 1 of its namespaces.

Everything is taken out of the old tree first (as detached mounts), so that it does not matter what the new one covers.
"""

from __future__ import annotations

import _socket
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from rootproof.sandbox.inside import kernel

    class Spec(TypedDict):
        """What ``namespaces.py`` asks for; see there and in ``policy.py``."""

        argv: list[str]
        cwd: str
        env: dict[str, str]
        uid: int
        gid: int
        switch: bool
        rlimits: list[tuple[int, int, int]]
        filter: bytes
        strict_filter: bytes
        segment_bytes: int
        status: int
        control: int
        sight: int
        root: str
        mode: str
        copy: str
        mapped: list[str]
        absent: list[str]
        changes: list[tuple[str, bytes]]
        binds: list[str]
        links: list[tuple[str, str]]
        files: list[tuple[str, str]]
        masks: list[str]
        scratch_mb: int
        hostname: str
        home: str
        writable: list[str]
        devices: list[str]
        proc_read_only: list[str]
        proc_empty: list[str]
else:
    import kernel


_NEW = "/tmp"
"""Where the new root is put together; any folder does, it is covered in this mount namespace only."""
_SCRATCH = _NEW + "/.scratch"
_EMPTY = _NEW + "/.empty"
SAFE = kernel.NO_SETUID | kernel.NO_DEVICES


def build(spec: Spec, mapped: dict[str, int]) -> bool:
    """Build the world and go into it. ``mapped``: trees that were made already and need no more restrictions.

    False: System V shared memory could not be limited, so it has to be refused.
    """
    kernel.make_private()
    trees = [(path, _taken(path)) for path in spec["binds"] if path not in mapped and os.path.exists(path)]
    trees += [(path, tree) for path, tree in mapped.items() if path != spec["root"]]
    root = mapped[spec["root"]] if spec["root"] in mapped else kernel.take_tree(spec["copy"] or spec["root"])
    if spec["root"] not in mapped:
        kernel.restrict(root, SAFE | (kernel.READ_ONLY if spec["mode"] == "read-only" else 0))
    devices = [(name, kernel.take_tree("/dev/" + name)) for name in spec["devices"]]
    kernel.mount("tmpfs", _NEW, "tmpfs", SAFE, "size=8m,nr_inodes=16k,mode=0755")
    _scratch(spec)
    for path, text in spec["files"]:
        _parents(_NEW + path)
        write(_NEW + path, text)
    for path, target in spec["links"]:
        os.symlink(target, _NEW + path)
    _place(spec, trees, root)
    _devices(devices)
    bounded = _processes(spec)
    kernel.set_hostname(spec["hostname"])
    for name in (".scratch", ".empty"):
        kernel.checked(kernel.unmount(_NEW + "/" + name), "unmount " + name)
        os.rmdir(_NEW + "/" + name)
    kernel.change_root(_NEW)
    for relative, content in spec["changes"]:
        _change(spec["root"], relative, content)
    kernel.restrict(-100, kernel.READ_ONLY, "/", recursive=False)
    _network(spec)
    return bounded


def _taken(path: str) -> int:
    tree = kernel.take_tree(path)
    kernel.restrict(tree, kernel.READ_ONLY | SAFE)
    return tree


def write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _scratch(spec: Spec) -> None:
    """One sized file system behind every writable place, and an empty read-only one to cover things with."""
    os.mkdir(_SCRATCH)
    options = f"size={spec['scratch_mb']}m,nr_inodes=400k,mode=0755"
    kernel.mount("tmpfs", _SCRATCH, "tmpfs", SAFE, options)
    os.mkdir(_EMPTY)
    kernel.mount("tmpfs", _EMPTY, "tmpfs", SAFE, "size=4k,mode=0555")
    write(_EMPTY + "/file", "")
    os.mkdir(_EMPTY + "/folder", 0o555)
    kernel.restrict(-100, kernel.READ_ONLY | SAFE, _EMPTY)
    for number, place in enumerate(spec["writable"]):
        folder = f"{_SCRATCH}/{number}"
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
        os.makedirs(_NEW + place, exist_ok=True)
        kernel.put_tree(kernel.take_tree(folder), _NEW + place)
    os.mkdir(_NEW + spec["home"], 0o755)
    os.chown(_NEW + spec["home"], spec["uid"], spec["gid"])


def _place(spec: Spec, trees: list[tuple[str, int]], root: int) -> None:
    """Put the old tree's parts to their places, shorter paths first; the root where its length comes."""
    for path, tree in sorted([*trees, (spec["root"], root)], key=lambda pair: pair[0].count("/")):
        target = _NEW + path
        if tree == root and spec["mode"] == "overlay":
            os.makedirs(target, exist_ok=True)
            _overlay(spec, tree, target)
        else:
            _attach(tree, target)
    for path in spec["masks"]:
        _cover(_NEW + path)


def _attach(tree: int, target: str) -> None:
    if stat.S_ISDIR(os.fstat(tree).st_mode):
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        _parents(target)
        write(target, "")
    kernel.put_tree(tree, target)


def _parents(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _cover(path: str) -> None:
    """Put something empty and read-only over a file or folder."""
    if os.path.lexists(path) and not os.path.islink(path):
        kind = "folder" if os.path.isdir(path) else "file"
        kernel.put_tree(kernel.take_tree(f"{_EMPTY}/{kind}"), path)


def _overlay(spec: Spec, tree: int, target: str) -> None:
    """Lay a throw-away layer over the repository; what must be absent is blotted out in the layer beforehand."""
    lower, upper, work = _NEW + "/.lower", _SCRATCH + "/upper", _SCRATCH + "/work"
    for folder in (lower, upper, work):
        os.mkdir(folder)
    kernel.put_tree(tree, lower)  # older kernels want the lower tree attached
    _like(lower, upper)
    for relative in spec["absent"]:
        _blot(lower, upper, relative)
    options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"
    kernel.mount("overlay", target, "overlay", SAFE, options)
    kernel.checked(kernel.unmount(lower), "unmount the lower tree")
    os.rmdir(lower)


def _blot(lower: str, upper: str, relative: str) -> None:
    """Make one path of the lower tree absent: a whiteout, in folders that look like those below them."""
    parts = relative.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        if not os.path.isdir(f"{upper}/{folder}"):
            os.mkdir(f"{upper}/{folder}")
            _like(f"{lower}/{folder}", f"{upper}/{folder}")
    os.mknod(f"{upper}/{relative}", stat.S_IFCHR | 0o600, 0)
    parent = "/".join(parts[:-1])
    found = os.stat(f"{lower}/{parent}")
    os.utime(f"{upper}/{parent}", ns=(found.st_atime_ns, found.st_mtime_ns))


def _like(old: str, new: str) -> None:
    """Give a folder of the layer the mode, owner and times of the one below it."""
    found = os.stat(old)
    os.chown(new, found.st_uid, found.st_gid)
    os.chmod(new, stat.S_IMODE(found.st_mode))
    os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))


def _change(root: str, relative: str, content: bytes) -> None:
    """Replace or add one file of the throw-away layer. Never through a link.

    Its mtime differs in whole seconds from before: bytecode caches compare no finer than that.
    """
    path = root
    owner = os.stat(root)
    parts = relative.split("/")
    for part in parts[:-1]:
        path += "/" + part
        if os.path.islink(path):
            raise OSError(f"a link is on the way to {relative}")
        if not os.path.isdir(path):
            os.mkdir(path, 0o755)
            os.chown(path, owner.st_uid, owner.st_gid)
    path += "/" + parts[-1]
    before = os.lstat(path) if os.path.lexists(path) else None
    if before and not stat.S_ISREG(before.st_mode):
        os.unlink(path)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with open(fd, "wb", buffering=0) as target:
        left = memoryview(content)
        while left:
            left = left[target.write(left) :]
        if before is None:
            os.fchown(fd, owner.st_uid, owner.st_gid)
        moment = os.fstat(fd).st_mtime_ns
        if before and before.st_mtime_ns // 10**9 == moment // 10**9:
            os.utime(fd, ns=(moment + 2 * 10**9,) * 2)


def _devices(devices: list[tuple[str, int]]) -> None:
    for name, tree in devices:
        # read-only still lets a device be written to, but not be given another mode
        kernel.restrict(tree, kernel.READ_ONLY | kernel.NO_SETUID | kernel.NO_EXEC)
        _attach(tree, f"{_NEW}/dev/{name}")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{_NEW}/dev/{name}")
    os.symlink("/proc/self/fd", _NEW + "/dev/fd")
    os.mkdir(_NEW + "/dev/pts")
    flags = kernel.NO_SETUID | kernel.NO_EXEC
    kernel.mount("devpts", _NEW + "/dev/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", _NEW + "/dev/ptmx")


def _processes(spec: Spec) -> bool:
    """A ``/proc`` of the new process namespace; its doors into the machine shut.

    Before that the total of System V shared memory is limited, which the owner of an IPC namespace may do in newer
    kernels. False: not in this one.
    """
    os.mkdir(_NEW + "/proc")
    kernel.mount("proc", _NEW + "/proc", "proc", SAFE | kernel.NO_EXEC)
    try:
        write(_NEW + "/proc/sys/kernel/shmall", str(spec["segment_bytes"] // 4096))
        bounded = True
    except OSError:
        bounded = False
    for name in spec["proc_read_only"]:
        path = f"{_NEW}/proc/{name}"
        if os.path.exists(path):
            tree = kernel.take_tree(path)
            kernel.restrict(tree, kernel.READ_ONLY | SAFE | kernel.NO_EXEC)
            kernel.put_tree(tree, path)
    for name in spec["proc_empty"]:
        _cover(f"{_NEW}/proc/{name}")
    return bounded


def _network(spec: Spec) -> None:
    """Bring loopback up, and give the caller its view: this ``/proc`` and the scratch place, as descriptors."""
    probe = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    kernel.loopback_up(probe.fileno())
    probe.close()
    views = [os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for path in ("/proc", spec["writable"][0])]
    sight = _socket.socket(fileno=spec["sight"])
    packed = b"".join(fd.to_bytes(4, "little") for fd in views)
    sight.sendmsg([b"v"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
    sight.close()
    for fd in views:
        os.close(fd)
