"""``rootproof`` and ``python -m rootproof``."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command line.

    The current folder leaves the import path first: a repository must not be able to put modules of its own
    (a ``typer.py``, say) in front of ours.
    """
    from pathlib import Path

    here = {"", str(Path.cwd())}
    sys.path[:] = [entry for entry in sys.path if entry not in here]
    from rootproof.apps.cli.app import start

    start()


if __name__ == "__main__":
    main()
