"""The environment of a contained command: a short allow-list, never the user's own variables.

Tokens and keys live in environment variables; so nothing is inherited but the time zone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from rootproof.sandbox.interface import HIDDEN_VARIABLE, VISIBLE_VARIABLE, WRITABLE_VARIABLE

SEARCH_PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
USER = "user"
_INHERITED = ("TZ",)


def environment(home: Path, temporary: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The variables a command gets: ours, then ``extra``, which may replace them."""
    ours = {
        "PATH": SEARCH_PATH,
        "HOME": str(home),
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TMPDIR": str(temporary),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # inside, the repository may seem to be somebody else's, which git would refuse
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    ours.update({name: os.environ[name] for name in _INHERITED if name in os.environ})
    return {**ours, **extra}


def facts(visible: Sequence[Path], writable: Sequence[Path], hidden: Sequence[Path]) -> dict[str, str]:
    """The variables that tell a test runner's plugin what containment shows; see ``interface.py``."""
    lists = {VISIBLE_VARIABLE: visible, WRITABLE_VARIABLE: writable, HIDDEN_VARIABLE: hidden}
    return {name: "\n".join(str(path) for path in paths) for name, paths in lists.items()}
