"""Where a Python test belongs and which interpreter runs it. Looks at files only: nothing of a repository is started.

A virtual environment inside a repository is as hostile as the rest of it. What it names outside itself (its base
interpreter) becomes readable only where the place is an interpreter's own folder, never a home folder or above one.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rootproof.errors import NotRunnable
from rootproof.runners.interface import Project

MAX_CONFIG = 1024 * 1024
_PACKAGE_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
_PYTEST_SECTIONS = {
    "pytest.ini": re.compile(r""),
    ".pytest.ini": re.compile(r""),
    "pytest.toml": re.compile(r""),
    ".pytest.toml": re.compile(r""),
    "pyproject.toml": re.compile(r"^\s*\[tool\.pytest(\.ini_options)?\]", re.MULTILINE),
    "tox.ini": re.compile(r"^\[pytest\]", re.MULTILINE),
    "setup.cfg": re.compile(r"^\[tool:pytest\]", re.MULTILINE),
}


def find(root: Path, test: str, interpreter: Path | None) -> Project:
    """Package root and interpreter for one test.

    Raises:
        NotRunnable: the interpreter that was named does not exist.
    """
    folders = list(_upwards(root, (root / test.partition("::")[0]).parent))
    package, config, why_here = _package(root, folders)
    python, why_python = _interpreter(root, folders, interpreter)
    return Project(
        root=root,
        package_root=package,
        interpreter=python,
        readable=readable(python, root),
        reason=f"{why_python}; {why_here}",
        config=config,
    )


def read_config(path: Path) -> str:
    """A settings file's text; empty where it is missing, not regular, too large or unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_CONFIG:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def settings_file(folder: Path) -> str:
    """The name of the file in this folder that holds pytest's settings; empty where none does."""
    for name, section in _PYTEST_SECTIONS.items():
        if (folder / name).is_file() and section.search(read_config(folder / name)):
            return name
    return ""


def is_own_package(project: Project, name: str) -> bool:
    """Whether a top-level import name is a package or module of the repository itself."""
    places = [base / inner for base in (project.root, project.package_root) for inner in ("", "src", "lib")]
    return any((place / name / "__init__.py").is_file() or (place / f"{name}.py").is_file() for place in places)


def _upwards(root: Path, start: Path) -> Iterator[Path]:
    """The test's folder and those above it, up to the root."""
    folder = start
    while folder != root and root in folder.parents:
        yield folder
        folder = folder.parent
    yield root


def _package(root: Path, folders: list[Path]) -> tuple[Path, str, str]:
    for folder in folders:
        name = settings_file(folder)
        if name:
            config = (folder / name).relative_to(root).as_posix()
            return folder, config, f"tests run in {_shown(root, folder)} (pytest settings in {config})"
    for folder in folders:
        for name in _PACKAGE_MARKS:
            if (folder / name).is_file():
                return folder, "", f"tests run in {_shown(root, folder)} (it holds {name})"
    return root, "", "tests run in the repository root"


def _shown(root: Path, folder: Path) -> str:
    return "the repository root" if folder == root else folder.relative_to(root).as_posix()


def _interpreter(root: Path, folders: list[Path], named: Path | None) -> tuple[Path, str]:
    if named is not None:
        found = _python_in(named) if named.is_dir() else named
        if found is None or not found.exists():
            raise NotRunnable(f"there is no interpreter at {named}", "name one that exists with --python")
        return found.absolute(), f"python {named} (named by the user)"
    for folder in folders:
        for name in (".venv", "venv", "env"):
            found = _python_in(folder / name)
            if found is not None and (folder / name / "pyvenv.cfg").is_file():
                by = _made_by(folder)
                return found, f"python {found.relative_to(root).as_posix()} (virtual environment{by})"
    for folder in folders:
        found = _poetry(folder)
        if found is not None:
            return found, "python of the poetry environment of this project"
    return Path(sys.executable), "python that runs rootproof (no virtual environment was found; --python names another)"


def _made_by(folder: Path) -> str:
    for name, tool in (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile", "pipenv")):
        if (folder / name).is_file():
            return f", {tool}"
    return ""


def _python_in(environment: Path) -> Path | None:
    for name in ("python", "python3"):
        path = environment / "bin" / name
        if path.exists():
            return path
    return None


def _poetry(folder: Path) -> Path | None:
    """Poetry's environment outside the tree: its folder name is the project's name and a digest of its path."""
    config = read_config(folder / "pyproject.toml")
    if "[tool.poetry" not in config and not (folder / "poetry.lock").is_file():
        return None
    found = re.search(r"^name\s*=\s*[\"']([^\"']+)[\"']", config, re.MULTILINE)
    if found is None:
        return None
    safe = re.sub(r"[ $`!*@\"\\\r\n\t]", "_", found.group(1).lower())[:42]
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(folder.resolve())).digest()).decode()[:8]
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    cache = Path(os.environ.get("POETRY_CACHE_DIR") or user_cache / "pypoetry")
    places = sorted((cache.expanduser() / "virtualenvs").glob(f"{safe}-{digest}-py3*"))
    return _python_in(places[-1]) if places else None


def readable(python: Path, root: Path) -> tuple[Path, ...]:
    """The prefixes an interpreter needs beyond the system's and the repository."""
    places: list[Path] = []
    environment = python.parent.parent
    if (environment / "pyvenv.cfg").is_file() and not _is_wide(environment):
        places.append(environment)
        home = re.search(r"^home\s*=\s*(.+)$", read_config(environment / "pyvenv.cfg"), re.MULTILINE)
        if home is not None:
            places.append(Path(home.group(1).strip()).parent)
    places.append(_real(python).parent.parent)
    kept = {p for p in places if p == environment or _is_interpreter_prefix(p)}
    kept |= {_real(p) for p in kept}
    outside = {p for p in kept if p != root and root not in p.parents and not _is_wide(p)}
    return tuple(sorted(p for p in outside if Path("/usr") not in (p, *p.parents)))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _is_interpreter_prefix(prefix: Path) -> bool:
    """It holds a standard library, as every installed Python's prefix does."""
    return any(prefix.glob("lib/python3*/os.py"))


def _is_wide(prefix: Path) -> bool:
    """A place that would show far more than an interpreter: the file system's root, a home folder or above one."""
    home = Path.home()
    real = _real(prefix)
    return real == home or real in home.parents or real in (Path("/"), Path("/home"), Path("/root"), Path("/etc"))
