"""A program: carry out one command under bubblewrap, as the user who starts this, without any package installed.

It reads one JSON object from its input (argv, root, env, changes as text) and prints one: exit code, level, output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rootproof.sandbox.bubblewrap import Bubblewrap
from rootproof.sandbox.interface import Command, Limits


def main() -> None:
    asked = json.load(sys.stdin)
    root = Path(asked["root"])
    changes = {path: text.encode() for path, text in asked["changes"].items()}
    command = Command(
        tuple(asked["argv"]), root, root, env=asked["env"], writable=True, changes=changes, limits=Limits(seconds=60)
    )
    done = Bubblewrap().run(command)
    print(
        json.dumps({"exit": done.exit_code, "level": done.level, "out": done.stdout.text(), "err": done.stderr.text()})
    )


if __name__ == "__main__":
    main()
