"""The outside half of the hostile suite: puts up canaries, runs one attempt a launch, and judges from outside.

Also a program, so that it can be run as another user: ``python judge.py MECHANISM VIEW SUITE [attempt ...]`` prints one
JSON object an attempt. What an attempt says of itself is used only against it.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Completed, Limits, Sandbox
from rootproof.sandbox.namespaces import Namespaces

HERE = Path(__file__).parent
SECRETS = ("ssh", "env", "cmdline", "token", "key", "fd", "shm", "dotenv")
MAY_BE_SILENT = {
    "output_flood",
    "memory_one",
    "memory_many",
    "memory_unmapped",
    "fork_bomb",
    "thread_bomb",
    "disk_fill",
}
"""Ended by a limit before they could say anything."""
ENDLESS = {"run_forever": "time", "ignore_sigterm": "time", "cpu_burn": "cpu"}
MECHANISMS = {"bubblewrap": Bubblewrap, "namespaces": Namespaces}
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Suite:
    """A folder of attempts: where it is, which script makes one, where its configuration goes."""

    folder: Path
    script: str
    config: str
    mark: str

    def names(self) -> list[str]:
        texts = [path.read_text() for path in sorted(self.folder.rglob("*.py"))]
        return [name for text in texts for name in re.findall(rf"^@{self.mark}\ndef (\w+)\(", text, re.MULTILINE)]


OWN = Suite(HERE / "attempts", "attempts/attempt.py", "attempts/hostile_config.json", "attempt")


def shared_suite() -> Suite | None:
    """The attack repository beside the project (or where HOSTILE_SUITE says), where there is one."""
    beside = HERE.parents[2] / "shared" / "hostile" / "repo_template"
    folder = Path(os.environ.get("HOSTILE_SUITE", beside))
    return Suite(folder, "tests/attacks.py", "tests/hostile_config.json", "attack") if folder.is_dir() else None


@dataclass
class Verdict:
    """What happened, as seen from outside. Contained when ``bad`` is empty."""

    name: str
    bad: list[str] = field(default_factory=list)
    ended: str = ""
    evidence: list[object] = field(default_factory=list)
    said: str = ""


class Servers:
    """Listeners outside; ``hits`` names those that were reached."""

    def __init__(self, folder: Path, abstract: str) -> None:
        self.hits: list[str] = []
        self._open: list[socket.socket] = []
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        self.tcp = self._listen("tcp", socket.AF_INET, stream, ("0.0.0.0", 0)).getsockname()[1]
        self.udp = self._listen("udp", socket.AF_INET, datagram, ("127.0.0.1", 0)).getsockname()[1]
        try:
            self.tcp6 = self._listen("tcp6", socket.AF_INET6, stream, ("::1", 0)).getsockname()[1]
        except OSError:
            self.tcp6 = 1
        self._listen("abstract", socket.AF_UNIX, stream, "\0" + abstract)
        self.paths = [str(folder / "agent.sock")]
        self._listen("path", socket.AF_UNIX, stream, self.paths[0])

    def _listen(self, name: str, family: int, kind: int, address: object) -> socket.socket:
        server = socket.socket(family, kind)
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen(8)
        self._open.append(server)
        threading.Thread(target=self._serve, args=(name, server, kind), daemon=True).start()
        return server

    def _serve(self, name: str, server: socket.socket, kind: int) -> None:
        with contextlib.suppress(OSError):
            while True:
                if kind == socket.SOCK_STREAM:
                    server.accept()[0].close()
                else:
                    server.recvfrom(100)
                self.hits.append(name)

    def close(self) -> None:
        for server in self._open:
            server.close()


class Arena:
    """Everything that is put up outside, and the judgement."""

    def __init__(self, folder: Path) -> None:
        self.run = f"{os.getpid()}-{os.urandom(3).hex()}"
        self.folder = folder
        self.root = folder / "projects" / "root"
        self.home = folder / "home"
        self.prefix = folder / "prefix"
        self.secret = {name: f"CANARY-{name}-{self.run}" for name in SECRETS}
        for place in (self.home / ".ssh", self.prefix, self.root.parent):
            place.mkdir(parents=True)
        os.environ["HOME"] = str(self.home)
        os.environ["HOSTILE_SECRET_ACCESS_KEY"] = self.secret["env"]
        self.key = self.home / ".ssh" / "id_x"
        self.key.write_text(self.secret["ssh"])
        self.key.chmod(0o600)
        self.token = folder / "token"
        self.token.write_text(self.secret["token"])
        self.inherited = os.open(self._plant("descriptor", self.secret["fd"]), os.O_RDONLY)
        os.set_inheritable(self.inherited, True)
        content = self.secret["key"].encode()
        LIBC.syscall(248, b"user", b"hostile_canary", content, ctypes.c_size_t(len(content)), -3)
        self.shm_key = 0x5B000000 | os.getpid() & 0xFFFF
        self.segment = self._share(self.secret["shm"].encode())
        self.servers = Servers(folder, "hostile-" + self.run)
        self.victim = self._victim()
        self.devices = self._device_modes()

    def _plant(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def _share(self, content: bytes) -> int:
        segment = LIBC.shmget(self.shm_key, 4096, 0o1666)
        LIBC.shmat.restype = ctypes.c_void_p
        ctypes.memmove(LIBC.shmat(segment, None, 0), content, len(content))
        return segment

    def _victim(self) -> subprocess.Popen[bytes]:
        words = ("HOSTILE-VICTIM-" + self.run, self.secret["cmdline"])
        return subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(3000)", *words])

    def _device_modes(self) -> dict[str, int]:
        return {name: os.stat("/dev/" + name).st_mode for name in ("null", "zero", "full", "random", "urandom")}

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        self.servers.close()
        os.close(self.inherited)
        LIBC.shmctl(self.segment, 0, None)

    def configuration(self) -> dict[str, object]:
        return {
            "run_id": self.run,
            "home": str(self.home),
            "ssh_key": str(self.key),
            "ssh_inode": self.key.stat().st_ino,
            "secret_files": [str(self.key), str(self.token), str(self.folder / "descriptor")],
            "venv_dir": str(self.prefix),
            "out_dir": "",
            "tcp_port": self.servers.tcp,
            "tcp6_port": self.servers.tcp6,
            "udp_port": self.servers.udp,
            "abstract": "hostile-" + self.run,
            "unix_paths": self.servers.paths,
            "iface_ip": own_address(),
            "fork_n": 400,
            "mem_mb": 6144,
            "flood_mb": 500,
            "victim_pid": self.victim.pid,
            "victim_marker": "HOSTILE-VICTIM-" + self.run,
            "supervisor_pid": self.victim.pid,
            "shm_key": self.shm_key,
            "netns_ok": False,
        }

    def fresh_root(self, suite: Suite) -> None:
        """The attacking repository, as new."""
        shutil.rmtree(self.root, ignore_errors=True)
        top = Path(suite.script).parts[0]
        source = suite.folder / top if (suite.folder / top).is_dir() else suite.folder
        shutil.copytree(source, self.root / top, ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in (("src/mod.py", "x = 1\n"), ("src/victim.txt", "x"), (".env", self.secret["dotenv"])):
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        (self.root / "secrets").mkdir()
        (self.root / "secrets" / "key.pem").write_text(self.secret["dotenv"])
        self._hostile_git()
        config = self.root / suite.config
        config.parent.chmod(0o755)
        config.write_text(json.dumps(self.configuration()))
        for path in [self.root, *self.root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() or path.suffix == ".sh" else 0o644)

    def _hostile_git(self) -> None:
        """A repository whose own configuration starts a program whenever git looks at it."""
        program = self.root / "hook.sh"
        program.write_text(f"#!/bin/sh\ntouch /tmp/git-config-ran\ntouch {self.home}/.hostile_canary\nexit 0\n")
        git = self.root / ".git"
        for name in ("objects", "refs/heads"):
            (git / name).mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {program}\n")

    def judge(self, sandbox: Sandbox, suite: Suite, name: str, writable: bool) -> Verdict:
        """Run one attempt and look at everything it may have reached."""
        if self.victim.poll() is not None:
            self.victim = self._victim()
        self.fresh_root(suite)
        before = digest(self.root)
        self.servers.hits.clear()
        command = self._command(suite, name, writable)
        began = time.monotonic()
        done = sandbox.run(command)
        took = time.monotonic() - began
        time.sleep(0.1)  # what was sent just before the end still has to arrive
        text = done.stdout.text() + done.stderr.text() + done.channel.text()
        evidence = [json.loads(line[9:]) for line in text.splitlines() if _whole(line)]
        bad = self._outside(before, text, f"{suite.script}\0{name}")
        bad += self._measures(name, done, took, command.limits, evidence)
        if not evidence and name not in MAY_BE_SILENT:
            bad.append("no evidence")
        return Verdict(
            name, bad, f"{done.exit_code} {done.signal} {done.limit}", evidence[-2:], text[-300:] if bad else ""
        )

    def _command(self, suite: Suite, name: str, writable: bool) -> Command:
        seconds = 1.0 if name in ENDLESS else 12.0
        limits = Limits(
            seconds=seconds if name != "cpu_burn" else 8.0,
            cpu_seconds=1.0 if name == "cpu_burn" else 30.0,
            memory_mb=512,
            processes=128,
            file_mb=64,
            scratch_mb=256,
        )
        return Command(
            (sys.executable, "-B", str(self.root / suite.script), name),
            self.root,
            self.root,
            readable=(Path(sys.prefix), Path(sys.base_prefix), self.prefix),
            hidden=(".env", "secrets"),
            writable=writable,
            channel=True,
            limits=limits,
        )

    def _outside(self, before: str, text: str, marker: str) -> list[str]:
        bad = []
        if digest(self.root) != before:
            bad.append("repository changed")
        leaked = sorted(name for name, value in self.secret.items() if value in text)
        if leaked:
            bad.append("leaked " + " ".join(leaked))
        if self.servers.hits:
            bad.append("reached " + " ".join(sorted(set(self.servers.hits))))
        if self.victim.poll() is not None:
            bad.append("outside process killed")
        canaries = [self.home / ".hostile_canary", *self.folder.rglob("planted-*"), *self.prefix.iterdir()]
        canaries += [Path(place, f"hostile_canary_{self.run}") for place in ("/tmp", "/var/tmp", "/dev/shm")]
        for path in canaries:
            if path.exists():
                bad.append(f"wrote {path}")
                path.unlink()
        for name, mode in self._device_modes().items():
            if mode != self.devices[name]:
                bad.append(f"changed /dev/{name}")
                os.chmod("/dev/" + name, self.devices[name])
        left = alive("HOSTILE-DAEMON-" + self.run) + alive(marker)
        if left:
            bad.append(f"{len(left)} processes left")
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        return bad

    def _measures(self, name: str, done: Completed, took: float, limits: Limits, evidence: list) -> list[str]:
        bad = []
        most = {
            key: max([found.get(key, 0) for found in evidence] or [0])
            for key in ("reached", "reached_mb", "progress_mb")
        }
        megabytes = max(most["reached_mb"], most["progress_mb"])
        if name in ("fork_bomb", "thread_bomb") and most["reached"] >= 2 * limits.processes:
            bad.append(f"{most['reached']} made")
        if name.startswith("memory") and megabytes > 3 * limits.memory_mb:
            bad.append(f"{megabytes} MB held")
        if name == "disk_fill" and megabytes > 2 * limits.scratch_mb:
            bad.append(f"{megabytes} MB written")
        if any(found.get("escaped") or found.get("leak_shadow") for found in evidence):
            bad.append("escaped")
        for capture in (done.stdout, done.stderr):
            if len(capture.head) + len(capture.tail) > limits.output_bytes:
                bad.append("more output kept than allowed")
        if name in ENDLESS and done.limit not in (ENDLESS[name], "time"):
            bad.append(f"ended by {done.limit}")
        if took > limits.seconds + 20:  # a hang; machines are busy
            bad.append(f"took {took:.1f} s")
        return bad


def _whole(line: str) -> bool:
    if not line.startswith("EVIDENCE "):
        return False
    try:
        return isinstance(json.loads(line[9:]), dict)
    except ValueError:
        return False


def digest(root: Path) -> str:
    """Contents, modes, link targets and mtimes of a whole tree."""
    total = hashlib.sha256()
    for path in [root, *sorted(root.rglob("*"))]:
        found = path.lstat()
        total.update(f"{path.relative_to(root)} {found.st_mode} {found.st_mtime_ns} {found.st_uid}\0".encode())
        if path.is_symlink():
            total.update(os.readlink(path).encode())
        elif path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()


def alive(marker: str) -> list[int]:
    """Processes with a text in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def own_address() -> str:
    """An address of this machine that is not loopback, found without sending anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


@contextlib.contextmanager
def arena() -> Iterator[Arena]:
    saved = {name: os.environ.get(name) for name in ("HOME", "HOSTILE_SECRET_ACCESS_KEY")}
    with tempfile.TemporaryDirectory(prefix="rootproof-hostile-") as folder:
        os.chmod(folder, 0o755)
        place = Arena(Path(folder).resolve())
        try:
            yield place
        finally:
            place.close()
            for name, value in saved.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def main(mechanism: str, view: str, suite_name: str, *names: str) -> None:
    suite = OWN if suite_name == "own" else shared_suite()
    if suite is None:
        raise SystemExit("no shared suite beside the project")
    with arena() as place:
        for name in names or suite.names():
            verdict = place.judge(MECHANISMS[mechanism](), suite, name, view == "writable")
            print(json.dumps(verdict.__dict__), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
