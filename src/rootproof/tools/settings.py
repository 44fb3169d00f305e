"""Settings that every tool has which starts tests: how a contract names the runner, and the limits of one run."""

from __future__ import annotations

from rootproof.tools.interface import Field

TARGET = Field("target", "text", "the failing test where a request names none", most=1000)
ONE_RUN = (
    Field(
        "runner",
        "choice",
        "which test runner",
        choices=("auto", "pytest", "unittest", "vitest", "node_test"),
        alias="command:",
    ),
    Field("timeout_seconds", "integer", "longest time of one run", least=1, most=3600),
    Field("memory_mb", "integer", "most memory of one run", least=64, most=65536),
)
