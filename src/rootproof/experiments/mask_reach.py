"""Masks by reach: a change that finds out who is looking, or that changes what is not its own.

Reads are compared by what they reach (``os.environ``, ``sys.argv``, ``open``): what the module read before stays free.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

DETECTING_MODULES = frozenset(
    {
        "inspect", "pytest", "_pytest", "unittest", "nose", "traceback", "gc", "ctypes", "builtins", "__main__", "site",
        "linecache", "atexit", "signal", "psutil", "faulthandler", "tracemalloc", "pdb", "bdb", "trace", "coverage",
        "importlib", "pkgutil", "runpy", "hypothesis", "mock", "getpass", "pwd", "resource", "subprocess",
        "multiprocessing",
    }
)  # fmt: skip
"""Modules whose very import tells about the process and not about the data."""
FREE = frozenset(
    {
        "os.path.join", "os.path.basename", "os.path.dirname", "os.path.splitext", "os.path.normpath", "os.path.sep",
        "os.path.split", "os.path.isabs", "os.path.relpath", "os.path.commonpath", "os.path.normcase",
        "os.path.commonprefix",
        "os.sep", "os.linesep", "os.pathsep", "os.altsep", "os.extsep", "os.path", "os.PathLike", "os.fspath",
        "os.fsdecode",
        "os.fsencode", "os.name", "os.path.altsep", "os.curdir", "os.pardir", "os.error",
        "sys.maxsize", "sys.byteorder", "sys.version_info", "sys.float_info", "sys.maxunicode", "sys.intern",
        "sys.hash_info",
        "sys.getsizeof", "sys.int_info", "datetime.datetime", "datetime.timedelta", "datetime.date", "datetime.time",
        "datetime.timezone", "datetime.tzinfo", "datetime.UTC", "datetime.timezone.utc", "threading.Lock",
        "threading.RLock",
        "threading.local", "threading.Event", "threading.Thread", "threading.Condition", "threading.Semaphore",
        "time.strptime", "time.strftime", "time.struct_time", "pathlib.Path", "pathlib.PurePath",
        "pathlib.PurePosixPath",
        "datetime.datetime.fromisoformat", "datetime.datetime.strptime", "datetime.date.fromisoformat",
        "datetime.datetime.combine", "datetime.datetime.fromtimestamp", "datetime.date.fromordinal",
        "datetime.datetime.min",
        "datetime.datetime.max", "datetime.time.min", "datetime.time.max",
    }
)  # fmt: skip
WATCHED = frozenset(
    {"os", "sys", "time", "datetime", "threading", "platform", "socket", "tempfile", "pathlib", "locale"}
)
NAMES = frozenset(
    {
        "__file__", "__name__", "__spec__", "__loader__", "__package__", "__builtins__", "__debug__", "__cached__",
        "globals", "locals", "vars", "eval", "exec", "compile", "__import__", "open", "input", "breakpoint", "id",
        "dir",
        "memoryview", "help",
    }
)  # fmt: skip
ATTRIBUTES = frozenset(
    {
        "f_back", "f_code", "f_locals", "f_globals", "f_lineno", "f_builtins", "tb_frame", "tb_next", "tb_lineno",
        "gi_frame",
        "cr_frame", "ag_frame", "__code__", "co_filename", "co_name", "co_firstlineno", "__globals__", "__subclasses__",
        "__closure__", "__traceback__", "__builtins__", "__loader__", "__spec__", "__file__", "exists", "is_file",
        "is_dir",
        "read_text", "read_bytes", "iterdir", "cwd", "getcwd", "environ", "getenv", "argv", "_getframe", "st_mtime",
        "utcnow", "now", "today", "perf_counter", "monotonic", "process_time", "time_ns", "current_thread",
        "gettrace", "getprofile", "exc_info", "settrace", "setprofile", "gethostname", "getpid", "getppid", "getlogin",
        "currentframe", "getouterframes", "walk_stack", "extract_stack", "format_stack", "print_stack",
        "__getattribute__", "__import__", "import_module", "find_spec", "active_count", "enumerate_threads",
    }
)  # fmt: skip
"""Attribute names that lead to the process, the frames, the clock or the files, whatever they are taken from."""
SPECIAL = frozenset(
    {
        "__class__", "__bases__", "__dict__", "__code__", "__defaults__", "__kwdefaults__", "__globals__", "__eq__",
        "__ne__",
        "__hash__", "__bool__", "__len__", "__contains__", "__getattr__", "__getattribute__", "__mro__", "__builtins__",
    }
)  # fmt: skip
COMPARISONS = frozenset(
    {
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__contains__",
        "__bool__",
        "__instancecheck__",
        "__subclasscheck__",
        "__cmp__",
    }
)


def new_reads(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """Reads of the test, the run or the control that the module did not make before."""
    before = {what for what, _ in _reads(old)}
    told: set[str] = set()
    for what, line in _reads(new):
        if what not in before and what not in told:
            told.add(what)
            yield line, f"{what} was not read here before"


def _reads(tree: ast.Module) -> Iterator[tuple[str, int]]:
    aliases = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((what, node.lineno) for what in _imports(node))
        elif isinstance(node, ast.Attribute):
            yield from ((what, node.lineno) for what in _attribute(node, aliases))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from ((what, node.lineno) for what in _name(node, aliases))
        elif isinstance(node, ast.Call):
            yield from ((what, node.lineno) for what in _dynamic(node, aliases))


def imported(tree: ast.Module) -> dict[str, str]:
    """Local name → dotted name of what was imported under it, anywhere in the module."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            for alias in node.names:
                found[alias.asname or alias.name] = (
                    f"{dots}{node.module or ''}.{alias.name}".lstrip(".")
                    if not node.level
                    else f"{dots}{node.module or ''}.{alias.name}"
                )
    return found


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        top = (node.module or "").split(".")[0]
        if top in DETECTING_MODULES and not node.level:
            yield f"module {top}"
        elif top in WATCHED and not node.level:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in names if name not in FREE)
        return
    yield from (f"module {a.name.split('.')[0]}" for a in node.names if a.name.split(".")[0] in DETECTING_MODULES)


