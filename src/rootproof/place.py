"""Where a named path really lies: judged by ``policy``, found by ``scope``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Located:
    """A path inside the root, after resolving ``..`` and links."""

    path: str
    """Canonical and root-relative, in its stored form (``text.show_path``); ``.`` for the root."""
    absolute: Path
    kind: Literal["file", "folder", "other", "missing"] = "file"


@dataclass(frozen=True)
class Outside:
    """A path that no contract can allow."""

    code: Literal["out_of_scope", "bad_path"]
    reason: str


Place = Located | Outside
