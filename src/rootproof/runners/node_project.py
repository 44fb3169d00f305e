"""Where a JavaScript test belongs and which node runs it. Looks at files only: nothing of a repository is started."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rootproof.errors import NotRunnable, UsageError
from rootproof.runners import mend, test_id
from rootproof.runners.interface import Project, Session, TestRequest
from rootproof.runners.python_project import read_config
from rootproof.sandbox.interface import Command, Limits

INSIDE = Path(__file__).with_name("inside")
SETTINGS_VARIABLE = "ROOTPROOF_SETTINGS"
SEPARATOR = "#"
LEVELS = " > "
"""Between the names of suites and test in an id, as vitest shows them."""


def find(root: Path, test: str, interpreter: Path | None) -> Project:
    """Package root and node for one test.

    Raises:
        NotRunnable: there is no node.
    """
    folder = root / test_id.split(test, SEPARATOR)[0]
    while folder != root and not (folder / "package.json").is_file():
        folder = folder.parent if root in folder.parents else root
    where = "the repository root" if folder == root else folder.relative_to(root).as_posix()
    node, why = _node(interpreter)
    return Project(
        root=root,
        package_root=folder,
        interpreter=node,
        readable=_readable(node),
        reason=f"{why}; tests run in {where}",
        config=(folder / "package.json").relative_to(root).as_posix() if (folder / "package.json").is_file() else "",
    )


def package(folder: Path) -> Mapping[str, object]:
    """The package.json of a folder; empty where there is none or it is broken."""
    try:
        read = json.loads(read_config(folder / "package.json") or "{}")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def asks_for(folder: Path, name: str) -> bool:
    """Whether package.json names a dependency, of whatever kind."""
    told = package(folder)
    groups = [told.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")]
    return any(isinstance(group, dict) and name in group for group in groups)


def module_file(project: Project, path: str) -> Path | None:
    """A file in the nearest ``node_modules`` that has it, from the package root up to the root."""
    folder = project.package_root
    while True:
        found = folder / "node_modules" / path
        if found.is_file():
            return found
        if folder == project.root or project.root not in folder.parents:
            return None
        folder = folder.parent


def settings(project: Project, request: TestRequest) -> str:
    """The settings that travel inside by an environment variable.

    Raises:
        UsageError: an id that must never reach a runner.
    """
    for test in (*request.tests, *request.order):
        fault = test_id.fault(test, SEPARATOR)
        if fault:
            raise UsageError(f"the test id cannot be used: {fault}", "name tests as PATH#NAME, relative to the root")
    where = os.path.relpath(project.root, project.package_root)
    return json.dumps(
        {"nonce": request.nonce, "root": where, "tests": request.tests, "retries_off": request.retries_off}
    )


def command(project: Project, request: TestRequest, limits: Limits, arguments: tuple[str, ...]) -> Command:
    """One node process with these arguments."""
    return Command(
        argv=(str(project.interpreter or "node"), *arguments),
        root=project.root,
        cwd=project.package_root,
        env={"NODE_DISABLE_COMPILE_CACHE": "1", **request.env, SETTINGS_VARIABLE: settings(project, request)},
        readable=(*project.readable, INSIDE),
        hidden=project.hidden,
        writable=request.writable,
        changes=request.changes,
        channel=True,
        limits=limits,
    )


def pattern(name: str) -> str:
    """An anchored regular expression for one full name; between levels any runner's own joint matches."""
    levels = [_escaped(part) for part in name.split(LEVELS)]
    return "^\\s*" + "(?: > | )".join(levels) + "$"


def leaf_pattern(name: str) -> str:
    """The same for the innermost name alone, for runners that look at nothing else.

    A name may itself hold what stands between levels, so every ending of the full name is one that may be meant.
    """
    parts = name.split(LEVELS)
    endings = [_escaped(LEVELS.join(parts[place:])) for place in range(len(parts))]
    return f"/^(?:{'|'.join(endings)})$/"


def judged(session: Session, project: Project, request: TestRequest) -> Session:
    """Complete a session by what only the disk knows: a file that is not there, a package that is not installed."""
    files = [test_id.split(test, SEPARATOR)[0] for test in request.tests]
    absent = [f for f in files if f not in request.changes and not (project.root / f).is_file()]
    if absent and session.status in ("collection_error", "no_tests", "not_found"):
        return replace(session, status="not_found", problem=f"there is no file {absent[0]}")
    return replace(session, mend=needed(session, project))


def needed(session: Session, project: Project) -> str:
    """What to install for a missing package; empty where none is missing."""
    said = [session.problem, *(r.failure.message for r in session.results if r.failure is not None)]
    has_modules = (project.package_root / "node_modules").is_dir() or (project.root / "node_modules").is_dir()
    return mend.for_node("\n".join(said), has_modules)


def _escaped(text: str) -> str:
    return "".join("\\" + c if c in "\\^$.*+?()[]{}|/-" else c for c in text)


def _node(named: Path | None) -> tuple[Path, str]:
    if named is not None:
        if not named.is_file():
            raise NotRunnable(f"there is no node at {named}", "name one that exists")
        return named.absolute(), f"node {named} (named by the user)"
    found = shutil.which("node")
    if found is None:
        raise NotRunnable("there is no node on the search path", "install Node.js 20 or later, or name its executable")
    return Path(found), "node from the search path"


def _readable(node: Path) -> tuple[Path, ...]:
    """The prefix of a node outside the system's folders: its ``bin`` and ``lib``, never a home folder."""
    prefix = node.resolve().parent.parent
    wide = prefix == Path.home() or prefix in Path.home().parents or prefix == Path("/")
    if wide or Path("/usr") in (prefix, *prefix.parents):
        return ()
    return (prefix,)
