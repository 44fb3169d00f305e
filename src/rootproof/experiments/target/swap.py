"""Puts a change into a live process: compiles the function that is changed and swaps ``__code__`` where it lives.

Only the outermost enclosing function is compiled, inside class headers where it has any, so that names, private
name mangling and ``super()`` mean what they meant. Function objects are found once, through the collector of
garbage, and keyed by their code object. Where code and closure do not fit, the change is not applied.
"""

from __future__ import annotations
import __future__

import gc
import os
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

FUTURE = 0
for _name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _name).compiler_flag

if TYPE_CHECKING:
    Edit = Sequence[Any]
    """``[file, first, last, new]``: lines first to last (1-based) are replaced by the text ``new``."""


class NotSwappable(Exception):
    """The change cannot be put into the live process; it needs a fresh one."""


class Live:
    """The project's function objects that exist now."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.by_code: dict[int, list[FunctionType]] = {}
        self.by_place: dict[tuple[str, int, str], list[CodeType]] = {}
        self.texts: dict[str, list[str]] = {}
        real: dict[str, str] = {}
        for thing in gc.get_objects():
            if type(thing) is not FunctionType:
                continue
            code = thing.__code__
            name = code.co_filename
            if name not in real:
                real[name] = os.path.realpath(name)
            known = self.by_code.setdefault(id(code), [])
            if not known:
                self.by_place.setdefault((real[name], code.co_firstlineno, code.co_name), []).append(code)
            known.append(thing)

    def lines(self, file: str) -> list[str]:
        if file not in self.texts:
            self.texts[file] = read_lines(os.path.join(self.root, file))
        return self.texts[file]

    def apply(self, edits: Sequence[Edit], blocks: Sequence[dict[str, Any]]) -> None:
        """Put the change in. Every function is compiled before the first is swapped.

        Raises:
            NotSwappable: a fresh process is needed.
            SyntaxError: the changed text does not compile.
        """
        swaps: list[tuple[FunctionType, CodeType]] = []
        for block in blocks:
            swaps += self._swaps(block, [edit for edit in edits if edit[0] == block["file"]])
        if not swaps:
            raise NotSwappable("no live function has this code")
        for function, code in swaps:
            if function.__code__.co_freevars != code.co_freevars:
                raise NotSwappable("the change needs another closure")
        for function, code in swaps:
            function.__code__ = code

    def _swaps(self, block: dict[str, Any], edits: list[Edit]) -> list[tuple[FunctionType, CodeType]]:
        path = os.path.realpath(os.path.join(self.root, block["file"]))
        swaps: list[tuple[FunctionType, CodeType]] = []
        for old in self.by_place.get((path, block["first"], block["name"]), []):
            inside = [edit for edit in edits if block["def"] <= edit[1] and edit[2] <= block["last"]]
            text = splice(self.lines(block["file"]), inside, block["def"], block["last"])
            new = compile_block(text, block, path, old.co_flags & FUTURE)
            for before, after in pairs(old, new):
                swaps += [(function, after) for function in self.by_code.get(id(before), [])]
        return swaps


def read_lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    return [line + "\n" for line in text.split("\n")]


def splice(lines: list[str], edits: Sequence[Edit], first: int = 1, last: int | None = None) -> str:
    """The text of lines ``first`` to ``last`` with the edits, which lie inside, carried out."""
    result = lines[first - 1 : last]
    for edit in sorted(edits, key=lambda e: (e[1], e[2]), reverse=True):
        result[edit[1] - first : edit[2] - first + 1] = [edit[3]]
    return "".join(result)


def compile_block(text: str, block: dict[str, Any], path: str, flags: int) -> CodeType:
    """Compile one function at its own line numbers, inside the headers that ``block`` names."""
    headers = "".join(" " * depth + header + "\n" for depth, header in enumerate(block["wrap"]))
    above = "\n" * max(block["def"] - 1 - len(block["wrap"]), 0)
    code = compile(above + headers + text, path, "exec", flags=flags, dont_inherit=True)
    for _ in block["wrap"]:
        code = next(iter(_inner(code)), code)
    found = next((inner for inner in _inner(code) if inner.co_name == block["name"]), None)
    if found is None and code.co_name == block["name"]:
        found = code  # the header was an ``if``, which has no code object of its own
    if found is None:
        raise NotSwappable("the changed function was not found again")
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Old and new code of a function and of all functions nested in it, matched by name and order."""
    yield old, new
    waiting = list(_inner(new))
    for inner in _inner(old):
        match = next((code for code in waiting if code.co_name == inner.co_name), None)
        if match is not None:
            waiting.remove(match)
            yield from pairs(inner, match)
