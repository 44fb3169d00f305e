"""How long a model is tried again before it counts as out of reach. A retry is no step of the run."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Limits of the retries of one call. All times are seconds."""

    tries: int = 4
    first: float = 1.0
    """The wait before the second try; doubled for each one after it, with some chance in it."""
    most: float = 60.0
    """The longest single wait. A server that asks for more is not waited for."""
    total: float = 120.0
    """All waits together."""

    def wait(self, tried: int, asked: float | None, waited: float, chance: random.Random) -> float | None:
        """Seconds to wait before the next try; None: there is none.

        Args:
            tried: tries so far.
            asked: what the server asked for, if it did.
            waited: what was waited for so far.
        """
        if tried >= self.tries:
            return None
        own = self.first * 2 ** (tried - 1)
        own = min(own + chance.uniform(0, own / 2), self.most)
        wait = own if asked is None else max(asked, 0.0)
        return wait if wait <= self.most and waited + wait <= self.total else None
