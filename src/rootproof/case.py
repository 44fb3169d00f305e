"""A case: everything one investigation needs besides its ledger. It decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rootproof import evidence
from rootproof.contract import Contract
from rootproof.frame import Frame
from rootproof.models.interface import Model
from rootproof.scope import Scope
from rootproof.tools.interface import Tool


@dataclass(frozen=True)
class Case:
    """Everything one investigation needs besides its ledger."""

    contract: Contract
    model: Model
    tools: Mapping[str, Tool]
    scope: Scope
    frame: Frame
    checks: Mapping[str, evidence.Check] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """Values that are masked at capture, before anything is stored."""
