"""What is wrong in a contract's workflow: every fault at once, each with place, finding and mend. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rootproof import criterion, policy
from rootproof.contract import Scope
from rootproof.contract_parts import Findings, Parts, near
from rootproof.criteria_faults import known_facts
from rootproof.plan import WorkflowStep
from rootproof.tools.interface import Field, ToolSpec


def laid_faults(parts: Parts, catalog: Mapping[str, ToolSpec], found: Findings) -> None:
    """Judge the steps as far as they can be judged before the run: what lies on disk is looked at in their turn."""
    if parts.mode == "workflow" and not parts.laid:
        found.fault("workflow", "the mode is workflow and no step is laid down", "write each as [[workflow]]")
    if parts.mode != "workflow" and parts.laid:
        found.fault("workflow", f"steps are laid down, and the mode is {parts.mode}", 'write mode = "workflow"')
    for number, step in parts.workflow:
        place = f"workflow[{number}]"
        _tool(parts, catalog, place, step, found)
        if step.when:
            _when(parts, catalog, f"{place}.when", step.when, found)


def _tool(parts: Parts, catalog: Mapping[str, ToolSpec], place: str, step: WorkflowStep, found: Findings) -> None:
    spec = catalog.get(step.tool)
    if spec is None or (parts.tools is not None and step.tool not in parts.tools):
        known = parts.tools or catalog
        found.fault(f"{place}.tool", f"the tool {step.tool!r} is not allowed in [tools]", near(step.tool, known))
        return
    names = [field.name for field in spec.fields]
    for name in step.input:
        if name not in names:
            found.fault(f"{place}.input.{name}", f"{spec.name} has no such field", near(name, names))
    settings = (parts.tools or {}).get(spec.name, {})
    for field in spec.fields:
        if field.name in step.input:
            problem = policy.mistyped(settings, field, step.input[field.name])
            if problem:
                found.fault(f"{place}.input.{field.name}", problem, field.doc)
        elif field.required:
            found.fault(f"{place}.input.{field.name}", "it is missing", field.doc)
    for field, name, value in policy.named_values(spec, step.input):
        for problem, mend in _outside(parts.scope, field, value):
            found.fault(f"{place}.input.{name}", problem, mend)


def _outside(scope: Scope | None, field: Field, value: object) -> Iterator[tuple[str, str]]:
    if scope is None or not isinstance(value, str):
        return
    if field.kind == "name" and not scope.allows(field.of, value):
        yield f"{value!r} is not among scope.{field.of}", near(value, scope.lists(field.of))
    elif field.kind == "path" and scope.denied(value):
        yield f"{value!r} is a secret file", "secrets are never readable"
    elif field.kind == "path" and field.of != "folder" and not scope.readable(value):
        yield f"{value!r} is not among scope.read", near(value, scope.read)


def _when(parts: Parts, catalog: Mapping[str, ToolSpec], place: str, text: str, found: Findings) -> None:
    try:
        parsed = criterion.parse(text)
    except criterion.Unreadable as error:
        found.fault(place, f"{text!r}: {error}", "write names of facts, comparisons, and/or/not")
        return
    known = known_facts(parts, catalog)
    for name in parsed.names if parts.whole else ():
        if name not in known:
            found.fault(place, f"no evidence can make the fact {name!r}", near(name, known))
