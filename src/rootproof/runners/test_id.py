"""What a test id is: a root-relative file, a separator, and a name that is opaque.

The id is split at the first separator only; everything after it belongs to the runner. An id is one argument of the
runner, never a keyword expression and never part of a shell line.
"""

from __future__ import annotations

from pathlib import PurePosixPath

MAX_BYTES = 4096
"""Longer ids are refused: no file system holds such a path, and an argument list has an end."""


def split(test: str, separator: str) -> tuple[str, str]:
    """File and name; the name is empty where the id is a file alone."""
    file, _mark, name = test.partition(separator)
    return file, name


def fault(test: str, separator: str) -> str:
    """Why the id must not reach a runner; empty where it may.

    Runners read ``-x`` as an option and newer pytest reads ``@x`` as a file of arguments, so both are refused, as is
    anything that does not begin with a relative path inside the root.
    """
    try:
        size = len(test.encode("utf-8"))
    except UnicodeEncodeError:
        return "it holds a lone surrogate"
    file, _name = split(test, separator)
    if not file.strip():
        return "it does not begin with a file path"
    if file[0] in "-@":
        return f"it begins with {file[0]!r}, which runners read as an option or a file of arguments"
    if size > MAX_BYTES:
        return f"it is longer than {MAX_BYTES} bytes"
    if any(ord(c) < 32 or ord(c) == 127 for c in test):
        return "it holds a control character"
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts or "\\" in file:
        return "its path is not a plain relative path inside the root"
    return ""


def argument(path: str) -> str:
    """A relative path that no runner takes for an option or a file of arguments: seen from a package's folder, a
    path may begin otherwise than it does from the root."""
    return f"./{path}" if path[:1] in ("-", "@") else path


def covers(requested: str, test: str, separator: str) -> bool:
    """Whether a requested id (a file, a class, a test with all its parameters) stands for the collected one."""
    if requested == test:
        return True
    if separator not in requested:
        return test.startswith((requested + separator, requested.rstrip("/") + "/"))
    return test.startswith((requested + separator, requested + "["))
