"""A report as one self-contained HTML page: no script, no network, everything escaped. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rootproof.text import one_line, visible


def html(report: Mapping[str, Any]) -> str:
    """The whole page, from the template ``page.html`` beside this file."""
    environment = ImmutableSandboxedEnvironment(autoescape=True, undefined=StrictUndefined)
    environment.filters["line"] = lambda value, limit: one_line(str(value), limit)
    environment.filters["plain"] = lambda value: visible(str(value), keep_newlines=False)
    page = files("rootproof.report").joinpath("page.html").read_text("utf-8")
    return environment.from_string(page).render(d=report["derived"], report=report)
