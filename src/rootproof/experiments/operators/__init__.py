"""Mutation operators: for one statement, the changes a person might have forgotten to make.

Each is built from what the module already says, plus 0, ±1, True, False, None and empty values. Order and content
depend on the source alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from rootproof.experiments.change import Edit
from rootproof.experiments.operators import blocks, conditions, conversions, guards, missing, values
from rootproof.experiments.operators.rewrite import Rewrite, as_edit, header_nodes
from rootproof.experiments.operators.vocabulary import Scope, Vocabulary, scope_of, vocabulary
from rootproof.experiments.sources import FunctionNode, Module, Statement

__all__ = ["Operators", "Rewrite"]

MOST_A_STATEMENT = 160


@dataclass
class Operators:
    """All operators over one module."""

    module: Module
    words: Vocabulary = field(init=False)
    functions: tuple[str, ...] = field(init=False)
    """Names of the module's own and imported functions that take a value and give one, at most eight."""

    scopes: dict[str, Scope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = vocabulary(self.module)
        self.functions = tuple(_one_argument(self.module))[:6]

    def edits(self, statement: Statement, costs: dict[str, float] | None = None) -> list[Edit]:
        """Edits of one statement, likely ones first. ``costs`` multiplies an operator's cost by name."""
        seen: set[str] = set()
        rated: list[tuple[float, int, Edit]] = []
        for rewrite in self.rewrites(statement):
            edit = as_edit(self.module, rewrite)
            if edit.new not in seen and edit.new != edit.old:
                seen.add(edit.new)
                rated.append((rewrite.cost * (costs or {}).get(rewrite.operator, 1.0), len(rated), edit))
        rated.sort(key=lambda entry: entry[:2])
        return [edit for _, _, edit in rated[:MOST_A_STATEMENT]]

    def rewrites(self, statement: Statement) -> Iterator[Rewrite]:
        module = self.module
        node = module.statement_nodes[statement.first]
        if statement.function not in self.scopes:
            self.scopes[statement.function] = scope_of(module.nodes.get(statement.function))
        scope = self.scopes[statement.function]
        yield from conversions.placeholders(module, statement, scope)
        yield from conditions.handlers(module, node, self.words)
        yield from blocks.augmented(module, node)
        yield from blocks.deletion(module, node)
        yield from blocks.exchange(module, node, _following(module, node))
        yield from guards.guard(module, statement, node, scope)
        yield from blocks.defaults(module, node)
        yield from missing.fresh_default(module, node)
        yield from missing.kept(module, node)
        yield from missing.steps(module, statement, node, scope)
        if isinstance(node, FunctionNode | ast.ClassDef):
            return
        for part, parent in header_nodes(node):
            yield from self._expression(part, parent, scope)

    def _expression(self, part: ast.AST, parent: ast.AST, scope: Scope) -> Iterator[Rewrite]:
        module, words = self.module, self.words
        yield from conditions.comparison(module, part)
        yield from conditions.boolean(module, part)
        yield from conditions.negation(module, part, parent)
        yield from conditions.truth(module, part, parent)
        yield from conditions.classes(module, part, words)
        yield from conditions.added_clause(module, part, parent, scope)
        yield from values.constant(module, part, words)
        yield from values.arithmetic(module, part)
        yield from values.name(module, part, parent, words, scope)
        yield from values.attribute(module, part, words, scope)
        yield from values.call(module, part, words, scope)
        yield from values.index(module, part)
        yield from values.choice(module, part)
        yield from guards.guarded(module, part, parent, scope)
        yield from missing.shifted(module, part, parent)
        yield from conversions.patterns(module, part)
        yield from conversions.wrapped(module, part, parent, words)
        yield from conversions.through(module, part, parent, self.functions)


def _following(module: Module, node: ast.stmt) -> ast.stmt | None:
    return module.statement_nodes.get((node.end_lineno or node.lineno) + 1)


def _one_argument(module: Module) -> Iterator[str]:
    """Functions of the module that take one argument, and names it imports from its own package that it calls so."""
    for name, node in module.nodes.items():
        if "." not in name and len(node.args.args) - len(node.args.defaults) == 1:
            yield name
    own = {
        alias.asname or alias.name
        for statement in module.tree.body
        if isinstance(statement, ast.ImportFrom) and statement.level
        for alias in statement.names
    }
    yield from sorted(name for name in own if name.islower())
