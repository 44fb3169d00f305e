"""What ordinary suites do, without anything that must be installed: writes into the tree, servers, processes, git."""

import getpass
import http.server
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import unittest
import urllib.request

HERE = pathlib.Path(__file__).parent


def double(x):
    return 2 * x


class Ordinary(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, str(self.place))

    def test_writes_into_its_own_tree(self):
        (HERE / "output").mkdir()
        (HERE / "output" / "result.txt").write_text("done")
        (HERE / "fixture.txt").write_text("changed")
        (HERE / "fixture.txt").chmod(0o600)
        (HERE / "fixture.txt").rename(HERE / "output" / "moved.txt")
        self.assertEqual((HERE / "output" / "moved.txt").read_text(), "changed")

    def test_replaces_a_folder(self):
        shutil.rmtree(str(HERE / "data"))
        (HERE / "data").mkdir()
        self.assertEqual(list((HERE / "data").iterdir()), [])

    def test_server_on_localhost(self):
        self._serve("localhost")

    def test_server_on_loopback(self):
        self._serve("127.0.0.1")

    def _serve(self, name):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *words):
                pass

        with http.server.HTTPServer((name, 0), Answer) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://{name}:{server.server_port}/") as answer:
                self.assertEqual(answer.read(), b"hello")
            server.shutdown()

    def test_server_on_loopback_6(self):
        with socket.socket(socket.AF_INET6) as server:
            server.bind(("::1", 0))
            server.listen()
            with socket.create_connection(server.getsockname()[:2]):
                pass

    def test_socket_in_a_folder(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.place / "s"))
            server.listen()

    def test_multiprocessing_by_fork(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(double, range(4)), [0, 2, 4, 6])

    def test_multiprocessing_by_spawn(self):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            self.assertEqual(pool.map(double, range(4)), [0, 2, 4, 6])

    def test_shared_memory(self):
        from multiprocessing import shared_memory

        block = shared_memory.SharedMemory(create=True, size=1000)
        block.close()
        block.unlink()

    def test_who_am_i(self):
        self.assertTrue(getpass.getuser())
        pathlib.Path.home().joinpath("config").write_text("x")

    def test_temporary_files(self):
        os.mkfifo(self.place / "pipe")
        (self.place / "link").symlink_to("x")
        os.link(self.place / "pipe", self.place / "hard")
        with tempfile.NamedTemporaryFile() as f:
            f.write(b"x")

    def test_database(self):
        base = sqlite3.connect(str(HERE / "base.db"))
        base.execute("create table t(x)")
        base.close()

    def test_shell_and_terminal(self):
        done = subprocess.run("echo $((1+1)) | cat", shell=True, stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, b"2\n")
        import pty

        first, second = pty.openpty()
        os.write(second, b"x")
        self.assertEqual(os.read(first, 1), b"x")

    def test_threads_and_signals(self):
        seen = []
        signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
        os.kill(os.getpid(), signal.SIGUSR1)
        self.assertTrue(seen)

    @unittest.skipUnless(pathlib.Path("/usr/bin/git").exists(), "no git")
    def test_git(self):
        def git(*words):
            whole = ["git", "-C", str(HERE), "-c", "user.name=n", "-c", "user.email=e@x", *words]
            return subprocess.run(whole, check=True, stdout=subprocess.PIPE).stdout

        self.assertEqual(git("log", "--format=%s"), b"first\n")
        (HERE / "more").write_text("x")
        git("add", "more")
        git("commit", "-qm", "second")
        self.assertEqual(git("log", "--format=%s"), b"second\nfirst\n")


if __name__ == "__main__":
    unittest.main()
