"""Attempts on files: the repository, the home folder, keys, the disk itself."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile

from ground import CONFIG, LIBC, ROOT, attempt, last_error, processes, say, secrets_in, tried, write


@attempt
def repo_write():
    os.makedirs(ROOT + "/.git/hooks", exist_ok=True) if os.access(ROOT, os.W_OK) else None
    say(
        add=write(ROOT + "/added.py"),
        append=write(ROOT + "/src/mod.py", mode="a"),
        hook=write(ROOT + "/.git/hooks/pre-commit"),
        remove=tried(lambda: os.unlink(ROOT + "/src/victim.txt")),
        mode=tried(lambda: os.chmod(ROOT + "/src/mod.py", 0o777)),
        times=tried(lambda: os.utime(ROOT + "/src/mod.py", (1, 1))),
    )


@attempt
def repo_remount_rw():
    rebind = LIBC.mount(None, ROOT.encode(), None, 32 | 4096, None)
    first = last_error()
    LIBC.umount2(ROOT.encode(), 2)
    say(remount=rebind, why=first, umount=last_error(), write=write(ROOT + "/remounted"))


@attempt
def repo_symlink_out():
    """A link to a secret where somebody outside may look for results."""
    found = {}
    for name in ("junit.xml", "results.jsonl", "src/victim.txt"):
        path = os.path.join(ROOT, name)
        if os.path.lexists(path):
            tried(lambda path=path: os.unlink(path))
        found[name] = tried(lambda path=path: os.symlink(CONFIG["ssh_key"], path))
    say(**found)


@attempt
def home_write():
    say(home=write(CONFIG["home"] + "/.hostile_canary"))


@attempt
def tmp_write_host():
    say(**{place: write(f"{place}/hostile_canary_{CONFIG['run_id']}") for place in ("/tmp", "/var/tmp", "/dev/shm")})


@attempt
def venv_write():
    """Code planted where somebody outside would run it later."""
    say(plant=write(CONFIG["venv_dir"] + "/hostile_plant.pth"))


@attempt
def secret_files():
    say(got=[secrets_in(path) for path in CONFIG["secret_files"]])


@attempt
def shadow_read():
    try:
        with open("/etc/shadow") as opened:
            leaked = "root:" in opened.read(4000)
    except OSError:
        leaked = False
    say(escaped=leaked)


@attempt
def raw_disk():
    found = {}
    for name in ("vda", "sda", "nvme0n1", "mem", "kmem", "port"):
        found[name] = tried(lambda name=name: os.close(os.open("/dev/" + name, os.O_RDONLY)))
    found["kcore"] = tried(_read_kcore)
    for major, minor in ((254, 0), (8, 0), (1, 1)):
        path = f"/tmp/node-{major}-{minor}"
        if tried(lambda path=path, number=os.makedev(major, minor): os.mknod(path, 0o060600, number)) == "done":
            found[path] = tried(lambda path=path: os.close(os.open(path, os.O_RDONLY)))
    say(escaped="done" in found.values(), **found)


def _read_kcore():
    with open("/proc/kcore", "rb") as memory:
        if not memory.read(16):
            raise OSError(2, "empty")


@attempt
def proc_root_escape():
    got = []
    for pid in processes():
        for door in ("root", "cwd"):
            found = secrets_in(f"/proc/{pid}/{door}{CONFIG['ssh_key']}")
            got += found if isinstance(found, list) else []
    say(got=got)


@attempt
def handle_open():
    """A file by its handle, past every mount (needs a capability that must not be here)."""
    handle = struct.pack("iiII", 8, 1, CONFIG["ssh_inode"], 0)
    here = os.open(ROOT, os.O_RDONLY)
    number = {"x86_64": 304, "aarch64": 265}[os.uname().machine]
    say(escaped=LIBC.syscall(number, here, handle, os.O_RDONLY) >= 0, why=last_error())


@attempt
def disk_fill():
    """2 GB to every place that takes a write, in files of 32 MB."""
    places = {"/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/dev", ROOT, CONFIG["home"], tempfile.gettempdir()}
    found = {}
    for place in sorted(places):
        found[place] = _fill(place)
    say(reached_mb=max(found.values()), **{key: value for key, value in found.items() if value})


def _fill(place):
    block, written, names = b"\0" * (1 << 20), 0, []
    try:
        for number in range(64):
            names.append(f"{place}/fill_{CONFIG['run_id']}_{number}")
            with open(names[-1], "wb") as target:
                for _ in range(32):
                    target.write(block)
                    written += 1
    except OSError:
        pass
    for name in names:
        tried(lambda name=name: os.unlink(name))
    return written


@attempt
def big_file():
    def action():
        with open("/tmp/big", "wb") as target:
            target.truncate(1 << 40)

    say(escaped=tried(action) == "done")


# ---- our own


@attempt
def project_env_file():
    """The project's own secrets, by every name they might have."""
    names = [
        ROOT + "/.env",
        ROOT + "/./.env",
        "/proc/self/cwd/.env",
        f"/proc/1/root{ROOT}/.env",
        "/.scratch/upper/.env",
    ]
    got = [secrets_in(name) for name in names]
    linked = tried(lambda: os.link(ROOT + "/.env", "/tmp/linked"))
    moved = tried(lambda: os.rename(ROOT + "/secrets", ROOT + "/moved"))
    got += [secrets_in(name) for name in ("/tmp/linked", ROOT + "/moved/key.pem", ROOT + "/secrets/key.pem")]
    say(got=got, linked=linked, moved=moved, listed=os.listdir(ROOT))


@attempt
def hostile_git_config():
    """``.git/config`` names programs; whoever calls git starts them. Here they may run, but only inside."""
    git = shutil.which("git")
    if git is None:
        say(git="not here")
        return
    done = subprocess.run([git, "-C", ROOT, "status", "--short"], capture_output=True, text=True, timeout=8)
    say(code=done.returncode, ran=os.path.exists("/tmp/git-config-ran"), error=done.stderr[-200:])


@attempt
def detect_copy():
    """From the throw-away view to the original, through what the kernel tells about mounts."""
    places = set()
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            places |= {word.partition("=")[2] for word in line.replace(",", " ").split() if "dir=" in word}
    reached = [place for place in places if tried(lambda place=place: os.listdir(place)) == "done"]
    wrote = [place for place in reached if write(place + "/planted-below") == "done"]
    for place in ("..", "../..", "/proc/1/cwd", "/proc/1/root/.scratch", "/old_root", "/oldroot"):
        wrote += [place] if write(os.path.join(ROOT, place, "planted-beside")) == "done" else []
    say(seen=sorted(places), reached=reached, wrote=wrote)


@attempt
def change_devices():
    """Modes of device nodes and of descriptors that came from outside: as their owner one may change them."""
    found = {}
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        found[name] = tried(lambda name=name: os.chmod("/dev/" + name, 0o600))
    for fd in range(3):
        found[str(fd)] = tried(lambda fd=fd: os.fchmod(fd, 0o600))
    say(**found)