def _attribute(node: ast.Attribute, aliases: dict[str, str]) -> Iterator[str]:
    if node.attr in ATTRIBUTES:
        yield f".{node.attr}"
    dotted = dotted_name(node, aliases)
    top = dotted.split(".")[0]
    if (top in WATCHED or top in DETECTING_MODULES) and dotted not in FREE:
        yield dotted


def _name(node: ast.Name, aliases: dict[str, str]) -> Iterator[str]:
    if node.id in NAMES and node.id not in aliases:
        yield node.id
    dotted = aliases.get(node.id, "")
    if "." in dotted and dotted.split(".")[0] in WATCHED and dotted not in FREE:
        yield dotted


def _dynamic(node: ast.Call, aliases: dict[str, str]) -> Iterator[str]:
    """``getattr`` on a module, or with a name put together: what it reaches cannot be known."""
    if not (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) >= 2):
        return
    owner, name = node.args[0], node.args[1]
    if isinstance(owner, ast.Name) and owner.id in aliases:
        yield f"getattr of {aliases[owner.id]}"
    if isinstance(name, ast.Constant) and name.value in ATTRIBUTES:
        yield f".{name.value}"


def dotted_name(node: ast.expr, aliases: dict[str, str]) -> str:
    """``os.environ`` for ``o.environ`` after ``import os as o``; empty where it does not begin with an import."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return ""
    return ".".join([aliases[node.id], *reversed(parts)])


def foreign_assignments(old: ast.Module, new: ast.Module) -> Iterator[tuple[int, str]]:
    """A new assignment to an attribute of another module, of something imported, or to an object's inner workings."""
    before = {what for what, _ in _foreign(old)}
    for what, line in _foreign(new):
        if what not in before:
            yield line, f"{what} is changed from outside"


def _foreign(tree: ast.Module) -> Iterator[tuple[str, int]]:
    aliases = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            what = _target(node, aliases)
            if what:
                yield what, node.lineno
        elif isinstance(node, ast.Call):
            what = _setter(node, aliases)
            if what:
                yield what, node.lineno


def _target(node: ast.Attribute | ast.Subscript, aliases: dict[str, str]) -> str:
    inner: ast.expr = node
    while isinstance(inner, ast.Subscript | ast.Call):
        inner = inner.value if isinstance(inner, ast.Subscript) else inner.func
    if isinstance(inner, ast.Attribute) and inner.attr in SPECIAL:
        return ast.unparse(inner)
    if isinstance(inner, ast.Name) and inner.id in ("globals", "vars", "locals", "__builtins__"):
        return ast.unparse(node)
    return dotted_name(inner, aliases) if isinstance(inner, ast.Attribute) else ""


def _setter(node: ast.Call, aliases: dict[str, str]) -> str:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("setattr", "delattr", "__setattr__", "__delattr__") and node.args:
        owner = node.args[0] if name in ("setattr", "delattr") else getattr(node.func, "value", node.args[0])
        plain = isinstance(owner, ast.Name) and owner.id not in aliases
        special = len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value in SPECIAL
        return "" if plain and not special else ast.unparse(node.args[0])
    if name in ("update", "setdefault", "pop") and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id in ("globals", "vars"):
            return ast.unparse(owner)
        if isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
            return ast.unparse(owner)
    return "monkeypatch" if name in ("MonkeyPatch", "monkeypatch") else ""


def new_comparisons(old: ast.Module, new: ast.Module) -> list[tuple[str, int, bool]]:
    """(name, line, gives one constant) of comparison methods that were not there: by ``def``, lambda or assignment."""
    before = {name for name, _, _ in _comparisons(old)}
    return [found for found in _comparisons(new) if found[0] not in before]


def _comparisons(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name in COMPARISONS:
                yield f"{owner.name}.{node.name}", node.lineno, _one_constant(node)
            elif isinstance(node, ast.Assign):
                names = [t.id for t in node.targets if isinstance(t, ast.Name) and t.id in COMPARISONS]
                fixed = isinstance(node.value, ast.Lambda) and isinstance(node.value.body, ast.Constant)
                yield from ((f"{owner.name}.{name}", node.lineno, fixed) for name in names)


def _one_constant(node: ast.FunctionDef) -> bool:
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return all(isinstance(v, ast.Constant) for v in values) and len({ast.dump(v) for v in values if v}) <= 1
