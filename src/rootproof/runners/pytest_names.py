"""What pytest's settings call a test file. Looks at files only: nothing of a repository is started."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rootproof.runners.python_project import read_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT = ("test_*.py", "*_test.py")
_SECTIONS = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool.pytest.ini_options", "tool.pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
"""In pytest's own order: the first file with such a section is the only one that counts."""


def names(root: Path) -> tuple[str, ...]:
    """The globs of ``python_files`` in the root's settings, or pytest's own. Settings that cannot be read give none."""
    for name, sections in _SECTIONS.items():
        settings = _settings(read_config(root / name), name, sections)
        if settings is not None:
            asked = settings.get("python_files")
            words = asked.split() if isinstance(asked, str) else asked if isinstance(asked, list) else ()
            return tuple(str(word) for word in words if str(word).strip()) or DEFAULT
    return DEFAULT


def _settings(text: str, name: str, sections: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The first of the sections that is there; None where none is."""
    in_toml = name.endswith(".toml")
    tables = _toml(text) if in_toml else _ini(text)
    for section in sections:
        found: Any = tables
        for part in section.split(".") if in_toml else (section,):
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return None


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
