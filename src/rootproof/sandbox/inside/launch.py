"""Builds a small world out of namespaces and runs one command in it.

Three processes: this one stays outside and only waits (its end says that all is over; when its caller goes away it
kills); its child is process 1 of the new namespaces, builds the world, reaps orphans and says how the command ended;
the command itself is process 1's child, without capabilities and behind the system call filter. When process 1 ends,
for whatever reason, the kernel kills everything in the namespace.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import sys

TYPE_CHECKING = False
"""Our own, because importing ``typing`` takes longer than all the rest."""
if TYPE_CHECKING:
    import signal

    from rootproof.sandbox.inside import kernel, world
    from rootproof.sandbox.inside.world import Spec
else:
    import _signal as signal

    import kernel
    import world

    # the public signal module imports enum, which takes as long as Python itself


def main(spec_fd: int) -> None:
    with open(spec_fd, "rb", buffering=0) as source:
        described = source.readall()
    if not described:
        os._exit(0)  # the caller has changed its mind
    spec: Spec = marshal.loads(described)
    for fd in (spec["status"], spec["control"], spec["sight"]):
        os.set_inheritable(fd, False)
    try:
        mapped = _mapped(spec)
    except OSError as fault:
        _refuse(spec, OSError(f"idmapped mount: {fault}"))
    try:
        _enter(spec)
        alive, ours = os.pipe()
        pid = os.fork()
    except OSError as fault:
        _refuse(spec, fault)
    if pid == 0:
        os.close(ours)
        _first(spec, alive, mapped)
    _wait(pid, spec["control"])
    os._exit(0)


def _refuse(spec: Spec, fault: Exception) -> None:
    """Say why nothing was run, and end."""
    os.write(spec["status"], f"refused {fault}\n".replace("[Errno ", "[errno ").encode())
    os._exit(0)


def _enter(spec: Spec) -> None:
    """Go into new namespaces. Root maps every id it has, so that files keep their owners; others only their own."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        finish = _mapper(os.getpid())
        kernel.unshare(kernel.NEW_USER | kernel.NEW_REST)
        finish()
        return
    kernel.unshare(kernel.NEW_USER | kernel.NEW_REST)
    world.write("/proc/self/setgroups", "deny")
    world.write("/proc/self/uid_map", f"{uid} {uid} 1")
    world.write("/proc/self/gid_map", f"{gid} {gid} 1")


