"""The source as the architecture tests see it: modules, what each imports (also inside functions), and its layer."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "rootproof"
PACKAGE = "rootproof"


@dataclass(frozen=True)
class Module:
    """One Python file of the package."""

    name: str
    """Dotted, without the package: ``ledger.sqlite``; the package itself is empty."""
    path: Path
    text: str

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.text)

    @property
    def shown(self) -> str:
        return str(self.path.relative_to(ROOT))


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the package, sorted by name."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path, path.read_text("utf-8")))
    return tuple(found)


@dataclass(frozen=True)
class Import:
    """One import statement's target."""

    by: Module
    line: int
    target: str
    """Dotted name as Python sees it, such as ``rootproof.ledger.sqlite`` or ``json``."""
    typing_only: bool
    """Stands under ``if TYPE_CHECKING``."""


def imports(module: Module) -> list[Import]:
    """Every import of a module wherever it stands, relative ones made absolute."""
    known = {m.name for m in modules()}
    found: list[Import] = []

    def visit(node: ast.AST, typing_only: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for inner in node.body:
                visit(inner, True)
            for inner in node.orelse:
                visit(inner, typing_only)
            return
        if isinstance(node, ast.Import):
            found.extend(Import(module, node.lineno, alias.name, typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, node)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                is_module = inner.removeprefix(f"{PACKAGE}.") in known
                found.append(Import(module, node.lineno, inner if is_module else source, typing_only))
        for inner in ast.iter_child_nodes(node):
            visit(inner, typing_only)

    visit(module.tree, False)
    return found


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = [PACKAGE, *module.name.split(".")]
    if module.path.name == "__init__.py":
        parts.append("")
    base = parts[: len(parts) - node.level]
    return ".".join([*base, *([node.module] if node.module else [])])


def inner(one: Import) -> str | None:
    """The package's own module that is imported, or None where it is somebody else's."""
    if one.target == PACKAGE:
        return ""
    return one.target.removeprefix(f"{PACKAGE}.") if one.target.startswith(f"{PACKAGE}.") else None
