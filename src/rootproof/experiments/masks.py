"""Masks: changes that make a test pass without mending anything. One that breaks a rule of these never confirms.

Pure, on the syntax trees of old and new source, the text of the test and what the failing run showed. Guards on data,
a widened ``except`` or ``isinstance`` and a deleted statement are real fixes too: they are no masks.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rootproof.experiments import mask_flow, mask_reach, mask_results, script_source
from rootproof.experiments.mask_paths import protected
from rootproof.experiments.mask_values import Assertion, operand_values, planted

RULES = (
    "edits_test", "edits_fixture", "edits_configuration", "edits_snapshot", "edits_dependency", "unparseable",
    "added_skip_or_exit", "foreign_assignment", "constant_comparison", "detects_the_run", "planted_value",
    "catch_all", "empty_handler", "early_return", "constant_condition", "constant_result", "emptied_function",
)  # fmt: skip
"""Every rule by its stable name, in the order in which they are reported."""

_TREES: tuple[tuple[str, Callable[[ast.Module, ast.Module], Iterator[tuple[int, str]]]], ...] = (
    ("added_skip_or_exit", mask_flow.added_stops),
    ("foreign_assignment", mask_reach.foreign_assignments),
    ("detects_the_run", mask_reach.new_reads),
    ("catch_all", mask_flow.catch_alls),
    ("empty_handler", mask_flow.empty_handlers),
    ("early_return", mask_flow.early_returns),
    ("constant_condition", mask_flow.constant_conditions),
    ("constant_result", mask_results.constant_returns),
    ("emptied_function", mask_results.emptied),
)


@dataclass(frozen=True)
class Broken:
    """One rule that a change breaks, and where."""

    rule: str
    file: str
    line: int
    detail: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.file}:{self.line}: {self.detail}"


@dataclass(frozen=True)
class Case:
    """A change as the rules see it."""

    old: Mapping[str, bytes]
    """The changed files as they are."""
    new: Mapping[str, bytes]
    """The same files with the change."""
    tests: Collection[str] = ()
    """Files known to hold tests."""
    assertion: Assertion | None = None
    """None before the failure is known: then planted values are not looked for."""
    paired: Collection[str] = ()
    """Text of the spans that form one subject with the change."""


def forbidden_files(paths: Collection[str], tests: Collection[str] = ()) -> tuple[Broken, ...]:
    """The rules that are about which files are edited."""
    found = ((protected(path, tests), path) for path in paths)
    return tuple(Broken(rule, path, 1, "no change here can show a cause") for rule, path in found if rule)


def broken(case: Case) -> tuple[Broken, ...]:
    """Every rule the change breaks, in the order of :data:`RULES`; empty where it is no mask."""
    found = list(forbidden_files(tuple(case.new), case.tests))
    operands = operand_values(case.assertion) if case.assertion else {}
    spans = (_parsed(textwrap.dedent(text).encode()) for text in case.paired)
    paired = [tree for tree in spans if tree]
    for file, data in case.new.items():
        if not file.endswith(".py"):
            found.extend(_by_tokens(case, file, operands))
            continue
        old, new = _parsed(case.old.get(file, b"")), _parsed(data)
        if old is None or new is None:
            found.append(Broken("unparseable", file, 1, "it is no Python that can be judged"))
            continue
        for rule, look in _TREES:
            found.extend(Broken(rule, file, line, detail) for line, detail in look(old, new))
        found.extend(
            Broken("constant_comparison", file, line, f"{name} always gives the same")
            for name, line, constant in mask_reach.new_comparisons(old, new)
            if constant
        )
        found.extend(Broken("planted_value", file, line, d) for line, d in planted(old, new, paired, operands))
    return tuple(sorted(found, key=lambda each: (RULES.index(each.rule), each.file, each.line)))


def _by_tokens(case: Case, file: str, operands: dict[object, Any]) -> Iterator[Broken]:
    """Rules for a language without a syntax tree here; one that is not known at all cannot be judged."""
    if not script_source.is_script(file):
        if not protected(file, case.tests):
            yield Broken("unparseable", file, 1, "changes of this kind of file cannot be judged")
        return
    for rule, line, detail in script_source.broken(case.old.get(file, b""), case.new[file], case.paired, operands):
        yield Broken(rule, file, line, detail)


def _parsed(data: bytes) -> ast.Module | None:
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def tree_of(data: bytes) -> ast.Module | None:
    """The syntax tree of a Python file, None where it has none."""
    return _parsed(data)
