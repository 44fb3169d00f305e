"""What level ``contained`` adds: a read-only tree, hidden files, facts for the runner, refusals."""

from __future__ import annotations

import os

import pytest
from sandbox_ground import PYTHON, READABLE

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.identity import identity
from rootproof.sandbox.interface import HIDDEN_VARIABLE, VISIBLE_VARIABLE, WRITABLE_VARIABLE, Command, Limits

pytestmark = pytest.mark.usefixtures("unchanged")
TRY = """
import os
def tried(action):
    try:
        action()
        return "done"
    except OSError as fault:
        return fault.strerror
"""


def test_tree_is_read_only(contained, run):
    text = TRY + "print(tried(lambda: open('new','w')), tried(lambda: os.utime('tool.sh',(1,1))))"
    assert run(contained, text).stdout.text() == "Read-only file system Read-only file system\n"


def test_temporary_places_are_writable_and_sized(contained, run):
    text = "import tempfile,os\nwith tempfile.TemporaryFile(buffering=0) as f:\n  for _ in range(64): f.write(bytes(1<<20))"
    done = run(contained, text, limits=Limits(seconds=30, scratch_mb=16))
    assert done.limit == "disk" or "No space left" in done.stderr.text()


def test_hidden_files_have_no_content(contained, run):
    text = "import os;print(os.path.getsize('secret.env'),os.listdir('keys'))"
    assert run(contained, text, hidden=("secret.env", "keys")).stdout.text() == "0 []\n"


def test_facts_name_what_containment_shows(contained, run, tree):
    names = (VISIBLE_VARIABLE, WRITABLE_VARIABLE, HIDDEN_VARIABLE)
    text = f"import os,json;print(json.dumps([os.environ[n].split(chr(10)) for n in {names!r}]))"
    import json

    visible, writable, hidden = json.loads(run(contained, text, hidden=("secret.env",)).stdout.text())
    assert {"/usr", "/proc", str(tree)} <= set(visible)
    assert writable == ["/tmp", "/var/tmp", "/dev/shm"]
    assert hidden == [str(tree / "secret.env")]


def test_ordinary_lookups_work(contained, run):
    text = (
        "import getpass,socket,os,pwd;print(getpass.getuser(),socket.gethostbyname('localhost'),"
        "pwd.getpwuid(os.getuid()).pw_name,os.access(os.path.expanduser('~'),os.W_OK),socket.gethostname())"
    )
    assert run(contained, text).stdout.text() == "user 127.0.0.1 user True sandbox\n"


def test_lookup_beyond_loopback_fails_at_once(contained, run):
    text = "import socket\ntry: socket.getaddrinfo('example.org',80)\nexcept OSError as e: print(type(e).__name__)"
    assert run(contained, text, limits=Limits(seconds=20)).stdout.text() == "gaierror\n"


def test_interpreter_below_the_home_folder_is_bound_by_its_prefix(contained, tree, monkeypatch):
    home = tree.parent / "home"
    (home / "tools" / "bin").mkdir(parents=True)
    (home / "notes").write_text("private")
    (home / "tools" / "bin" / "program").write_text("#!/bin/sh\nls ..; ls ../tools\n")
    (home / "tools" / "bin" / "program").chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    program = home / "tools" / "bin" / "program"
    done = contained.run(Command((str(program),), tree, home / "tools", readable=(home / "tools",)))
    assert done.stdout.text() == "tools\nbin\n"


def test_a_program_that_is_a_link_to_a_link_is_found_and_nothing_else_of_its_folder(contained, tree):
    other = tree.parent / "other"
    other.mkdir()
    (other / "beside").write_text("private")
    (other / "first").symlink_to(other / "second")
    (other / "second").symlink_to(os.path.realpath("/usr/bin/env"))
    done = contained.run(Command((str(other / "first"), "ls", str(other)), tree, tree))
    assert done.stdout.text() == "first\nsecond\n", done.stderr.text()


def test_a_program_that_is_a_link_to_something_private_shows_nothing(contained, tree):
    other = tree.parent / "other"
    other.mkdir()
    (other / "key").write_text("#!/bin/sh\necho private\n")
    (other / "key").chmod(0o755)
    (other / "hop").symlink_to(other / "key")
    done = contained.run(Command((str(other / "hop"),), tree, tree))
    assert done.exit_code == 127 and "private" not in done.stdout.text()


@pytest.mark.parametrize("place", ["home", "above"])
def test_repository_at_or_above_home_is_refused(contained, tree, monkeypatch, place):
    monkeypatch.setenv("HOME", str(tree if place == "home" else tree / "src"))
    with pytest.raises(ContainmentUnavailable, match="at or above the home folder") as refused:
        contained.run(Command((PYTHON,), tree, tree, readable=READABLE))
    assert "move the project" in refused.value.remedy


def test_command_is_never_started_with_the_machines_root_id(contained, run):
    assert run(contained, "import os;print(os.getuid() != 0)").stdout.text() == "True\n"


def test_root_steps_down_to_the_owner_of_the_repository(tree):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    before = tree.stat()
    os.chown(tree, 1234, 1235)
    try:
        found = identity(Command(("x",), tree, tree))
        assert (found.uid, found.gid, found.mapped) == (1234, 1235, False)
    finally:
        os.chown(tree, before.st_uid, before.st_gid)


def test_owner_writes_its_files_through_the_layer(namespaces, run, tree):
    text = "import os;print(os.stat('tool.sh').st_uid == os.getuid());open('tool.sh','a').write('x');os.chmod('tool.sh',0o600)"
    done = run(namespaces, text, writable=True)
    assert (done.stdout.text(), done.exit_code) == ("True\n", 0)


def test_files_of_somebody_else_are_copied_not_layered(namespaces, run, tree):
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of somebody else")
    os.chown(tree, 1234, 1234)
    os.chown(tree / "src", 1234, 1234)
    text = "import os;open('src/new','w');print(os.getuid(),open('tool.sh').read(),end='')"
    try:
        assert run(namespaces, text, writable=True).stdout.text() == "1234 exit 0\n"
    finally:
        os.chown(tree, 0, 0)
        os.chown(tree / "src", 0, 0)


def test_link_to_the_repository_is_followed(contained, run, tree):
    link = tree.parent / "by-another-name"
    link.symlink_to(tree)
    done = contained.run(Command(("/bin/ls", "src"), link, link))
    assert done.stdout.text() == "__pycache__\ncode.py\n"


@pytest.mark.parametrize("name", ["/etc/shadow", "/etc/ssl/private", "/sys", "/run", "/var/lib", "/boot", "/srv"])
def test_places_that_are_not_named_are_not_there(contained, run, name):
    assert run(contained, f"import os;print(os.path.lexists({name!r}))").stdout.text() == "False\n"
