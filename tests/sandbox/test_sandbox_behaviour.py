"""What every mechanism promises, whatever its level."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from sandbox_ground import alive

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.interface import CHANNEL_VARIABLE, Command, Limits

pytestmark = pytest.mark.usefixtures("unchanged")


def test_exit_code_output_and_working_folder(sandbox, run, tree):
    done = run(sandbox, "import os,sys;print(os.getcwd());print('bad',file=sys.stderr);sys.exit(3)")
    assert (done.exit_code, done.signal, done.limit) == (3, None, None)
    assert done.stdout.text() == f"{tree}\n"
    assert done.stderr.text() == "bad\n"
    assert (done.level, done.mechanism) == (sandbox.level, sandbox.name)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_death_by_signal(sandbox, run, number):
    done = run(sandbox, f"import os;os.kill(os.getpid(),{int(number)})")
    assert (done.exit_code, done.signal, done.limit) == (None, number, None)


def test_exit_past_every_handler(sandbox, run):
    assert run(sandbox, "import os;os._exit(0)").exit_code == 0


def test_program_that_is_not_there(sandbox, tree):
    done = sandbox.run(Command(("no-such-program",), tree, tree))
    assert done.exit_code not in (0, None)
    assert "no-such-program" in done.stderr.text()


def test_only_the_allow_list_and_the_given_variables_are_there(sandbox, run, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "secret")
    done = run(sandbox, "import os;print(os.environ.get('SERVICE_TOKEN'),os.environ['GIVEN'])", env={"GIVEN": "yes"})
    assert done.stdout.text() == "None yes\n"


def test_input_is_empty_and_no_descriptor_is_inherited(sandbox, run):
    read, write = os.pipe()
    os.set_inheritable(read, True)
    text = "import os,sys;print(repr(sys.stdin.read()),sorted(map(int,os.listdir('/proc/self/fd')))[:-1])"
    done = run(sandbox, text)
    assert done.stdout.text() == "'' [0, 1, 2]\n"
    os.close(read)
    os.close(write)


def test_channel_is_apart_from_the_output(sandbox, run):
    text = f"import os;os.write(int(os.environ['{CHANNEL_VARIABLE}']),b'record');print('noise')"
    done = run(sandbox, text, channel=True)
    assert (done.channel.text(), done.stdout.text()) == ("record", "noise\n")


def test_channel_is_not_there_unless_asked_for(sandbox, run):
    assert run(sandbox, f"import os;print('{CHANNEL_VARIABLE}' in os.environ)").stdout.text() == "False\n"


def test_flood_is_counted_and_kept_at_both_ends(sandbox, run):
    text = "import os\nos.write(1,b'first')\nfor _ in range(640): os.write(1,b'x'*65536)\nos.write(1,b'last')"
    done = run(sandbox, text, limits=Limits(seconds=60, output_bytes=1000))
    assert done.exit_code == 0
    assert done.stdout.total == 640 * 65536 + 9
    assert (done.stdout.head[:5], done.stdout.tail[-4:]) == (b"first", b"last")
    assert len(done.stdout.head) + len(done.stdout.tail) == 1000


def test_flood_past_the_last_bound_ends_the_command(sandbox, run):
    limits = Limits(seconds=60, flood_bytes=1 << 20)
    assert run(sandbox, "import os\nwhile True: os.write(1,b'x'*65536)", limits=limits).limit == "output"


HANGS = {
    "sleep": "import time;time.sleep(600)",
    "thread": "import threading;threading.Thread(target=threading.Event().wait).start()",
    "deaf": "import signal\nfor n in range(1,65):\n  try: signal.signal(n,signal.SIG_IGN)\n  except OSError: pass\nsignal.pause()",
}


@pytest.mark.parametrize("way", sorted(HANGS))
def test_what_hangs_is_ended(sandbox, run, way):
    done = run(sandbox, HANGS[way], "hangs-" + way, limits=Limits(seconds=0.7))
    assert done.limit == "time"
    assert alive("hangs-" + way) == []


def test_cpu_of_the_whole_tree_is_limited(sandbox, run):
    text = "import os\nos.fork()\nwhile True: pass"
    done = run(sandbox, text, limits=Limits(seconds=30, cpu_seconds=1))
    assert done.limit == "cpu"
    assert done.cpu_seconds >= 1


def test_memory_of_the_whole_tree_is_limited(sandbox, run):
    text = "import os,signal\nos.fork();os.fork()\nheld=bytearray(b'x')*(60<<20)\nsignal.pause()"
    assert run(sandbox, text, limits=Limits(seconds=30, memory_mb=128)).limit == "memory"


def test_processes_are_limited(sandbox, run):
    text = "import os,signal\nfor _ in range(20):\n  if not os.fork(): break\nsignal.pause()"
    assert run(sandbox, text, limits=Limits(seconds=30, processes=16)).limit == "processes"


def test_size_of_a_file_is_limited(sandbox, run):
    text = "import tempfile\nwith tempfile.TemporaryFile(buffering=0) as f:\n  f.write(bytes(1<<20));f.write(b'x')"
    done = run(sandbox, text, limits=Limits(seconds=30, file_mb=1))
    assert "File too large" in done.stderr.text()


DAEMON = """
import os, sys, signal
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(tell, b"x")
        signal.pause()
    os._exit(0)
