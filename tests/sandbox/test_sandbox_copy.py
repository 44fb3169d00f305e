"""Throw-away copies on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_ground import digest

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox.copy import copies_folder, sweep, throw_away

pytestmark = pytest.mark.usefixtures("unchanged")


@pytest.fixture(autouse=True)
def _own_place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_nothing_done_to_the_copy_is_seen_by_the_original(tree):
    with throw_away(tree, {}) as copy:
        for path in [path for path in copy.rglob("*") if path.is_file() and not path.is_symlink()]:
            with path.open("r+") as opened:
                opened.write("changed in place")
            path.chmod(0o600)
        assert digest(copy) != digest(tree)


def test_copy_leaves_out_caches_environments_and_hidden_files(tree):
    with throw_away(tree, {}, ("secret.env", "keys")) as copy:
        assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*")) == [
            "link",
            "src",
            "src/code.py",
            "tool.sh",
        ]
        assert (copy / "link").readlink() == Path("/tmp")


def test_changed_file_keeps_its_mode_and_gets_a_new_time(tree):
    with throw_away(tree, {"tool.sh": b"exit 1\n"}) as copy:
        found = (copy / "tool.sh").stat()
        assert (found.st_mode & 0o777, int(found.st_mtime) != 1000) == (0o755, True)


def test_copy_is_removed_also_after_a_fault(tree):
    with pytest.raises(RuntimeError), throw_away(tree, {}) as copy:
        (copy / "src").chmod(0)
        raise RuntimeError
    assert list(copies_folder().iterdir()) == []


def test_copies_of_a_killed_process_are_swept(tree):
    text = (
        "import sys,signal,tempfile;from pathlib import Path;tempfile.tempdir=sys.argv[2];"
        "from rootproof.sandbox.copy import throw_away\n"
        "with throw_away(Path(sys.argv[1]),{}) as copy: print(copy,flush=True);signal.pause()"
    )
    import tempfile

    owner = subprocess.Popen(
        [sys.executable, "-c", text, str(tree), str(tempfile.tempdir)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    copy = Path(owner.stdout.readline().strip())
    assert sweep(copies_folder()) == 0 and copy.exists()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert sweep(copies_folder()) == 1 and not copy.exists()


def test_somebody_elses_folder_of_that_name_is_refused(tmp_path, tree):
    (tmp_path / f"rootproof-copies-{os.geteuid()}").symlink_to("/tmp")
    with pytest.raises(ContainmentUnavailable), throw_away(tree, {}):
        pass
