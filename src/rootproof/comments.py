"""Comments of a source text, blanked so that a capture cannot match inside one. Offsets stay as they are."""

from __future__ import annotations

MAX_CHARACTERS = 1_000_000
"""A larger text is taken as it is: no grammar is worth running over it."""


def blank_comments(path: str, source: str) -> str:
    """The same text with comments as spaces, where a grammar for the file's name exists; else the text itself."""
    if len(source) > MAX_CHARACTERS:
        return source
    from pygments.lexers import get_lexer_for_filename
    from pygments.token import Comment
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path.rsplit("/", 1)[-1], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return source
    parts: list[str] = []
    at = 0
    for start, token, value in lexer.get_tokens_unprocessed(source):
        if token in Comment and token is not Comment.Preproc and start >= at:
            parts.append(source[at:start])
            parts.append("".join(c if c == "\n" else " " for c in value))
            at = start + len(value)
    parts.append(source[at:])
    blanked = "".join(parts)
    return blanked if len(blanked) == len(source) else source
