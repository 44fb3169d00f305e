"""Imports point down, never up, never in a circle; members of a family do not know other families' members."""

from __future__ import annotations

from collections.abc import Iterator

from .house import Import, Module, imports, inner, modules

LAYERS = ("nouns", "rules", "ground", "loop", "parts", "assembly", "apps")

NOUNS = [
    "errors",
    "canonical",
    "text",
    "strict_json",
    "encoding",
    "pattern",
    "interval",
    "signature",
    "comments",
    "place",
    "criterion",
    "fact",
    "effect",
    "plan",
    "event",
    "course",
    "seen",
    "status",
    "state",
    "protocol",
    "contract",
    "contract_parts",
    "models.interface",
    "tools.interface",
    "runners.interface",
    "sandbox.interface",
    "ledger.interface",
]
RULES = [
    "policy",
    "checking",
    "evidence",
    "completion",
    "mode",
    "frame",
    "view",
    "answer",
    "agreement",
    "difference",
    "outcome",
    "masking",
    "torn",
    "recording",
    "comparable",
    "contract_faults",
    "criteria_faults",
    "effect_faults",
    "laid_faults",
]
GROUND = ("scope", "survey", "contract_file", "configuration", "sandbox", "ledger", "experiments")
LOOP = ("case", "authority", "approval", "recovery", "review", "turn", "controller")
FAMILIES = ("models", "tools", "runners", "investigations", "report")
ASSEMBLY = (
    "assemble",
    "installed",
    "workshop",
    "proposers",
    "stores",
    "telemetry",
    "decisions",
    "red",
    "diagnosis",
    "verify",
)
APPS = ("apps", "__main__", "")

INSIDE = ("sandbox.inside", "runners.inside", "experiments.target")
"""Programs that start in another process, with nothing of the package but their own folder."""

WORLD = {
    "asyncio", "ctypes", "datetime", "fcntl", "glob", "io", "locale", "multiprocessing", "os", "pathlib", "platform",
    "random", "secrets", "select", "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
"""Modules through which a pure function would meet the file system, the clock, chance or another process."""

PURE_EXCEPTIONS = {
    "place": {"pathlib": "a place holds a path as a value; nothing is read by it"},
    "sandbox.interface": {"pathlib": "paths are values in what is asked of a sandbox"},
    "runners.interface": {
        "pathlib": "paths are values in what is asked of a runner",
        "secrets": "the mark of one run's records must be one that the code under test cannot guess",
    },
}
"""Nouns and rules that may meet the world all the same, each with its reason. Only gets shorter."""

FAMILY_EXCEPTIONS: dict[tuple[str, str], str] = {}
"""(family, other family) → why its members may know the other's members. Only gets shorter."""

APP_EXCEPTIONS = {
    ("apps.cli.demo", "models.scripted"): "the demo is its scripted model",
}


def _belongs(name: str, places: tuple[str, ...] | list[str]) -> bool:
    return any(name == place or (place and name.startswith(place + ".")) for place in places)


def layer_of(name: str) -> str:
    """The layer of a module, by the most exact name first."""
    if name in NOUNS:
        return "nouns"
    if name in RULES:
        return "rules"
    for layer, places in (
        ("ground", GROUND), ("loop", LOOP), ("parts", FAMILIES), ("assembly", ASSEMBLY), ("apps", APPS)
    ):  # fmt: skip
        if _belongs(name, places):
            return layer
    raise AssertionError(f"{name} has no layer: say in tests/architecture/test_layers.py where it belongs")


def _own(module: Module) -> list[tuple[Import, str]]:
    return [(one, name) for one in imports(module) if (name := inner(one)) is not None]


def _problems(found: Iterator[str]) -> None:
    problems = list(found)
    assert not problems, "\n".join(problems)


def test_imports_point_down() -> None:
    """But for the front door, which names what it opens, lazily: test_surface.py pins it."""

    def found() -> Iterator[str]:
        for module in (m for m in modules() if m.name):
            mine = LAYERS.index(layer_of(module.name))
            for one, name in _own(module):
                theirs = "nouns" if name == "" else layer_of(name)  # of the package itself only its version
                if LAYERS.index(theirs) > mine:
                    yield f"{module.shown}:{one.line} ({LAYERS[mine]}) imports {name} ({theirs}), which lies above it"

    _problems(found())


def test_members_know_other_families_by_their_interface_only() -> None:
    def found() -> Iterator[str]:
        for module in (m for m in modules() if layer_of(m.name) == "parts"):
            family = module.name.split(".")[0]
            for one, name in _own(module):
                other = name.split(".")[0]
                foreign = other in FAMILIES and other != family and (family, other) not in FAMILY_EXCEPTIONS
                if foreign and name != f"{other}.interface":
                    yield f"{module.shown}:{one.line} imports {name}, a member of another family"

    _problems(found())


def test_the_loop_knows_interfaces_only() -> None:
    def found() -> Iterator[str]:
        for module in (m for m in modules() if layer_of(m.name) == "loop"):
            for one, name in _own(module):
                if layer_of(name) not in ("nouns", "rules", "loop") and name != "scope":
                    yield f"{module.shown}:{one.line} imports {name}: the loop may know nouns, rules and the scope"

    _problems(found())


def test_no_circles() -> None:
    """Also not through imports that only type checkers see, and not through imports inside functions."""
    graph = {m.name: {name for _, name in _own(m) if name != ""} for m in modules() if m.name}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, "a circle: " + " → ".join([*path[path.index(name) :], name])
        if name in done:
            return
        for target in sorted(graph.get(name, ())):
            walk(target, (*path, name))
        done.add(name)

    for name in sorted(graph):
        walk(name, ())


def test_nouns_and_rules_are_pure() -> None:
    """No input or output, no clock, no environment, no chance."""

    def found() -> Iterator[str]:
        for module in (m for m in modules() if layer_of(m.name) in ("nouns", "rules")):
            for one in imports(module):
                meets = inner(one) is None and one.target.split(".")[0] in WORLD and one.target != "urllib.parse"
                if meets and not one.typing_only and one.target not in PURE_EXCEPTIONS.get(module.name, {}):
                    yield f"{module.shown}:{one.line} imports {one.target}: nouns and rules are pure"

    _problems(found())


def test_programs_of_another_process_bring_everything_with_them() -> None:
    def found() -> Iterator[str]:
        for module in (m for m in modules() if _belongs(m.name, INSIDE)):
            folder = next(place for place in INSIDE if _belongs(module.name, (place,)))
            for one, name in _own(module):
                if not _belongs(name, (folder,)):
                    yield f"{module.shown}:{one.line} imports {name}, which is not there at run time"

    _problems(found())


def test_only_assembly_names_members() -> None:
    """Apps reach models, tools and runners through ``assemble``, so that a new member is one registry line."""

    def found() -> Iterator[str]:
        for module in (m for m in modules() if m.name and layer_of(m.name) == "apps"):
            for one, name in _own(module):
                member = name.split(".")[0] in ("models", "tools", "runners") and not name.endswith(".interface")
                if member and (module.name, name) not in APP_EXCEPTIONS:
                    yield f"{module.shown}:{one.line} imports {name}: apps ask assemble for members"

    _problems(found())
