"""What pytest's settings call a test file. Looks at files only: nothing of a repository is started."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rootproof.runners.python_project import read_config, settings_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT = ("test_*.py", "*_test.py")
_TABLES = (("tool", "pytest", "ini_options"), ("tool", "pytest"), ("tool:pytest",), ("pytest",))
"""Where a settings file may hold pytest's; that it is such a file is known."""


def names(root: Path) -> tuple[str, ...]:
    """The globs of ``python_files`` in the root's settings, or pytest's own. Settings that cannot be read give none."""
    file = settings_file(root)
    text = read_config(root / file) if file else ""
    asked = _settings(_toml(text) if file.endswith(".toml") else _ini(text)).get("python_files")
    words = asked.split() if isinstance(asked, str) else asked if isinstance(asked, list) else ()
    return tuple(str(word) for word in words if str(word).strip()) or DEFAULT


def _settings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of the tables that is there."""
    for table in _TABLES:
        found: Any = document
        for part in table:
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return {}


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _ini(text: str) -> Mapping[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {section: dict(parser[section]) for section in parser.sections()}