def _mapped(spec: Spec) -> dict[str, int]:
    """Root's own files, shown as if they were the command's user's: one detached tree for each path.

    Has to be done while we are still the machine's root. The map exchanges root and that user, and leaves the rest.
    """
    if not spec["mapped"]:
        return {}
    told, tell = os.pipe()
    hold, let_go = os.pipe()
    holder = os.fork()
    if holder == 0:
        os.close(let_go)
        try:
            kernel.unshare(kernel.NEW_USER)
            os.write(tell, b"r")
            os.read(hold, 1)
        finally:
            os._exit(0)
    os.close(tell)
    try:
        os.read(told, 1)
        for name, number in (("uid_map", spec["uid"]), ("gid_map", spec["gid"])):
            world.write(f"/proc/{holder}/{name}", _exchange(number))
        space = os.open(f"/proc/{holder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(let_go)
        os.waitpid(holder, 0)
    trees = {path: kernel.take_tree(path) for path in spec["mapped"]}
    for path, tree in trees.items():
        writable = path == spec["root"] and spec["mode"] != "read-only"
        kernel.map_ids(tree, space, world.SAFE | (0 if writable else kernel.READ_ONLY))
    os.close(space)
    return trees


def _exchange(number: int) -> str:
    """An id map (proc(5), user_namespaces(7)) in which 0 and ``number`` stand for each other."""
    rest = 65536 - number - 1
    rows = [f"0 {number} 1", f"1 1 {number - 1}", f"{number} 0 1"]
    return "\n".join(rows + ([f"{number + 1} {number + 1} {rest}"] if rest else [])) + "\n"


def _mapper(pid: int):  # type: ignore[no-untyped-def]
    """Fork a process that stays outside and can write the id maps; gives the call that lets it and waits for it."""
    ready, go = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(go)
        code = 1
        try:
            if os.read(ready, 1):
                _write_maps(pid)
                code = 0
        finally:
            os._exit(code)
    os.close(ready)

    def finish() -> None:
        os.write(go, b"g")
        os.close(go)
        if os.waitpid(helper, 0)[1]:
            raise OSError("the id maps could not be written")

    return finish


def _write_maps(pid: int) -> None:
    """Every id that this namespace has keeps its number in the other process's one."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/self/{name}") as ours:
            rows = [line.split() for line in ours]
        world.write(f"/proc/{pid}/{name}", "\n".join(f"{row[0]} {row[0]} {row[2]}" for row in rows) + "\n")


def _wait(pid: int, control: int) -> None:
    """Wait for process 1; kill it when the caller closes the control pipe or is dead."""
    watched = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(control, select.POLLIN)
    if all(fd != watched for fd, _ in poll.poll()):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _first(spec: Spec, alive: int, mapped: dict[str, int]) -> None:
    """Process 1 of the new world; never returns."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        _still_wanted(alive)
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        bounded = world.build(spec, mapped)
        kernel.not_dumpable()
        kernel.drop_bounding()
        pid = os.fork()
    except Exception as fault:  #  whatever it was, nothing was run: say so
        _refuse(spec, fault)
    if pid == 0:
        _become(spec, spec["filter"] if bounded else spec["strict_filter"])
    try:
        kernel.drop_capabilities()
        word = _reap(pid)
        os.write(spec["status"], f"{word}\n".encode())
    finally:
        os._exit(0)


def _still_wanted(alive: int) -> None:
    """End if the outer process died before the kernel knew that we must die with it."""
    poll = select.poll()
    poll.register(alive, select.POLLIN)
    if poll.poll(0):
        os._exit(0)
    os.close(alive)


def _reap(pid: int) -> str:
    """Collect everything that dies until the command has; gives how."""
    while True:
        done, status = os.waitpid(-1, 0)
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
            return f"exit {code}" if code >= 0 else f"signal {-code}"


def _become(spec: Spec, lines: bytes) -> None:
    """Turn this process into the command; never returns."""
    try:
        os.setsid()
        os.umask(0o022)
        null = os.open("/dev/null", os.O_RDONLY)  # ours came from outside: its owner could change the node's mode by it
        os.dup2(null, 0)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if spec["switch"]:
            os.setgroups([])
            os.setresgid(spec["gid"], spec["gid"], spec["gid"])
            os.setresuid(spec["uid"], spec["uid"], spec["uid"])
        for limit, soft, hard in spec["rlimits"]:
            resource.setrlimit(limit, (soft, hard))
        os.chdir(spec["cwd"])
        kernel.drop_capabilities()
        kernel.filter_calls(lines)
    except Exception as fault:  #  the command must not start half contained
        os.write(spec["status"], f"refused {fault}\n".encode())
        os._exit(126)
    _run(spec["argv"], spec["env"])


def _run(argv: list[str], env: dict[str, str]) -> None:
    """Replace this process by the program. Not ``execvpe``: that imports a module, and ours are out of sight by now."""
    folders = [""] if "/" in argv[0] else [folder + "/" for folder in env.get("PATH", "").split(":") if folder]
    reason = "not found"
    for folder in folders:
        try:
            os.execve(folder + argv[0], argv, env)
        except OSError as fault:
            reason = fault.strerror or reason
    os.write(2, f"rootproof: cannot start {argv[0]}: {reason}\n".encode())
    os._exit(127)


if sys.platform != "linux":
    raise SystemExit("namespaces are a Linux thing")
