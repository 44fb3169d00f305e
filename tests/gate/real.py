"""The reference case as the Python project of ``examples``, on real pytest, contained where this machine can."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gate.reference import Played, Simulated, Store
from rootproof import assemble, canonical
from rootproof.contract_file import document_of
from rootproof.errors import ContainmentUnavailable
from rootproof.models.scripted import from_file
from rootproof.tools.interface import Declined, Observation, Request, Tool

SOURCE = Path(__file__).parents[2] / "examples" / "login-redirect" / "python"
LOGIN, CALLBACK = "src/shop/auth/login.py", "src/shop/auth/callback.py"
TESTS = "tests/auth/test_login_redirect.py"
REGRESSION, KEYS = f"{TESTS}::test_returns_to_requested_page", f"{TESTS}::test_session_key_contract"


@cache
def contained() -> bool:
    """Whether this machine can contain a test run."""
    loaded = assemble.load_contract(SOURCE / "contract.toml")
    try:
        assemble.choose_sandbox(loaded.contract.policy, SOURCE, assemble.Options())
    except ContainmentUnavailable:
        return False
    return True


def project(folder: Path) -> Path:
    """A fresh copy of the project."""
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv")
    shutil.copytree(SOURCE, folder, ignore=ignored, dirs_exist_ok=True)
    return folder


@dataclass
class Altered:
    """A real tool whose report a test changes: a tool that lies, on a run that is real."""

    tool: Tool
    change: Callable[[Observation], Observation]

    @property
    def spec(self) -> Any:
        return self.tool.spec

    def run(self, request: Request) -> Observation | Declined:
        report = self.tool.run(request)
        return report if isinstance(report, Declined) else self.change(report)


_REPORTS: dict[str, Observation | Declined] = {}


@dataclass
class Once:
    """A real tool that is entered once for the same request over the same tree; later its real report is given again.

    Every distinct outcome of the table is so a real test run, and none is run twice.
    """

    tool: Tool
    tree: str

    @property
    def spec(self) -> Any:
        return self.tool.spec

    def run(self, request: Request) -> Observation | Declined:
        key = canonical.digest([request.tool, request.input, self.tree])
        if key not in _REPORTS:
            _REPORTS[key] = self.tool.run(request)
        return _REPORTS[key]


class RealStore(Store):
    """The same place and the same ways of playing, with the real tools over the real project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = project(folder / "project")
        self.path = folder / "store" / "runs.sqlite3"

    def options(self, say: Any, tools: Any = None, *listeners: Any) -> assemble.Options:
        options = super().options(say, {}, *listeners)
        if not contained():
            options = replace(options, containment="none", trusted=True)
        return replace(options, interpreter=Path(sys.executable))

    def document(self, max_steps: int = 8) -> dict[str, Any]:
        document = document_of(self.root / "contract.toml")
        document["budget"]["max_steps"] = max_steps
        return document

    def real(self, say: Any = None, max_steps: int = 8, **changes: Callable[[Observation], Observation]) -> Played:
        """One whole run; a change given by a tool's name alters what that tool reports. No ``say``: the policy."""
        loaded = self.load(self.document(max_steps))
        case = assemble.assemble(loaded.contract, self.root, self.options([]))
        watched: dict[str, Any] = {}
        for name, tool in case.tools.items():
            once = Once(tool, canonical.digest(case.scope.manifest())) if name == "run_test" else tool
            inner = Altered(once, changes[name]) if name in changes else once
            watched[name] = Simulated(tool.spec, inner.run)

        def go(options: assemble.Options) -> Any:
            model = options.model if say is not None else from_file(self.root / "policy.py")
            return assemble.run(loaded, replace(options, model=model, tools=watched))

        return self.watch(watched, go, say or [])
