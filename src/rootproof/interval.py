"""The interval of a share that was counted: how sure a rate is after so many trials. Pure."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054
"""Two-sided 95 %."""


def wilson(hits: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a share (E. B. Wilson, 1927): low and high, from 0 to 1; (0, 1) where nothing was tried."""
    if not trials:
        return 0.0, 1.0
    share, square = hits / trials, z * z
    spread = 1 + square / trials
    middle = (share + square / (2 * trials)) / spread
    half = z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials)) / spread
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == trials else min(1.0, middle + half)
    return low, high
