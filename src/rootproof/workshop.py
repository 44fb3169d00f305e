"""Assembly of tools: options, runner, sandbox and engine, and the tools of one case over them. Part of ``assemble``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rootproof.canonical import digest
from rootproof.contract import Contract as Document
from rootproof.contract import Policy, file_of
from rootproof.errors import ContainmentUnavailable, UsageError
from rootproof.ledger.lease import LEASE_SECONDS
from rootproof.ledger.watched import Listener
from rootproof.scope import Scope
from rootproof.tools.interface import Tool

if TYPE_CHECKING:
    from rootproof.experiments.engine import Engine
    from rootproof.models.interface import Model
    from rootproof.runners.detect import Choice
    from rootproof.runners.interface import Runner
    from rootproof.sandbox.interface import Sandbox

ALIAS_PREFIX = "command:"
"""Before the alias of a test program that the user's own configuration defines."""


@dataclass(frozen=True)
class Options:
    """How a run is carried out: what flags and the user's own configuration decide, never a contract."""

    store: str | Path | None = None
    """A file, or ``postgresql://...``; none: the default."""
    lease: float = LEASE_SECONDS
    """Seconds after which a run whose process fell silent may be taken over."""
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
    runner: str = ""
    """The test runner, whatever the contract says; empty: as it says."""
    tell: Callable[[str], None] | None = None
    """Told how far a long action is; shown, never kept."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools that the caller brings along; they stand in for those of the same name, as simulated ones do."""


class Workshop:
    """Builds the tools of one case; what several of them share is built once, when it is first needed."""

    def __init__(self, contract: Document, scope: Scope, options: Options) -> None:
        self.contract = contract
        self.scope = scope
        self.options = options
        self._runners: dict[str, Choice] = {}
        """By test file."""

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
        if name == "run_test":
            return self._run_test(settings)
        raise UsageError(f"this installation has no tool {name}", "run it from the program that brings the tool along")

    def _try_change(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.try_change import TryChange

        runner = self.runner(str(settings.get("target") or self._first))
        made = TryChange(self.scope, runner, self.sandbox, settings, self.options.interpreter)
        made.tell, made.lent = self.tell, lambda test, tree: self.engine.lent(test, tree)
        return made

    def tell(self, text: str) -> None:
        """Pass on how far an action is, to whoever wants to know."""
        if self.options.tell is not None:
            self.options.tell(text)

    def _history(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.history import History

        return History(self.scope, self.sandbox, settings)

    def _try_condition(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.try_condition import TryCondition

        runner = self.runner(str(settings.get("target") or self._first))
        return TryCondition(self.scope, runner, self.sandbox, settings, self.options.interpreter)

    def _run_test(self, settings: Mapping[str, Any]) -> Tool:
        from rootproof.tools.run_test import RunTest

        self.runner(self._first)  # a repository in which nothing can run is told before anything is begun
        return RunTest(
            root=self.scope.root,
            scope=self.contract.scope,
            runner=self.runner,
            sandbox=self.sandbox,
            settings=settings,
            interpreter=self.options.interpreter,
            hidden=self.hidden,
        )

    @property
    def _first(self) -> str:
        return next(iter(self.contract.scope.tests), "")

    def runner(self, test: str) -> Runner:
        """The runner for one test: in a monorepo each package may have its own. The user is told a choice once.

        Raises:
            NotRunnable: none fits.
        """
        file = file_of(test)
        if file not in self._runners:
            named = self.options.runner or self.contract.tools.get("run_test", {}).get("runner", "auto")
            choice = choose_runner(str(named), self.scope.root, test)
            told = choice.reason in {known.reason for known in self._runners.values()}
            if self.options.notify and not told and (named == "auto" or self.options.runner):
                self.options.notify(f"tests run with {choice.reason}")
            self._runners[file] = choice
        return self._runners[file].runner

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
        from rootproof.tools.site import test_files

        def subject(test: str) -> Subject:
            project = self.runner(test).project(self.scope.root, file_of(test), self.options.interpreter)
            python = project.interpreter or Path(sys.executable)
            return Subject(project.root, python, readable=project.readable, hidden=self.hidden)

        jobs = len(os.sched_getaffinity(0))
        tests = test_files(self.contract.scope, tuple(self.scope.files()), self._first)
        sources = Sources(self.scope.root)
        return Engine(subject, self.sandbox, tests, sources, jobs, self.tell, lambda: digest(self.scope.manifest()))


def choose_runner(name: str, root: Path, test: str = "") -> Choice:
    """The runner that is named, or the one that fits the test's own package, else the repository; and why.

    Raises:
        NotRunnable: none fits.
        UsageError: no runner has the name, or the user's configuration no such alias.
    """
    if name.startswith(ALIAS_PREFIX):
        return _own_program(name, root)
    from rootproof.runners.detect import choose
    from rootproof.runners.node_test import NodeTest
    from rootproof.runners.pytest import Pytest
    from rootproof.runners.unittest import Unittest
    from rootproof.runners.vitest import Vitest

    return choose((Pytest(), Unittest(), Vitest(), NodeTest()), root, test, name)


def _own_program(name: str, root: Path) -> Choice:
    from rootproof import configuration
    from rootproof.runners.command import CommandRunner, Program
    from rootproof.runners.detect import Choice

    own = configuration.program(name.removeprefix(ALIAS_PREFIX), root)
    runner = CommandRunner(Program(own.argv, own.reports, own.readable), name=name)
    return Choice(runner, f"{name}, {own.argv[0]} as {configuration.place()} says")


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
