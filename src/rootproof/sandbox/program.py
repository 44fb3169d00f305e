"""How one of the programs in ``inside/`` is started: quickly, and cut off from the user's Python settings."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_FOLDER = str(Path(__file__).parent / "inside")
_BOOT = "import sys;sys.path.insert(0,sys.argv[1]);import {0};{0}.main(int(sys.argv[2]))"


def start(
    program: str, spec: Mapping[str, object], out: Sequence[int], pass_fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start ``program`` (a module name of that folder) with its description, stdout and stderr to ``out``.

    Importing it by name lets Python keep the compiled form. The description goes through an unlinked file in the form
    of :mod:`marshal`: both ends are the same interpreter and nobody else writes it.

    Raises:
        OSError: this interpreter cannot be started again.
    """
    with tempfile.TemporaryFile() as described:
        described.write(marshal.dumps(dict(spec)))
        described.flush()
        os.lseek(described.fileno(), 0, os.SEEK_SET)
        argv = [sys.executable, "-I", "-S", "-c", _BOOT.format(program), _FOLDER, str(described.fileno())]
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out[0],
            stderr=out[1],
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=[described.fileno(), *pass_fds],
        )
