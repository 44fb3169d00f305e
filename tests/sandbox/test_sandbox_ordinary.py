"""An ordinary test suite is not broken by containment: it passes contained as it passes bare."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_ground import digest

from rootproof.sandbox.interface import Command, Limits

SUITE = """
import getpass, http.server, multiprocessing, os, pathlib, socket, sqlite3, subprocess, tempfile, threading, urllib.request
import pytest

HERE = pathlib.Path(__file__).parent

def double(x):
    return 2 * x

def test_writes_into_its_own_tree():
    (HERE / "output").mkdir()
    (HERE / "output" / "result.txt").write_text("done")
    (HERE / "fixture.txt").write_text("changed")
    os.chmod(HERE / "fixture.txt", 0o600)
    os.rename(HERE / "fixture.txt", HERE / "output" / "moved.txt")
    assert (HERE / "output" / "moved.txt").read_text() == "changed"

def test_replaces_a_folder():
    import shutil
    shutil.rmtree(HERE / "data")
    (HERE / "data").mkdir()
    assert list((HERE / "data").iterdir()) == []

@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_server_on_loopback(name):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
        def log_message(self, *words):
            pass
    with http.server.HTTPServer((name, 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        assert opener.open(f"http://{name}:{server.server_port}/").read() == b"hello"
        server.shutdown()

def test_server_on_loopback_6():
    with socket.socket(socket.AF_INET6) as server:
        server.bind(("::1", 0)); server.listen()
        with socket.create_connection(server.getsockname()[:2]): pass

def test_socket_in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path has room for about a hundred characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s"); server.listen()

@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_multiprocessing(way):
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map(double, range(4)) == [0, 2, 4, 6]

def test_shared_memory():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=1000)
    block.close(); block.unlink()

def test_who_am_i():
    assert getpass.getuser() and os.path.isdir(os.path.expanduser("~"))
    pathlib.Path.home().joinpath("config").write_text("x")

def test_temporary_files(tmp_path):
    os.mkfifo(tmp_path / "pipe"); os.symlink("x", tmp_path / "link"); os.link(tmp_path / "pipe", tmp_path / "hard")
    with tempfile.NamedTemporaryFile() as f: f.write(b"x")

def test_database(tmp_path):
    with sqlite3.connect(HERE / "base.db") as base: base.execute("create table t(x)")

def test_shell_and_terminal():
    assert subprocess.run("echo $((1+1)) | cat", shell=True, capture_output=True, text=True).stdout == "2\\n"
    import pty
    first, second = pty.openpty()
    os.write(second, b"x"); assert os.read(first, 1) == b"x"

def test_threads_and_signals():
    import signal
    seen = []
    signal.signal(signal.SIGUSR1, lambda *a: seen.append(1)); os.kill(os.getpid(), signal.SIGUSR1)
    assert seen

@pytest.mark.skipif(not pathlib.Path("/usr/bin/git").exists(), reason="no git")
def test_git():
    def git(*words):
        return subprocess.run(["git", "-C", str(HERE), *words], check=True, capture_output=True, text=True).stdout
    assert git("log", "--format=%s") == "first\\n"
    (HERE / "more").write_text("x"); git("add", "more")
    git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "second")
    assert git("log", "--format=%s") == "second\\nfirst\\n"
"""


@pytest.fixture
def suite(tree: Path) -> Path:
    """A repository with the suite and its history."""
    (tree / "test_ordinary.py").write_text(SUITE)
    (tree / "fixture.txt").write_text("as committed")
    (tree / "data" / "deep").mkdir(parents=True)
    (tree / "data" / "deep" / "file").write_text("x")
    if shutil.which("git"):
        git = ["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e@x"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
    return tree


def test_ordinary_suite_passes_under_every_mechanism(changing, suite):
    before = digest(suite)
    argv = (sys.executable, "-m", "pytest", "-q", "-rA", "--no-header", "-p", "no:cacheprovider", "test_ordinary.py")
    readable = (Path(sys.prefix), Path(sys.base_prefix))
    command = Command(argv, suite, suite, readable=readable, writable=True, limits=Limits(seconds=120, cpu_seconds=120))
    done = changing.run(command)
    assert (done.exit_code, done.limit) == (0, None), done.stdout.text() + done.stderr.text()
    assert " passed" in done.stdout.text() and "failed" not in done.stdout.text()
    assert digest(suite) == before


def test_two_runs_see_the_same_tree(changing, suite):
    """What one run wrote is not there for the next."""
    text = "import os;print(sorted(os.listdir()));open('left','w')"
    readable = (Path(sys.prefix), Path(sys.base_prefix))
    command = Command((sys.executable, "-c", text), suite, suite, readable=readable, writable=True)
    first, second = changing.run(command), changing.run(command)
    assert first.exit_code == 0
    assert first.stdout.sha256 == second.stdout.sha256
