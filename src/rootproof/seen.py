"""Earlier observations, as the view may show them again."""

from __future__ import annotations

from dataclasses import dataclass, field

from rootproof.event import Observed

TRAIL = 40
"""How many are kept for the view's working set; older ones are counted only."""


@dataclass(frozen=True)
class Seen:
    """One earlier observation."""

    step: int
    event: int
    observed: Observed
    shown: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """What the view has already made of it, by form: an observation never changes, and it is shown at many steps."""
