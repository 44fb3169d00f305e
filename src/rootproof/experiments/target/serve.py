"""Serves one request: ``trace`` (what runs where), ``mutants`` (which changes flip the test), ``probe`` (values)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import channel, coverage, mutants, probe, reimport, runs
from .lines import Files
from .session import Plugin, run_pytest

WORK: dict[str, Callable[..., Any]] = {
    "trace": coverage.work,
    "mutants": mutants.work,
    "one": runs.one,
    "probe": probe.work,
}


def serve(request: dict[str, Any], place: str) -> int:
    """Run it and say ``end`` with pytest's exit code and what could not be collected."""
    out = channel.inherited()
    request["root"] = os.getcwd()
    files = Files(request["root"])
    if request["kind"] == "one":
        os.unlink(place)
    if request.get("sources"):
        reimport.replace_sources(request["root"], request["sources"])
    job = WORK[request["kind"]](request, place, files, out)
    plugin = Plugin(files, job.run)
    job.before(plugin)
    code = run_pytest(request, plugin)
    out.send({"end": code, "problems": plugin.problems[:20], "collected": len(plugin.items)})
    return 0