os.read(ready, 1)
"""


def test_daemon_dies_with_the_run_and_is_not_waited_for(sandbox, run):
    done = run(sandbox, DAEMON, "left-behind-daemon")
    assert (done.exit_code, alive("left-behind-daemon")) == (0, [])


def test_command_that_kills_its_parent(sandbox, run):
    run(sandbox, "import os,signal;os.kill(os.getppid(),9);signal.pause()", "parent-killer", limits=Limits(seconds=2))
    assert alive("parent-killer") == []


def test_interrupt_kills_the_tree_and_goes_on_up(sandbox, run, tmp_path):
    marker = "interrupted-" + sandbox.name
    main = threading.main_thread().ident

    def interrupt():
        while not alive(marker):
            pass
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run(sandbox, DAEMON + "signal.pause()", marker)
    assert alive(marker) == []


def test_changes_are_seen_inside_only(changing, run, tree):
    text = "import sys;print(open('src/code.py').read(),open('new/file').read(),end='');open('src/code.py','w')"
    done = run(changing, text, changes={"src/code.py": b"value = 2\n", "new/file": b"added"})
    assert done.stdout.text() == "value = 2\n added"
    assert done.root_inside is None or done.root_inside != tree


def test_changed_file_never_looks_as_old_as_the_original(changing, run, tree):
    done = run(
        changing, "import os;print(int(os.stat('src/code.py').st_mtime))", changes={"src/code.py": b"value = 3\n"}
    )
    assert int(done.stdout.text()) != int((tree / "src" / "code.py").stat().st_mtime)


def test_writable_view_is_cold_and_keeps_mode_and_time(changing, run):
    text = "import os;s=os.stat('tool.sh');print(oct(s.st_mode),int(s.st_mtime),os.listdir('src'))"
    assert run(changing, text, writable=True).stdout.text() == "0o100755 1000 ['code.py']\n"


def test_hidden_paths_are_absent_from_a_writable_view(changing, run):
    text = "import os;print(sorted(os.listdir()))"
    done = run(changing, text, writable=True, hidden=("secret.env", "keys"))
    assert done.stdout.text() == "['link', 'src', 'tool.sh']\n"


@pytest.mark.parametrize("name", ["../beside", "/etc/beside", "link/rootproof-beside"])
def test_changes_that_leave_the_tree_are_refused(changing, run, name):
    with pytest.raises(ContainmentUnavailable):
        run(changing, "print(1)", changes={name: b"x"})
    assert not Path("/tmp/rootproof-beside").exists()
