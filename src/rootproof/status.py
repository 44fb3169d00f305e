"""How a run can stand or end, and the exit status of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Status = Literal[
    "running",
    "success",
    "failed",
    "blocked",
    "max_steps",
    "budget",
    "waiting",
    "undetermined",
    "interrupted",
    "cancelled",
]
EXIT_STATUS: Mapping[str, int] = {
    "success": 0,
    "failed": 1,
    "blocked": 3,
    "max_steps": 4,
    "budget": 5,
    "waiting": 6,
    "undetermined": 7,
    "interrupted": 8,
    "cancelled": 130,
}
RESUMABLE = ("waiting", "interrupted", "cancelled")
UNSUCCESSFUL = ("failed", "blocked", "max_steps", "budget", "undetermined")
"""Ends other than success: what the run changed outside is undone."""
