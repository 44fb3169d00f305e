"""What a model is: something that turns a view into one raw message. It has no other power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class View:
    """What a model is shown: text, detached from the state it was rendered from."""

    text: str
    """One JSON object. Its first ``fixed`` characters are the same at every step of a run."""
    fixed: int = 0


@dataclass(frozen=True)
class Reply:
    """One raw message, and how the model's turn ended."""

    text: str
    finish: str = "stop"
    """A key of ``protocol.FINISHES``. Anything but ``stop`` is a parse error with that name."""
    tokens: int = 0
    """Tokens of prompt and reply together, as the provider counted them; 0 where there is nothing to count."""
    cost: float = 0.0
    """Money in US dollars where prices are known."""
    label: str = ""
    """The provider's own id for the call. Stored, never used."""


class Model(Protocol):
    """One proposer."""

    @property
    def name(self) -> str:
        """How the ledger names it, without keys or addresses."""
        ...

    def propose(self, view: View) -> Reply:
        """One message for one view.

        Raises:
            ModelUnavailable: out of reach after its retries; the run is interrupted and can be resumed.
        """
        ...
