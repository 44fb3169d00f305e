"""From a case of a JUnit report to the id by which its runner knows it here. Pure: files and ids are handed in.

There is no standard for what a report calls a test. pytest and unittest write a dotted module and class, vitest the
file as the class name, node:test nothing but names; a CI machine's absolute paths lie in another folder than here.
Nothing is guessed: where several files or ids would do, the case stays unmatched and says why.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rootproof.runners.junit_xml import Case
from rootproof.runners.records import visible

LEVELS = " > "
MOST_PARTS = 40
"""Of a dotted name: no module lies deeper."""
NEAREST = 3


@dataclass(frozen=True)
class Placed:
    """In which test file a case stands."""

    file: str = ""
    inner: tuple[str, ...] = ()
    """Names between file and test that the report gives: classes, suites."""
    why: str = ""
    """Why no file was found; empty where one was."""


def label(case: Case) -> str:
    """How a report calls a case, in one line."""
    return visible(LEVELS.join(part for part in (case.classname, case.name) if part).replace("\n", " "))[:200]


def place(case: Case, files: Sequence[str], root: str) -> Placed:
    """The file of a case among the project's test files.

    Args:
        files: root-relative. root: absolute.
    """
    for told in (case.file, case.classname, *reversed(case.suites)):
        if told and _is_path(told, files):
            found = _by_path(told, files, root)
            return _one(found, told, _inner(case, told), files)
    dotted = case.classname or case.name
    found, rest = _by_module(dotted, files)
    if found:
        return _one(found, dotted, rest, files)
    mentioned = [file for file in files if _mentions(case.detail, file)]
    if len(mentioned) == 1:
        return Placed(mentioned[0], case.suites)
    if case.file or "." in dotted or "/" in dotted:
        return _one((), case.file or dotted, (), files)
    return Placed(why="the report does not say in which file it stands")


def match(case: Case, placed: Placed, ids: Iterable[str], separator: str) -> tuple[str, ...] | str:
    """The ids of a case among those of its file, or why there is none; several where parameters are not told."""
    there = [test for test in ids if test.partition(separator)[0] == placed.file]
    if not there:
        return f"nothing was collected in {placed.file}"
    if separator == "::" and not case.classname and case.name.replace(".", "/").endswith(placed.file[:-3]):
        return f"the report says that {placed.file} could not be collected, and of no test that it failed"
    tails = {test: test.partition(separator)[2] for test in there}
    wanted = _names(case, placed, separator)
    for name in wanted:
        found = tuple(test for test, tail in tails.items() if _plain(tail) == _plain(name))
        if len(found) == 1:
            return found
    if separator == "::":
        by_name = _by_test_name(case, placed, tails)
        if by_name:
            return by_name
    near = difflib.get_close_matches(f"{placed.file}{separator}{wanted[0]}", there, NEAREST, 0.5) or there[:NEAREST]
    return f"{placed.file} holds no such test; it has {', '.join(visible(test)[:160] for test in near)}"


def _is_path(told: str, files: Sequence[str]) -> bool:
    suffixes = {PurePosixPath(file).suffix for file in files}
    path = told.replace("\\", "/")
    return PurePosixPath(path).suffix in suffixes


def _by_path(told: str, files: Sequence[str], root: str) -> tuple[str, ...]:
    path = told.removeprefix("file://").replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    if path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    if path in files:
        return (path,)
    longer = sorted((file for file in files if path.endswith(f"/{file}")), key=len)
    if longer:
        return (longer[-1],)
    return () if path.startswith("/") else tuple(file for file in files if file.endswith(f"/{path}"))


def _by_module(dotted: str, files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files whose path is the longest beginning of a dotted name, and what comes after it."""
    parts = dotted.split(".")
    if not dotted or len(parts) > MOST_PARTS:
        return (), ()
    stems = {file: str(PurePosixPath(file).with_suffix("")) for file in files}
    for start in range(len(parts)):
        for end in range(len(parts), start, -1):
            stem = "/".join(parts[start:end])
            exact = tuple(file for file, known in stems.items() if known == stem)
            ending = tuple(file for file, known in stems.items() if known.endswith(f"/{stem}"))
            if exact or (ending and start == 0):
                return exact or ending, tuple(parts[end:])
    return (), ()


def _one(found: Sequence[str], told: str, inner: tuple[str, ...], files: Sequence[str]) -> Placed:
    if len(found) == 1:
        return Placed(found[0], inner)
    shown = visible(told)[:160]
    if found:
        return Placed(why=f"{shown} may be {' or '.join(found[:NEAREST])}")
    near = difflib.get_close_matches(told, files, NEAREST, 0.5)
    hint = f"; near are {', '.join(near)}" if near else ""
    return Placed(why=f"no test file here is {shown}{hint}")


def _inner(case: Case, told: str) -> tuple[str, ...]:
    """What stands between file and name where the file is named by its path."""
    path = PurePosixPath(told.replace("\\", "/"))
    if path.suffix != ".py":
        return tuple(suite for suite in case.suites if suite not in (told, case.file))
    parts = case.classname.split(".") if case.classname not in ("", told) else []
    own = max((at for at, part in enumerate(parts) if part == path.stem), default=-1)
    return tuple(parts[own + 1 :])


def _mentions(text: str, file: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(file)}(?![\w.-])", text) is not None


def _names(case: Case, placed: Placed, separator: str) -> tuple[str, ...]:
    """What the test may be called within its file, the fullest name first."""
    name = visible(case.name)
    if separator == "::":
        return ("::".join([*placed.inner, name]),)
    suites = [suite for suite in case.suites if suite != placed.file]
    levels = [LEVELS.join([*suites[at:], name]) for at in range(len(suites) + 1)]
    return tuple(dict.fromkeys((*levels, f"{case.classname} {name}".strip())))


def _plain(name: str) -> str:
    """Runners and reports put different things between suites."""
    return " ".join(name.replace(LEVELS, " ").split())


def _by_test_name(case: Case, placed: Placed, tails: dict[str, str]) -> tuple[str, ...]:
    """By the method alone: without what unittest reports add for a subtest, and all parameters where none are named."""
    name = visible(case.name)
    bare = re.split(r" [\[(]", name, maxsplit=1)[0]
    found = [test for test, tail in tails.items() if tail.split("::")[-1] == bare and _class(tail) == placed.inner[-1:]]
    if not found and "[" not in name:
        found = [test for test, tail in tails.items() if tail.partition("[")[0] == "::".join([*placed.inner, name])]
    return tuple(found)


def _class(tail: str) -> tuple[str, ...]:
    return tuple(tail.split("::")[-2:-1])
