"""The words of a piece of code: names, calls and constants. A change made only of known words is nearer to a slip."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rootproof.experiments.literal import key, trivial

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
BUILTIN_NAMES = frozenset(dir(builtins))


def words(tree: ast.AST) -> Iterator[tuple[str, object]]:
    """(kind, word): ``name`` for names, attributes and keywords, ``constant``, ``import``; no docstrings."""
    skipped = {id(node) for node in docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in node.values if isinstance(part, ast.Constant))
            yield from (("piece", piece) for piece in _pieces(node))
        elif isinstance(node, ast.Constant) and id(node) not in skipped and node.value is not Ellipsis:
            yield "constant", key(node.value)
        else:
            yield from _names(node)


def _names(node: ast.AST) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.Name):
        yield "name", node.id
    elif isinstance(node, ast.Attribute):
        yield "name", node.attr
    elif isinstance(node, ast.keyword | ast.arg) and node.arg:
        yield "name", node.arg
    elif isinstance(node, FunctionNode | ast.ClassDef):
        yield "name", node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield "import", f"{getattr(node, 'module', None) or ''}.{alias.name}"
            yield "name", (alias.asname or alias.name).split(".")[0]


def _pieces(node: ast.JoinedStr) -> list[str]:
    return [part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | FunctionNode) and body and isinstance(body[0], ast.Expr):
            yield body[0].value


def new_words(old: ast.Module, new: ast.Module, paired: Iterable[ast.AST]) -> tuple[str, ...]:
    """Words of the new module that neither the old one nor a paired span has, as they would be shown.

    Not new are builtins, the language's own special names, new locals and parameters, 0, ±1, True, False, None,
    empty values, and an f-prefix.
    """
    known = set(words(old))
    for span in paired:
        known.update(words(span))
    texts = [word[1] for word in known if word[0] == "constant"]
    local = locals_of(new) - _globals(new)
    found: list[str] = []
    for kind, word in words(new):
        if (kind, word) in known or _free(kind, word, local):
            continue
        if kind == "piece" and any(_holds(text, str(word)) for text in texts):
            continue
        found.append(f"{kind} {_shown(word)}")
    return tuple(dict.fromkeys(found))


def _free(kind: str, word: object, local: frozenset[str]) -> bool:
    if kind == "name":
        special = isinstance(word, str) and word.startswith("__") and word.endswith("__")
        return special or word in BUILTIN_NAMES or word in local
    if kind == "piece":
        return word == ""
    if kind == "constant" and isinstance(word, tuple):
        name, value = word
        return name == "constant" or trivial(value)
    return False


def _holds(known: object, piece: str) -> bool:
    """Whether a text constant that was there before contains the piece: it became an f-string."""
    return isinstance(known, tuple) and known[0] == "text" and piece in known[1]


def _shown(word: object) -> str:
    return repr(word[1])[:60] if isinstance(word, tuple) and len(word) == 2 else str(word)[:60]


def locals_of(tree: ast.Module) -> frozenset[str]:
    """Names bound inside functions: parameters and what is assigned there."""
    found: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, FunctionNode | ast.Lambda):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
    return frozenset(found)


def _globals(tree: ast.Module) -> frozenset[str]:
    return frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)


def only_deletes(old: ast.Module, new: ast.Module) -> bool:
    """Whether the new module has the old one's statements, fewer of them, and nothing else."""
    before, after = Counter(_heads(old)), Counter(_heads(new))
    return bool(before - after) and not after - before


def _heads(tree: ast.Module) -> Iterator[str]:
    """Each statement without its blocks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            values = [v for name, v in ast.iter_fields(node) if name not in _BLOCKS]
            yield type(node).__name__ + "".join(_dumped(value) for value in values)


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _dumped(value: object) -> str:
    if isinstance(value, list):
        return "[" + ",".join(_dumped(item) for item in value) + "]"
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def reads_name(tree: ast.AST, names: Iterable[str]) -> bool:
    """Whether code loads one of the names, plain or as an attribute."""
    wanted = set(names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in wanted:
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in wanted:
            return True
    return False


def texts_in(tree: ast.AST) -> frozenset[str]:
    """String constants of a piece of code that are keys rather than prose: one word, not a docstring."""
    skipped = {id(node) for node in docstrings(tree)}
    values: Mapping[int, object] = {id(n): n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    found = (v for i, v in values.items() if i not in skipped and isinstance(v, str))
    return frozenset(v for v in found if v and len(v) <= 80 and not any(c.isspace() for c in v))
