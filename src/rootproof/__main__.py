"""``rootproof`` and ``python -m rootproof``."""

# No import stands here or in the package's __init__ but of what the interpreter has loaded already: until the current
# folder is off the import path, a module of that name in a repository would be run instead (``__future__`` too).
import os
import sys


def main() -> None:
    """Start the command line.

    The current folder leaves the import path first: a repository must not be able to put modules of its own
    (a ``typer.py``, say) in front of ours.
    """
    here = os.path.realpath(os.curdir)
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != here]
    from rootproof.apps.cli.app import start

    start()


if __name__ == "__main__":
    main()
