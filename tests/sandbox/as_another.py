"""A program: run the ordinary suite of a folder under one mechanism, as the user who starts this.

``python as_another.py MECHANISM FOLDER`` prints one JSON object: exit code, limit, and what was said.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Limits
from rootproof.sandbox.namespaces import Namespaces

MECHANISMS = {"bubblewrap": Bubblewrap, "namespaces": Namespaces}


def main(mechanism: str, folder: str) -> None:
    root = Path(folder)
    argv = (sys.executable, "ordinary_suite.py", "-v")
    limits = Limits(seconds=120, cpu_seconds=120)
    done = MECHANISMS[mechanism]().run(Command(argv, root, root, writable=True, limits=limits))
    said = done.stdout.text() + done.stderr.text()
    print(json.dumps({"exit": done.exit_code, "limit": done.limit, "level": done.level, "said": said}))


if __name__ == "__main__":
    main(*sys.argv[1:])
