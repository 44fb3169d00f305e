"""The contract of a diagnosis: generated, shown and saved before the run, with all its numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rootproof.contract import SCHEMA, file_of

READABLE = {
    "pytest": ("**/*.py", "**/*.toml", "**/*.cfg", "**/*.ini"),
    "unittest": ("**/*.py", "**/*.toml", "**/*.cfg", "**/*.ini"),
    "vitest": ("**/*.ts", "**/*.tsx", "**/*.js", "**/*.mjs", "**/*.cjs", "**/*.json"),
    "node_test": ("**/*.ts", "**/*.js", "**/*.mjs", "**/*.cjs", "**/*.json"),
}
FACTS = {
    "reproduced": "the target fails alone and in file order with one signature, and containment is not why",
    "read": "the changed spans were read in this run and the tree is still the same",
    "executed": "the unchanged failing run executes an edited place",
    "confirmed": "the change flips the target in interleaved cold pairs, and every control holds",
    "not_masked": "the change hides nothing: no mask rule applies",
}


CONDITIONS = {
    "order": "with a set of other tests before it the target fails, without them it passes, in interleaved cold pairs",
    "environment": "the target's outcome follows one variable, locale, zone or seed, in interleaved cold pairs",
    "flaky": "the target both passes and fails under one tree and equal conditions",
}
"""The other kinds of conclusion, each with its own row of evidence."""

BOUND = {"cause_lies_in": "place", "cause_grade": "grade", "failure": "signature"}
CONDITION_BOUND = {"cause_lies_in": "condition", "cause_grade": "grade", "failure": "signature"}
ANSWER = "{{ failure }}: the cause lies in {{ cause_lies_in }}, confirmed by intervention, grade {{ cause_grade }}."


@dataclass(frozen=True)
class Numbers:
    """The budget of one diagnosis. Flags override."""

    steps: int = 40
    seconds: float = 600.0
    cpu_seconds: float = 600.0
    test_runs: int = 1_000
    model_tokens: int = 200_000
    no_progress: int = 6


def terms(
    target: str, runner: str, files: Sequence[str], numbers: Numbers, grade: str = "", context: str = ""
) -> dict[str, Any]:
    """The contract for one red test, as plain data.

    Args:
        files: every test file of the project; the target's own counts as one, whatever its name.
        grade: ``A`` where only that is good enough.
        context: a bug report or statement of intent; quoted, unverified text for the model.
    """
    python = runner in ("pytest", "unittest")
    tests = list(dict.fromkeys((*files, file_of(target))))
    expect: dict[str, Any] = {"verdict": "supported"}
    if grade == "A":
        expect["grade"] = "A"
    goal = f"Find the cause of the failure of {target}."
    if context:
        goal += f" Somebody said of it, unverified: {context[:1500]!r}"
    return {
        "schema": SCHEMA,
        "goal": goal[:2000],
        "mode": "react",
        "scope": {"root": ".", "read": list(READABLE.get(runner, ("**/*",))), "tests": tests},
        "budget": _budget(numbers),
        "policy": {"on_invalid_input": "reject", "containment": "contained"},
        "tools": {
            "run_test": {"runner": runner},
            "search_code": {"mode": "literal"},
            "read_file": {},
            "list_files": {},
            "history": {},
            **({name: {"target": target} for name in ("trace_test", "search_changes", "probe")} if python else {}),
            "try_change": {"target": target, "runner": runner},
            "try_condition": {"target": target, "runner": runner},
        },
        "evidence": [
            *(_item(name, means, target, expect) for name, means in FACTS.items()),
            *(_condition(kind, means, target, expect) for kind, means in CONDITIONS.items()),
        ],
        "completion": {"all": [" or ".join([name, *CONDITIONS]) for name in FACTS]},
        "answer": {"template": ANSWER},
    }


def _budget(numbers: Numbers) -> dict[str, Any]:
    return {
        "max_steps": numbers.steps,
        "max_consecutive_parse_errors": 2,
        "max_consecutive_invalid_actions": 3,
        "max_no_progress": numbers.no_progress,
        "seconds": numbers.seconds,
        "cpu_seconds": numbers.cpu_seconds,
        "test_runs": numbers.test_runs,
        "model_tokens": numbers.model_tokens,
    }


def _condition(kind: str, means: str, target: str, expect: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": kind,
        "means": means,
        "tool": "try_condition",
        "where": {"kind": kind, "target": target},
        "expect": expect,
        "check": f"root_cause.{kind}",
        "about": "subject",
        "bind": CONDITION_BOUND,
    }


def _item(name: str, means: str, target: str, expect: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "means": means,
        "tool": "try_change",
        "where": {"target": target},
        "expect": expect,
        "check": f"root_cause.{name}",
        "about": "subject",
        **({"bind": BOUND} if name == "confirmed" else {}),
    }


def as_toml(document: dict[str, Any]) -> str:
    """The same document as a TOML file that a person can edit and run."""
    head = ["# A diagnosis, as agreed before it began. Edit it, then: rootproof run THIS-FILE --model ...", ""]
    body = [f"{key} = {_value(value)}" for key, value in document.items() if not isinstance(value, dict | list)]
    for key, value in document.items():
        if isinstance(value, dict):
            body += _table(key, value)
        elif isinstance(value, list):
            for item in value:
                body += ["", f"[[{key}]]", *(f"{k} = {_value(v)}" for k, v in item.items())]
    return "\n".join([*head, *body]) + "\n"


def _table(name: str, value: dict[str, Any]) -> list[str]:
    plain = [f"{k} = {_value(v)}" for k, v in value.items() if not isinstance(v, dict)]
    inner = [line for k, v in value.items() if isinstance(v, dict) for line in _table(f"{name}.{k}", v)]
    return ["", f"[{name}]", *plain, *inner]


def _value(value: Any) -> str:
    import json

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # A JSON string is a TOML basic string, once what TOML forbids in it (the delete character) is escaped.
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
