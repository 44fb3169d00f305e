"""The answer's template: literal words of the contract's author around facts. Nothing else can be in it."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rootproof.text import quoted

NOT_ESTABLISHED = "(not established)"


class BadTemplate(ValueError):
    """The template cannot be used; the message says why."""


def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(autoescape=False, keep_trailing_newline=False)


def names(template: str) -> tuple[str, ...]:
    """The facts a template uses.

    Raises:
        BadTemplate: it is not text with ``{{ name }}`` in it.
    """
    try:
        tree = _environment().parse(template)
    except TemplateSyntaxError as error:
        raise BadTemplate(f"line {error.lineno}: {error.message}") from None
    found: dict[str, None] = {}
    for output in tree.body:
        parts = output.nodes if isinstance(output, nodes.Output) else [output]
        for node in parts:
            if isinstance(node, nodes.Name):
                found[node.name] = None
            elif not isinstance(node, nodes.TemplateData):
                raise BadTemplate("only {{ name }} is allowed: no expressions, filters, statements or calls")
    return tuple(found)


def render(template: str, facts: Mapping[str, object]) -> str:
    """The template with each fact as one quoted, escaped line; values are never rendered again."""
    shown = {name: quoted(facts[name]) if name in facts else NOT_ESTABLISHED for name in names(template)}
    return _environment().from_string(template).render(shown)
