"""Puts a change into a fresh process: the import system is given changed text for the files concerned."""

from __future__ import annotations

import importlib.machinery
import os
from types import CodeType
from typing import Any

from .swap import read_lines, splice


def replace_sources(root: str, edits: list[list[Any]]) -> None:
    """From now on importing a file that an edit names compiles its changed text. No cache is read or written."""
    sources: dict[str, str] = {}
    for file in {edit[0] for edit in edits}:
        path = os.path.realpath(os.path.join(root, file))
        text = splice(read_lines(path), [edit for edit in edits if edit[0] == file])
        sources[path] = text[:-1] if text.endswith("\n") else text
    loader = importlib.machinery.SourceFileLoader
    unchanged = loader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        text = sources.get(os.path.realpath(path))
        if text is None:
            return unchanged(self, fullname)
        return compile(text.encode("utf-8", "surrogateescape"), path, "exec", dont_inherit=True)

    loader.get_code = get_code  # type: ignore[method-assign,assignment]
