"""How one of the programs in ``inside/`` is started: quickly, and cut off from the user's Python settings."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_FOLDER = str(Path(__file__).parent / "inside")
_BOOT = "import sys;sys.path.insert(0,sys.argv[1]);import {0};{0}.main(int(sys.argv[2]))"


class Program:
    """A started program that waits for its description.

    Starting first and describing later lets the caller find out things while Python starts.
    """

    def __init__(self, name: str, out: Sequence[int], pass_fds: Sequence[int]) -> None:
        """Start ``name`` (a module of that folder) with stdout and stderr to ``out``.

        Importing it by name lets Python keep the compiled form.

        Raises:
            OSError: this interpreter cannot be started again.
        """
        read, self._write = os.pipe()
        argv = [sys.executable, "-I", "-S", "-c", _BOOT.format(name), _FOLDER, str(read)]
        try:
            self.popen: subprocess.Popen[bytes] = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out[0],
                stderr=out[1],
                env={},
                cwd="/",
                start_new_session=True,
                pass_fds=[read, *pass_fds],
            )
        except BaseException:
            os.close(self._write)
            raise
        finally:
            os.close(read)

    def describe(self, spec: Mapping[str, object]) -> None:
        """Hand over the description, in the form of :mod:`marshal`: both ends are the same interpreter."""
        try:
            with os.fdopen(self._write, "wb") as target:
                target.write(marshal.dumps(dict(spec)))
        except BrokenPipeError:
            return  # it is dead already; its end is found as any other

    def give_up(self) -> None:
        """Kill a program that was not described."""
        os.close(self._write)
        self.popen.kill()
        self.popen.wait()
