"""The user's own configuration file: what neither a contract nor a repository may decide.

One TOML file in the user's configuration folder, or where ``ROOTPROOF_CONFIG`` says. A contract names an alias at most;
which program is started under it stands here::

    [test_programs.maven]
    argv = ["mvn", "-o", "-q", "test", "-Dtest={stem}#{name}"]
    reports = ["target/surefire-reports/*.xml"]
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from rootproof.canonical import Json
from rootproof.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLE = "ROOTPROOF_CONFIG"
MAX_BYTES = 256 * 1024
ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_KEYS = {"argv": True, "reports": True, "readable": False}
"""Of a test program: whether it must be there. Each is a list of texts."""


@dataclass(frozen=True)
class Program:
    """A program that runs tests and writes JUnit XML."""

    argv: tuple[str, ...]
    reports: tuple[str, ...]
    readable: tuple[Path, ...] = ()
    """Further places it needs."""


def place() -> Path:
    """Where the file is, if there is one."""
    from platformdirs import user_config_path

    return Path(os.environ.get(VARIABLE) or user_config_path("rootproof") / "config.toml").absolute()


def program(alias: str, root: Path) -> Program:
    """The program that the user gave this alias.

    Raises:
        UsageError: there is none, or the file is not of its form or lies in the repository.
    """
    file = place()
    remedy = f"define it in {file}: [test_programs.{alias}] with argv and reports"
    if not ALIAS.fullmatch(alias):
        raise UsageError(f"{alias[:80]!r} is no alias", "letters, digits and _.- only")
    if file.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"the configuration {file} lies in the repository", f"set {VARIABLE} to a file of your own")
    programs = _read(file).get("test_programs")
    if not isinstance(programs, dict) or alias not in programs:
        known = ", ".join(sorted(programs)) if isinstance(programs, dict) and programs else "none"
        raise UsageError(f"no test program has the alias {alias!r} (known: {known})", remedy)
    entry = programs[alias]
    fault = _fault(entry)
    if fault or not isinstance(entry, dict):
        raise UsageError(f"{file}: test_programs.{alias}: {fault}", remedy)
    return Program(_texts(entry["argv"]), _texts(entry["reports"]), _paths(entry.get("readable")))


def _read(file: Path) -> dict[str, Json]:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{file} is larger than {MAX_BYTES} bytes")
        return tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}", "mend or remove it") from None


def _fault(entry: Json) -> str:
    if not isinstance(entry, dict):
        return "it is no table"
    for name in entry:
        if name not in _KEYS:
            return f"it has an unknown key {name!r}; the keys are {', '.join(_KEYS)}"
    for name, needed in _KEYS.items():
        value = entry.get(name)
        if value is None and not needed:
            continue
        if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
            return f"{name} must be a list of texts that are not empty"
    return ""


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _paths(value: Json) -> tuple[Path, ...]:
    return tuple(Path(item).expanduser() for item in _texts(value))
