"""Which folders of a repository are caches: left out of every copy and throw-away view, so that each run is cold."""

from __future__ import annotations

import os

CACHE_NAMES = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".vitest",
        ".nyc_output",
        ".turbo",
        ".parcel-cache",
    }
)
_IN_NODE_MODULES = frozenset({".cache", ".vite", ".vitest", ".vite-temp"})


def is_cache(name: str, parent: str) -> bool:
    """Whether an entry is a cache. ``parent`` is its root-relative folder with a slash at its end, or empty."""
    return name in CACHE_NAMES or (name in _IN_NODE_MODULES and parent.endswith("node_modules/"))


def is_virtual_environment(folder: str) -> bool:
    """A Python virtual environment: tied to its own path, so it is never copied."""
    return os.path.lexists(os.path.join(folder, "pyvenv.cfg"))
