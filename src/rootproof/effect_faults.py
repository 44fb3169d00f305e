"""What is wrong in how a tool declares its effect: every fault at once, each with its mend. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from rootproof.contract_parts import near
from rootproof.errors import Fault
from rootproof.tools.interface import REACHES, ToolSpec

APPROVALS = ("person",)
CHANGES = ("write", "deploy")
"""Reaching these changes something, whatever a tool says of itself."""
_NEEDED = "such a tool needs idempotency key, approval rule and compensation"


def effect_faults(spec: ToolSpec) -> Iterator[Fault]:
    """The faults of one declaration; none for a tool that only looks and says so."""
    place = f"tools.{spec.name}"
    for name in spec.reaches:
        if name not in REACHES:
            yield Fault(place, f"it reaches {name!r}, which nothing is called", near(name, REACHES))
    for name in (name for name in CHANGES if name in spec.reaches and spec.effect == "none"):
        yield Fault(place, f"it reaches {name} and declares no effect", "declare it idempotent or side_effect")
    if spec.effect == "side_effect":
        yield from _side_effect(spec, place)
    elif spec.side.approval and spec.side.approval not in APPROVALS:
        yield Fault(
            place, f"its approval rule {spec.side.approval!r} does not exist", near(spec.side.approval, APPROVALS)
        )


def _side_effect(spec: ToolSpec, place: str) -> Iterator[Fault]:
    for key in (key for key, value in vars(spec.side).items() if not value.strip()):
        yield Fault(place, f"it has a side effect and declares no {key}", _NEEDED)
    if not spec.reaches:
        yield Fault(place, "it has a side effect and declares nothing that it reaches", near("", REACHES))
    if spec.side.approval and spec.side.approval not in APPROVALS:
        yield Fault(
            place, f"its approval rule {spec.side.approval!r} does not exist", near(spec.side.approval, APPROVALS)
        )
    if spec.repeatable:
        yield Fault(place, "it has a side effect and is repeatable", "a side effect happens once for one input")
    fields = {field.name for field in spec.fields}
    for name in spec.side.key_fields:
        if name not in fields:
            yield Fault(place, f"its idempotency key names {name!r}, which is no input field of it", near(name, fields))
