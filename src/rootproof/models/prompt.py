"""The words a language model is given beside the view: files of this package, known by their digest."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from rootproof import canonical


@cache
def text(name: str = "act") -> str:
    """The words of one prompt file."""
    return files("rootproof.models.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def digest() -> str:
    """Digest of the prompt files, as the ledger keeps it: another wording is another experiment."""
    return canonical.digest({"act": text("act")})
