"""Whether an action may be done now: the contract's judgement, with every path as it lies on disk at this moment."""

from __future__ import annotations

from dataclasses import replace

from rootproof import policy
from rootproof.case import Case
from rootproof.protocol import Action


def authorise(case: Case, action: Action) -> policy.Verdict:
    """Judge one action. Asked again it looks again: what was allowed an hour ago may not be so now."""
    tool = case.tools.get(action.tool)
    spec = tool.spec if tool else None
    if spec is not None:
        action = replace(action, input=policy.relative_names(spec, action.input, f"{case.scope.root}/"))
    named = policy.named_values(spec, action.input) if spec else ()
    places = {
        name: case.scope.locate(value)
        for field, name, value in named
        if field.kind == "path" and isinstance(value, str)
    }
    return policy.authorise(case.contract, spec, action, places)
