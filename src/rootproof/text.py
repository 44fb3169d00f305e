"""What a line is, and how text from outside is shown so that it can do nothing.

One rule for lines, everywhere: a line ends with ``\\n``; a ``\\r`` right before it belongs to the ending. Nothing else
ends a line (not form feed, not U+2028, not a lone ``\\r``), so that line numbers agree with search, git and editors.
"""

from __future__ import annotations

import re

MAX_RENDERED = 200
"""A rendered fact is one line of at most this many characters."""

# Controls except tab, C1, bidi marks and overrides, zero-width, line separators, tags, variation selectors, surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_UNSAFE_BUT_NEWLINE = re.compile(_UNSAFE.pattern.replace("\x0a-", "\x0b-"))
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def lines(text: str) -> list[str]:
    """The lines of a text without their endings; an empty text has none."""
    if not text:
        return []
    parts = text.split("\n")
    if parts[-1] == "":
        parts.pop()
    return [part[:-1] if part.endswith("\r") else part for part in parts]


def count_lines(text: str) -> int:
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def line_of(text: str, offset: int) -> int:
    """The 1-based line in which a character offset lies."""
    return text.count("\n", 0, offset) + 1


def has_invisible(text: str) -> bool:
    """True where characters are there that a person cannot see (zero-width, bidi controls, tags)."""
    return _INVISIBLE.search(text) is not None


_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with every lone surrogate as a visible escape, so that it can be encoded, stored and read again."""
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """The text with every control, invisible or direction-changing character as a visible escape."""
    if text.isascii() and text.isprintable():
        return text

    def escape(match: re.Match[str]) -> str:
        code = ord(match.group())
        if code < 0x100:
            return f"\\x{code:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return (_UNSAFE_BUT_NEWLINE if keep_newlines else _UNSAFE).sub(escape, text)


def quoted(value: object, limit: int = MAX_RENDERED) -> str:
    """A value as one quoted, escaped line of at most ``limit`` characters: inert wherever it is shown."""
    if isinstance(value, bool) or value is None or isinstance(value, int | float):
        return str(value)
    plain = value if isinstance(value, str) else repr(value)
    plain = plain[: limit * 2].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    shown = visible(plain, keep_newlines=False)
    if len(shown) > limit - 2:
        shown = shown[: limit - 5] + "..."
    return f'"{shown}"'


def one_line(text: str, limit: int) -> str:
    """The text as one visible line, cut at ``limit`` characters."""
    shown = visible(text.replace("\n", "\\n").replace("\t", " "), keep_newlines=False)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def show_path(raw: str) -> str:
    """A path as it is stored and shown: reversible, so that different names never look the same to a program.

    An undecodable byte is ``\\xNN``, a control or invisible character ``\\uNNNN`` (``\\xNN`` below 0x80), a backslash
    ``\\\\``.
    """
    if raw.isascii() and raw.isprintable() and "\\" not in raw:
        return raw

    def escape(match: re.Match[str]) -> str:
        code = ord(match.group())
        if 0xDC80 <= code <= 0xDCFF:
            return f"\\x{code - 0xDC00:02x}"
        if code < 0x80:
            return f"\\x{code:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return _UNSAFE.sub(escape, raw.replace("\\", "\\\\"))
