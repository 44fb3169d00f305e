"""Values of side-effect-free expressions at one line while tests run: what may be asked, the request, what came back.

An expression is a path of names, attributes and constant items, or a comparison of two such. It names a variable or an
attribute path; one that is a literal, or would call something, is refused with the reason and never sent.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof.experiments.trace import Subject, engine_command, records
from rootproof.sandbox.interface import Command, Completed, Limits
from rootproof.text import visible

MOST_VALUES = 12
MOST_EXPRESSIONS = 8
DEPTH = 8
Plan = list[Any]
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not",
}  # fmt: skip


@dataclass(frozen=True)
class NotProbed:
    """An expression that is not evaluated, and why."""

    expression: str
    why: str


@dataclass(frozen=True)
class Seen:
    """What one expression was in one test."""

    test: str
    status: str
    expression: str
    hits: int
    values: tuple[str, ...]
    last: str
    refused: str


def plan_of(expression: str) -> Plan | NotProbed:
    """The plan of one expression, or why it is not evaluated."""
    if len(expression) > 200:
        return NotProbed(expression[:80], "it is longer than 200 characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        plan = _plan(tree, DEPTH)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return NotProbed(expression, str(getattr(error, "msg", error)))
    if not _names(plan):
        return NotProbed(expression, "it names no variable: a literal says nothing of the run")
    return plan


def _plan(node: ast.expr, depth: int) -> Plan:
    if depth == 0:
        raise ValueError(f"it is deeper than {DEPTH} steps")
    if isinstance(node, ast.Name):
        return ["name", node.id]
    if isinstance(node, ast.Attribute):
        return ["attr", _plan(node.value, depth - 1), node.attr]
    if isinstance(node, ast.Subscript):
        return ["item", _plan(node.value, depth - 1), _constant(node.slice)]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        operator = _COMPARISONS.get(type(node.ops[0]))
        if operator is None:
            raise ValueError("only == != < <= > >= is and is not are evaluated")
        return ["compare", operator, _plan(node.left, depth - 1), _plan(node.comparators[0], depth - 1)]
    if isinstance(node, ast.Constant | ast.UnaryOp):
        return ["const", _constant(node)]
    if isinstance(node, ast.Call | ast.Await):
        raise ValueError("it calls something, which may run code")
    raise ValueError(f"{type(node).__name__} is not evaluated: name variables, attributes, constant items, comparisons")


def _constant(node: ast.expr) -> str | int | float | bool | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (str, int, float, bool)):
        return node.value  # type: ignore[return-value]
    raise ValueError("only a constant text, number, boolean or None can stand there")


def _names(plan: Plan) -> bool:
    return plan[0] == "name" or any(_names(part) for part in plan[1:] if isinstance(part, list))


@dataclass(frozen=True)
class Look:
    """One look at one line."""

    tests: tuple[str, ...]
    file: str
    line: int
    plans: tuple[Plan, ...]


def probe_command(subject: Subject, look: Look, scratch: Path, seconds: float) -> Command:
    """Run the tests in one process and look at the line."""
    request = {
        "kind": "probe",
        "files": list(dict.fromkeys(test.split("::")[0] for test in look.tests)),
        "tests": list(look.tests),
        "file": look.file,
        "line": look.line,
        "plans": list(look.plans),
        "most": MOST_VALUES,
    }
    limits = Limits(seconds=seconds, cpu_seconds=seconds, memory_mb=4096)
    return engine_command(subject, request, scratch, limits)


def read_probe(completed: Completed, expressions: Sequence[str]) -> tuple[list[Seen], str]:
    """What was seen, and what went wrong; records of another shape are dropped."""
    good, _ = records(completed)
    found = [seen for record in good if "probed" in record for seen in _seen(record, expressions)]
    missing = next((str(record["missing"]) for record in good if "missing" in record), "")
    if missing:
        return found, f"there is no test {missing}"
    if not found:
        said = completed.stderr.text() + completed.stdout.text()
        return found, f"no test ran: {visible(said[-500:])}"
    return found, ""


def _seen(record: Mapping[str, Any], expressions: Sequence[str]) -> list[Seen]:
    columns = [record.get(name) for name in ("values", "last", "refused")]
    if any(not isinstance(column, list) or len(column) != len(expressions) for column in columns):
        return []
    values, last, refused = columns
    assert values is not None and last is not None and refused is not None
    return [
        Seen(
            visible(str(record["probed"])),
            str(record.get("status", "")),
            expression,
            record["hits"] if type(record.get("hits")) is int else 0,
            tuple(visible(str(value))[:300] for value in list(values[number])[:MOST_VALUES]),
            visible(str(last[number]))[:300],
            visible(str(refused[number]))[:200],
        )
        for number, expression in enumerate(expressions)
    ]
