"""The lines a search shows: cut around the match, escaped, with a path that tells look-alikes apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from rootproof import text
from rootproof.canonical import Json
from rootproof.encoding import Decoded
from rootproof.recording import mask
from rootproof.tools.ripgrep import Spot

HIT_BYTES = 512
"""Most bytes of one line that are shown."""
_BEFORE = 40
"""Characters shown before the match where a line is clipped."""


@dataclass(frozen=True)
class Hit:
    """One matching line, as it is shown."""

    fields: Mapping[str, Json]
    line: str
    """The whole line, as it is in the file."""

    @property
    def shown(self) -> str:
        spelled = f" (spelled {self.fields['spelled']})" if "spelled" in self.fields else ""
        place = f"{self.fields['path']}{spelled}:{self.fields['line']}:{self.fields['column']}"
        return f"  {place}: {self.fields['text']}{' [clipped]' if self.fields['clipped'] else ''}"


@dataclass(frozen=True)
class File:
    """A file with matches, as it was read again for showing them."""

    name: str
    """Raw root-relative path."""
    data: bytes
    decoded: Decoded
    transcoded: bool
    """True: it was searched in its own encoding, and columns count bytes of its text in UTF-8."""
    alike: bool
    """Another path with matches looks the same."""
    secrets: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """As they may be shown."""
        return text.lines(str(mask(self.decoded.text, self.secrets)))

    @cached_property
    def searched(self) -> tuple[list[bytes], str]:
        """The lines as bytes, as they were searched, and the codec that reads them."""
        if self.transcoded or self.decoded.encoding == "utf-16":
            return self.decoded.text.encode("utf-8", "surrogatepass").split(b"\n"), "utf-8"
        if self.decoded.encoding == "utf-8-sig":
            return self.data[3:].split(b"\n"), "utf-8"
        return self.data.split(b"\n"), self.decoded.encoding


def hit(file: File, spot: Spot) -> Hit | None:
    """The line at a place; None where the file no longer has it."""
    raw, codec = file.searched
    if spot.line > len(file.lines) or spot.column > len(raw[spot.line - 1]) + 1:
        return None
    line = file.lines[spot.line - 1]
    at = min(len(raw[spot.line - 1][: spot.column - 1].decode(codec, "backslashreplace")), len(line))
    shown, clipped = _around(line, at)
    fields: dict[str, Json] = {
        "path": text.show_path(file.name),
        "line": spot.line,
        "column": spot.column,
        "text": shown,
        "clipped": clipped,
    }
    if file.alike:
        fields["spelled"] = file.name.encode("ascii", "backslashreplace").decode()
    return Hit(fields, line)


def _around(line: str, at: int) -> tuple[str, bool]:
    """As much of a line, escaped, as fits; where not all does, from shortly before the match on."""
    whole = text.visible(line, keep_newlines=False) if len(line) <= HIT_BYTES else ""
    if len(line) <= HIT_BYTES and len(whole.encode()) <= HIT_BYTES:
        return whole, False
    begin = max(0, at - _BEFORE)
    size = HIT_BYTES
    while len((shown := text.visible(line[begin : begin + size], keep_newlines=False)).encode()) > HIT_BYTES:
        size = size * 3 // 4
    return shown, True


def lookalikes(names: Iterable[str]) -> frozenset[str]:
    """Those of the paths that are told apart only by how their characters are composed."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if not name.isascii():
            groups.setdefault(unicodedata.normalize("NFKC", name), []).append(name)
    return frozenset(name for group in groups.values() if len(group) > 1 for name in group)


def first(counts: Mapping[str, int], most: int) -> list[str]:
    """The first files, by name, that together have ``most`` matching lines."""
    chosen: list[str] = []
    total = 0
    for name in sorted(counts):
        if total >= most:
            break
        chosen.append(name)
        total += counts[name]
    return chosen
