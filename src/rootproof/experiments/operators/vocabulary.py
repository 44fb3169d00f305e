"""The words an operator may use: what the module and the function already say. Nothing is invented."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections import Counter
from dataclasses import dataclass

from rootproof.experiments.sources import FunctionNode, Module

EXCEPTIONS = frozenset(n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException))
SIBLINGS: tuple[tuple[str, ...], ...] = (
    ("strip", "lstrip", "rstrip"),
    ("lower", "casefold", "upper"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("append", "extend"),
    ("keys", "values", "items"),
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil", "trunc"),
    ("isdigit", "isdecimal", "isnumeric"),
    ("match", "fullmatch", "search"),
    ("sub", "subn"),
    ("copy", "deepcopy"),
    ("get", "pop", "setdefault"),
    ("encode", "decode"),
    ("removeprefix", "lstrip"),
    ("removesuffix", "rstrip"),
    ("isinstance", "issubclass"),
    ("is_dir", "is_file", "exists"),
    ("isdir", "isfile", "exists"),
    ("int", "float", "str"),
    ("list", "tuple", "set", "sorted"),
    ("now", "utcnow"),
    ("truediv", "floordiv"),
    ("name", "qualname"),
    ("abspath", "realpath"),
    ("range", "enumerate"),
    ("iter", "next"),
    ("discard", "remove"),
    ("add", "update"),
    ("__name__", "__qualname__"),
)


@dataclass
class Vocabulary:
    """Names and constants of one module, and of one function of it."""

    names: Counter[str]
    """Names the module binds at its own level, imports included, with how often they are read."""
    attributes: Counter[str]
    strings: Counter[str]
    numbers: Counter[int]
    classes: tuple[str, ...]
    """Second arguments of ``isinstance``, as written."""
    exceptions: tuple[str, ...]
    keywords: dict[str, tuple[str, ...]]
    """Function name → keyword names its calls use here."""

    def near(self, word: str, among: Counter[str], most: int = 3) -> list[str]:
        """Words spelled like this one, the likest first."""
        others = [other for other in among if other != word]
        return difflib.get_close_matches(word, others, n=most, cutoff=0.6)


def vocabulary(module: Module) -> Vocabulary:
    words = Vocabulary(Counter(), Counter(), Counter(), Counter(), (), (), {})
    classes: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            if node.id in EXCEPTIONS or node.id.endswith(("Error", "Exception")):
                raised[node.id] += 1
        elif isinstance(node, ast.Attribute):
            words.attributes[node.attr] += 1
        elif isinstance(node, ast.Constant):
            _constant(words, node)
        elif isinstance(node, ast.Call):
            _call(words, node, classes)
    for statement in module.tree.body:
        for name in _bound(statement):
            words.names[name] += 1
    words.classes = tuple(name for name, _ in classes.most_common(8))
    words.exceptions = tuple(name for name, _ in raised.most_common(8))
    return words


def _constant(words: Vocabulary, node: ast.Constant) -> None:
    if isinstance(node.value, str) and len(node.value) <= 60 and "\n" not in node.value:
        words.strings[node.value] += 1
    elif type(node.value) is int:
        words.numbers[node.value] += 1


def _call(words: Vocabulary, node: ast.Call, classes: Counter[str]) -> None:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    used = tuple(k.arg for k in node.keywords if k.arg)
    if used:
        words.keywords[name] = tuple(dict.fromkeys((*words.keywords.get(name, ()), *used)))
    if name == "isinstance" and len(node.args) == 2 and isinstance(node.args[1], ast.Name | ast.Attribute):
        classes[ast.unparse(node.args[1])] += 1


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return [statement.name]
    found = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Scope:
    """What one function binds."""

    parameters: tuple[str, ...]
    locals: tuple[str, ...]
    """Parameters and assigned names, in order of appearance."""
    conditions: tuple[str, ...]
    """Tests of ``if`` and ``while`` in it, as written, simple ones only."""
    flags: tuple[str, ...]
    """``self`` attributes read in it."""
    taken: tuple[tuple[str, str], ...] = ()
    """(name, attribute) of each attribute of a name in it."""


def scope_of(node: FunctionNode | None) -> Scope:
    if node is None:
        return Scope((), (), (), ())
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters = [a.arg for a in every] + [a.arg for a in (arguments.vararg, arguments.kwarg) if a]
    bound, conditions, taken = list(parameters), [], []
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            bound.append(part.id)
        elif isinstance(part, ast.If | ast.While | ast.IfExp) and len(text := ast.unparse(part.test)) <= 50:
            conditions.append(text)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            taken.append((part.value.id, part.attr))
    own = [name for name in dict.fromkeys(parameters) if name not in ("self", "cls")]
    names = [name for name in dict.fromkeys(bound) if name not in ("self", "cls", "_")]
    pairs = tuple(dict.fromkeys(taken))
    flags = tuple(attribute for name, attribute in pairs if name == "self")
    return Scope(tuple(own), tuple(names), tuple(dict.fromkeys(conditions)), flags, pairs)
