"""A report as one self-contained HTML page: no script, no link that leaves it, everything escaped. Pure.

The page may load nothing and run nothing: its own policy allows one thing, the very style sheet that stands in it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from rootproof.report import words
from rootproof.report.highlight import Piece, highlighted
from rootproof.text import one_line, visible


def html(report: Mapping[str, Any]) -> str:
    """The whole page, from the templates in the folder ``page``."""
    derived, style = report["derived"], _part("style.css")
    return (
        _environment()
        .get_template("page.html")
        .render(
            d=derived,
            report=report,
            words=words,
            sources=_sources(report),
            spent=sum(row["seconds"] for row in derived["timeline"]) or 1.0,
            style=style,
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii"),
        )
    )


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """Templates that write nothing but visible, escaped text, also where one of them forgets to say so."""
    environment = ImmutableSandboxedEnvironment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_part),
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_seen,
    )
    environment.filters["line"] = lambda value, limit: one_line(str(value), limit)
    return environment


def _seen(value: Any) -> Any:
    """What is about to be written, with every character that nobody would see as a visible escape."""
    return visible(value, keep_newlines=False) if isinstance(value, str) and not isinstance(value, Markup) else value


def _part(name: str) -> str:
    return files("rootproof.report").joinpath("page", name).read_text("utf-8")


def _sources(report: Mapping[str, Any]) -> list[list[list[Piece]]]:
    """For each context of the cause, its lines in pieces."""
    cause = report["derived"]["cause"]
    contexts = cause.get("context", ()) if cause else ()
    return [highlighted(one["path"], _whole(report, one["digest"]), one["start"], one["lines"]) for one in contexts]


def _whole(report: Mapping[str, Any], digest: str) -> str:
    try:
        data = base64.b64decode(report["observations"].get(digest, ""), validate=True)
    except binascii.Error:
        return ""
    return data.decode("utf-8", "backslashreplace")
