"""Assembly of tools: options, runner, sandbox and engine, and the tools of one case over them. Part of ``assemble``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rootproof.contract import Contract as Document
from rootproof.contract import Policy, file_of
from rootproof.errors import (
    ContainmentUnavailable,
)
from rootproof.ledger.watched import Listener
from rootproof.scope import Scope
from rootproof.tools.interface import Tool

if TYPE_CHECKING:
    from rootproof.experiments.engine import Engine
    from rootproof.models.interface import Model
    from rootproof.runners.interface import Runner
    from rootproof.sandbox.interface import Sandbox


@dataclass(frozen=True)
class Options:
    """How a run is carried out: what flags and the user's own configuration decide, never a contract."""

    store: Path | None = None
    model: str | Model = "human"
    containment: Literal["best", "none"] = "best"
    trusted: bool = False
    """The user trusts the repository with this machine: needed for ``containment`` none."""
    interpreter: Path | None = None
    root: Path | None = None
    """Where the repository lies, if not where the contract or the run says."""
    listeners: tuple[Listener, ...] = ()
    record: Path | None = None
    """File that the model's traffic is appended to."""
    suggest: bool = False
    """List concrete admissible requests in the view. Marked in the ledger."""
    notify: Callable[[str], None] | None = None
    """Told, before the first model call, what leaves the machine."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools that stand in for those of the same name, such as simulated ones."""


class Workshop:
    """Builds the tools of one case; what several of them share is built once, when it is first needed."""

    def __init__(self, contract: Document, scope: Scope, options: Options) -> None:
        self.contract = contract
        self.scope = scope
        self.options = options

    def tool(self, name: str) -> Tool:
        """The tool of that name, under the contract's settings."""
        from rootproof.tools import list_files, probe, read_file, search_changes, search_code, trace_test

        settings = self.contract.tools[name]
        plain: dict[str, Callable[..., Tool]] = {
            "read_file": read_file.ReadFile,
            "search_code": search_code.SearchCode,
            "list_files": list_files.ListFiles,
        }
        if name in plain:
            return plain[name](self.scope, settings)
        searching: dict[str, Callable[..., Tool]] = {
            "trace_test": trace_test.TraceTest,
            "probe": probe.Probe,
            "search_changes": search_changes.SearchChanges,
        }
        if name in searching:
            return searching[name](self.engine, settings)
        if name == "history":
            return self._history(settings)
        if name == "try_change":
            return self._try_change(settings)
        if name == "try_condition":
            return self._try_condition(settings)
        return self._run_test(settings)

    def _try_change(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.try_change import TryChange

        return TryChange(self.scope, self.runner, self.sandbox, settings, self.options.interpreter)

    def _history(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.history import History

        return History(self.scope, self.sandbox, settings)

    def _try_condition(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.try_condition import TryCondition

        return TryCondition(self.scope, self.runner, self.sandbox, settings, self.options.interpreter)

    def _run_test(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.run_test import RunTest

        return RunTest(
            root=self.scope.root,
            scope=self.contract.scope,
            runner=self.runner,
            sandbox=self.sandbox,
            settings=settings,
            interpreter=self.options.interpreter,
            hidden=self.hidden,
        )

    @cached_property
    def runner(self) -> Runner:
        named = self.contract.tools.get("run_test", {}).get("runner", "auto")
        return choose_runner(str(named), self.scope.root)

    @cached_property
    def sandbox(self) -> Sandbox:
        return choose_sandbox(self.contract.policy, self.scope.root, self.options)

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        return self.scope.secrets()

    @cached_property
    def engine(self) -> Engine:
        from rootproof.experiments.engine import Engine
        from rootproof.experiments.sources import Sources
        from rootproof.experiments.trace import Subject

        def subject(test: str) -> Subject:
            project = self.runner.project(self.scope.root, file_of(test), self.options.interpreter)
            python = project.interpreter or Path(sys.executable)
            return Subject(project.root, python, readable=project.readable, hidden=self.hidden)

        jobs = len(os.sched_getaffinity(0))
        return Engine(subject, self.sandbox, self.contract.scope.tests, Sources(self.scope.root), jobs)


def choose_runner(name: str, root: Path) -> Runner:
    """The runner a contract names, or the one that fits the repository.

    Raises:
        NotRunnable: none fits.
    """
    from rootproof.runners.detect import choose
    from rootproof.runners.node_test import NodeTest
    from rootproof.runners.pytest import Pytest
    from rootproof.runners.unittest import Unittest
    from rootproof.runners.vitest import Vitest

    return choose((Pytest(), Unittest(), Vitest(), NodeTest()), root, named=name).runner


def choose_sandbox(policy: Policy, root: Path, options: Options) -> Sandbox:
    """The strongest containment that works here, or none where the user said so by both flags.

    Raises:
        ContainmentUnavailable: below the least level the contract accepts.
    """
    if options.containment == "none":
        if not options.trusted:
            raise ContainmentUnavailable(
                "--containment none lets the tests do whatever you can do",
                "add --trust-this-repository if you would run its tests by hand",
            )
        from rootproof.sandbox.bare import Bare

        return Bare()
    from rootproof.sandbox.choose import strongest

    return strongest(policy.containment, root)
