"""Lines of source as pieces with a class each, for reading; never evidence. Pure.

The grammar is that of Pygments for the file's name. A text that is too long, or has no grammar, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_CHARACTERS = 200_000

Piece = tuple[str, str]
"""(class, text); the class is empty where nothing is special about the text."""


def highlighted(path: str, source: str, first: int, lines: Sequence[str]) -> list[list[Piece]]:
    """The pieces of some lines of a file, of which ``lines`` begin at number ``first``.

    Args:
        source: the whole file, so that a text over many lines is known as one; empty: these lines are all there is.
    """
    plain: list[list[Piece]] = [[("", line)] for line in lines]
    whole = source or "\n".join(lines)
    if len(whole) > MAX_CHARACTERS:
        return plain
    coloured = _coloured(path, whole)
    chosen = coloured[first - 1 : first - 1 + len(lines)] if source else coloured[: len(lines)]
    joined = ["".join(text for _, text in pieces).rstrip("\r") for pieces in chosen]
    return chosen if joined == list(lines) else plain


def _coloured(path: str, source: str) -> list[list[Piece]]:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path.rsplit("/", 1)[-1], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [[("", line)] for line in source.split("\n")]
    rows: list[list[Piece]] = [[]]
    for _, token, value in lexer.get_tokens_unprocessed(source):
        kind = _kind(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                rows.append([])
            if part:
                rows[-1].append((kind, part))
    return rows


def _kind(token: Any) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    classes = (
        ("c", Comment), ("s", String), ("n", Number), ("k", Keyword), ("k", Operator.Word),
        ("f", Name.Function), ("f", Name.Class), ("b", Name.Builtin), ("f", Name.Decorator),
    )  # fmt: skip
    return next((name for name, parent in classes if token in parent), "")
