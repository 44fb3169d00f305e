"""The form of a message as a grammar in GBNF, for models that run in this process. Shape is not authorisation.

It fixes the envelope, the names of tools and of their fields, and the kind of each value. It lists no test, no path and
no other value: which of them may be named stays for the model to choose and for ``policy`` to judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rootproof.models.requests import optional

MOST_CHARS = 300
"""Longest text value."""
MOST_STEPS = 12
"""Longest plan."""

_COMMON = rf"""
string ::= "\"" char{{0,{MOST_CHARS}}} "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/nt] | "u" plane)
plane ::= [0-9a-cefA-CEF] [0-9a-fA-F]{{3}} | [dD] [0-7] [0-9a-fA-F]{{2}}
integer ::= "-"? ("0" | [1-9] [0-9]{{0,8}})
flag ::= "true" | "false"
value ::= string | integer | flag | "null"
object ::= "{{" (string ": " value (", " string ": " value){{0,5}})? "}}"
list ::= "[" (item (", " item){{0,5}})? "]"
item ::= string | object
"""


def grammar(seen: Mapping[str, Any]) -> str:
    """The grammar of every message whose tool and fields a view names: actions, or in plan mode plans of them."""
    rules: list[str] = []
    names = []
    for number, (tool, told) in enumerate(sorted(seen.get("tools", {}).items())):
        names.append(f"tool{number}")
        rules += _tool(f"tool{number}", str(tool), told.get("input", {}))
    final = _literal('{"type": "final"}')
    actions = " | ".join(names) or final
    if seen.get("mode") == "plan":
        head, comma, tail = (_literal(text) for text in ('{"type": "plan", "steps": [', ", ", "]}"))
        steps = f"step ({comma} step){{0,{MOST_STEPS - 1}}}"
        rules.insert(0, f"step ::= {actions}\nplan ::= {head} {steps} {tail}")
        actions = "plan"
    rules.insert(0, f"root ::= {actions} | {final}")
    return "\n".join(rules) + _COMMON


def _tool(rule: str, tool: str, fields: Mapping[str, str]) -> list[str]:
    """Required fields in their order, then each optional one or not."""
    needed = [name for name, takes in fields.items() if not optional(takes)]
    parts = [_literal('{"type": "action", "tool": ' + json.dumps(tool) + ', "input": {')]
    for number, name in enumerate(needed):
        comma = ", " if number else ""
        parts.append(f"{_literal(comma + json.dumps(name) + ': ')} {_kind(fields[name])}")
    if needed:
        for name in (name for name in fields if name not in needed):
            parts.append(f"({_literal(', ' + json.dumps(name) + ': ')} {_kind(fields[name])})?")
    parts.append(_literal("}}"))
    return [f"{rule} ::= {' '.join(parts)}"]


def _kind(takes: str) -> str:
    words = {"whole number": "integer", "true or false": "flag", "list": "list"}
    return next((rule for start, rule in words.items() if takes.startswith(start)), "string")


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
