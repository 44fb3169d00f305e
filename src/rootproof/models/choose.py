"""What ``--model`` names: a kind and its argument. Only the text is judged here; ``assemble`` builds the model."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from urllib.parse import urlsplit

from rootproof.errors import ModelError
from rootproof.text import quoted

ALONE = ("human", "detective")
"""Kinds without an argument."""
FILES = ("scripted", "cassette", "local")
"""Kinds whose argument is a file."""
HOSTED = ("anthropic", "openai", "google", "deepseek", "qwen", "mistral", "groq", "openrouter", "azure", "bedrock")
"""Kinds that send the view to a company's servers; their argument is the model's name there."""
SERVED = ("ollama", "openai-compatible")
"""Kinds that speak to a server the user names, or to one on this machine."""
PROVIDERS = (*HOSTED, *SERVED)
KINDS = (*ALONE, *FILES, "command", *PROVIDERS)

_REMEDY = (
    "one of human, detective, scripted:FILE, cassette:FILE, command:PROGRAM ARGS, local:FILE.gguf, "
    "ollama:NAME, openai-compatible:NAME@URL, or PROVIDER:NAME with " + ", ".join(HOSTED)
)


@dataclass(frozen=True)
class Choice:
    """One model, as the user named it."""

    kind: str
    argument: str = ""
    url: str = ""
    """Base URL of the server, where one was given."""

    @property
    def hosted(self) -> bool:
        """True where the view leaves for somebody's server."""
        return self.kind in PROVIDERS


def parse(spec: str) -> Choice:
    """Read a ``--model`` value.

    Raises:
        ModelError: the kind is not known, or its argument is missing or not of its form.
    """
    kind, colon, argument = spec.strip().partition(":")
    argument = argument.strip()
    if kind not in KINDS:
        near = difflib.get_close_matches(kind.lower(), KINDS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ModelError(f"no kind of model is called {quoted(kind, 60)}", hint + _REMEDY)
    if kind in ALONE:
        if colon:
            raise ModelError(f"{kind} takes nothing after it, found {quoted(argument, 60)}", f"--model {kind}")
        return Choice(kind)
    if not argument:
        raise ModelError(f"{kind} needs something after the colon", _REMEDY)
    return _addressed(kind, argument) if kind in SERVED else Choice(kind, argument)


def _addressed(kind: str, argument: str) -> Choice:
    name, at, url = argument.rpartition("@")
    if not at:
        name, url = argument, ""
    form = f"--model {kind}:NAME@http://HOST:PORT/v1"
    if kind == "openai-compatible" and not url:
        raise ModelError("openai-compatible needs the server's base URL", form)
    if not name:
        raise ModelError(f"{kind} needs the model's name before the @", form)
    if url:
        _check_url(url, form)
    return Choice(kind, name, url)


def _check_url(url: str, form: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise ModelError("the base URL cannot be read", form) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ModelError("the base URL must begin with http:// or https:// and name a host", form)
    if parts.username or parts.password:
        raise ModelError("a key or password never belongs into the base URL", "put it into OPENAI_COMPATIBLE_API_KEY")
