"""The static shape of the project's Python files: which statement and which function a line belongs to.

Read from text alone; nothing is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rootproof.experiments.change import decoded, split_lines

MODULE = "<module>"
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class Function:
    """A function, or the part of a class or module that lies in no function."""

    file: str
    name: str
    """Qualified as ``__qualname__`` is; a class's own name, or ``<module>``, for code outside functions."""
    first: int
    """Line of the first decorator, or of the ``def``."""
    last: int
    is_function: bool = True

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.name

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"


@dataclass(frozen=True)
class Statement:
    """One statement; of a compound one the header alone."""

    file: str
    first: int
    last: int
    kind: str
    """Name of its syntax node: ``Assign``, ``If``, ``Return`` ..."""
    function: str

    @property
    def key(self) -> tuple[str, int]:
        return self.file, self.first

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)

    def __str__(self) -> str:
        return f"{self.file}:{self.first}"


@dataclass
class Module:
    """One parsed file. ``tree`` is shared: whoever changes it must copy it first."""

    file: str
    text: str
    tree: ast.Module
    lines: list[str]
    functions: dict[str, Function] = field(default_factory=dict)
    nodes: dict[str, FunctionNode] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    statement_nodes: dict[int, ast.stmt] = field(default_factory=dict)
    """First line of a statement → its node (the first one where several share a line)."""
    parents: dict[int, int] = field(default_factory=dict)
    """First line of a statement → first line of the compound statement or ``def`` around it."""
    by_line: dict[int, Statement] = field(default_factory=dict)

    def function_at(self, line: int) -> Function:
        statement = self.by_line.get(line)
        return self.functions[statement.function if statement else MODULE]

    def code_name(self, first: int, name: str) -> str | None:
        """Qualified name of the function whose code object begins at ``first``."""
        for function in self.functions.values():
            if function.is_function and function.first == first and function.name.rsplit(".", 1)[-1] == name:
                return function.name
        return None


def parse(file: str, data: bytes) -> Module | None:
    """Parse one file; None where it is not Python that this interpreter understands."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    text = decoded(data)
    module = Module(file, text, tree, split_lines(text))
    module.functions[MODULE] = Function(file, MODULE, 1, max(len(module.lines), 1), False)
    _walk(module, tree.body, MODULE, "", 0)
    for statement in module.statements:
        for line in statement.lines:
            module.by_line.setdefault(line, statement)
    return module


def header_end(node: ast.stmt) -> int:
    """Last line of a statement, without the block of a compound one."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0]
    start = first.pattern.lineno if isinstance(first, ast.match_case) else first_line(first)
    return max(node.lineno, start - 1) if start > node.lineno else node.lineno


def first_line(node: ast.stmt) -> int:
    """First line of a statement, decorators included."""
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *(d.lineno for d in decorators)]) if decorators else node.lineno


def _walk(module: Module, body: list[ast.stmt], owner: str, prefix: str, parent: int) -> None:
    for node in body:
        line = node.lineno
        end = _tight(module, line, header_end(node))
        module.statements.append(Statement(module.file, line, end, type(node).__name__, owner))
        module.statement_nodes.setdefault(line, node)
        module.parents.setdefault(line, parent)
        if isinstance(node, FunctionNode | ast.ClassDef):
            name = prefix + node.name
            is_function = not isinstance(node, ast.ClassDef)
            last = node.end_lineno or line
            module.functions[name] = Function(module.file, name, first_line(node), last, is_function)
            if isinstance(node, FunctionNode):
                module.nodes[name] = node
            _walk(module, node.body, name, name + (".<locals>." if is_function else "."), line)
        else:
            for block in blocks(node):
                _walk(module, block, owner, prefix, line)


def _tight(module: Module, first: int, last: int) -> int:
    """Leave out blank lines and comments between a header and its block."""
    while last > first and (not (text := module.lines[last - 1].strip()) or text.startswith("#")):
        last -= 1
    return last


def blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists directly inside a compound statement."""
    for name in BLOCKS:
        for item in [getattr(node, name, None)]:
            if not item:
                continue
            if isinstance(item[0], ast.stmt):
                yield item
            else:
                for part in item:
                    yield part.body


class Sources:
    """The files of one tree, read and parsed once each, when first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: dict[str, Module | None] = {}
        self.data: dict[str, bytes] = {}

    def read(self, file: str) -> bytes:
        if file not in self.data:
            try:
                self.data[file] = (self.root / file).read_bytes()
            except OSError:
                self.data[file] = b""
        return self.data[file]

    def module(self, file: str) -> Module | None:
        if file not in self.modules:
            self.modules[file] = parse(file, self.read(file))
        return self.modules[file]

    def statement(self, file: str, line: int) -> Statement | None:
        module = self.module(file)
        return module.by_line.get(line) if module else None

    def function(self, file: str, line: int) -> Function | None:
        module = self.module(file)
        return module.function_at(line) if module else None
