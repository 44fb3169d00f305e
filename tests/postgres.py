"""A real Postgres, started by the tests themselves on a free loopback port as an unprivileged user, stopped by its pid."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "p%w:canary@7"
QUOTED = "p%25w%3Acanary%407"
MEMORY = Path("/dev/shm")


def missing() -> str:
    """What is not here of all that is needed; empty where nothing is."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "the extra 'fleet' is not installed"
    return "" if _program("postgres") and _program("initdb") else "no Postgres server (Debian package postgresql)"


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[4]))
    return str(found[-1]) if found else shutil.which(name) or ""


class Cluster:
    """One server with its data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.count = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = [_program("initdb"), "-D", str(self.data), "-U", "rootproof", "-A", "scram-sha-256", "-N"]
        made += ["--pwfile", str(secret), "-E", "UTF8", "--locale", "C"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, timeout=120, **self._as)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "60"}
        command = [_program("postgres"), "-D", str(self.data), "-p", str(self.port)]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self._as)
        log.close()
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: every connection is cut; SIGQUIT: as after a crash. Sent again where the server does not act upon it."""
        assert self.process is not None
        deadline = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            self.process.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
        self.process = None

    def restart(self) -> None:
        self.stop(signal.SIGQUIT)
        self.start()

    def url(self, database: str, password: str = QUOTED) -> str:
        return f"postgresql://rootproof:{password}@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        self.count += 1
        name = f"runs_{self.count}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A running server, gone afterwards. Skips where there is none to start."""
    if why := missing():
        pytest.skip(why)
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 1 << 30
    place = MEMORY if roomy else None
    with tempfile.TemporaryDirectory(dir=place, prefix="rootproof-pg-") as folder:
        made = Cluster(Path(folder))
        made.start()
        try:
            yield made
        finally:
            if made.process is not None:
                made.stop()
