"""Read lines of one file: a re-read of the source, and so an external check.

Whatever lines are asked for, the whole file is attached at its digest: captures run over all of it. What is shown are
numbered lines with every control and invisible character as a visible escape; the attached bytes are as on disk.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rootproof import text
from rootproof.canonical import Json, digest_bytes
from rootproof.encoding import Decoded, decode, is_binary
from rootproof.place import Located
from rootproof.recording import mask
from rootproof.scope import MAX_FILE, Scope
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec

SHOWN_BYTES = 12_000
"""Most bytes of text in one answer; what is left out is asked for by its line numbers."""
LINE_CHARACTERS = 2_000
"""A longer line is clipped, and the flag ``long_lines_clipped`` says so."""

SPEC = ToolSpec(
    name="read_file",
    version="1",
    doc="Read a text file, or some of its lines. Lines are numbered from 1.",
    fields=(
        Field("path", "path", "root-relative path of one file; never a pattern"),
        Field("start", "integer", "first line, from 1", required=False, least=1),
        Field("end", "integer", "last line, included; beyond the end means to the end", required=False, least=1),
    ),
    results=(
        Result("path", "text", "the file", required=True),
        Result("digest", "text", "SHA-256 of its bytes", required=True),
        Result("encoding", "text", "Python name of the encoding it was read in", required=True),
        Result("encoding_certain", "flag", "declared in the file, or valid UTF-8; else a guess", required=True),
        Result("total_lines", "integer", "lines of the whole file", required=True),
        Result("first_line", "integer", "first line given; 0 where there is none", required=True),
        Result("last_line", "integer", "last line given; 0 where there is none", required=True),
        Result("content", "text", "those lines, without their numbers, escaped", required=True),
        Result("bad_bytes", "list", "where the first undecodable bytes are: line, and offset in the file from 0"),
    ),
    settings=(Field("encodings", "text", "to try where a file declares none, e.g. 'gbk, big5'", required=False),),
    reaches=("files",),
    echoes=("path",),
    checks=True,
    captures=True,
    records=(Record("files_read", "path", "append", about=("path", "first_line", "last_line", "digest")),),
)


@dataclass(frozen=True)
class _Page:
    """The lines that are given: numbers from 1, text as it may be shown."""

    first: int
    last: int
    lines: tuple[str, ...]
    clipped: bool = False


class ReadFile:
    """Reads beneath the root of one scope, never through a link."""

    spec = SPEC

    def __init__(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        self.scope = scope
        self.encodings = tuple(name.strip() for name in str(settings.get("encodings") or "").split(",") if name.strip())

    def run(self, request: Request) -> Observation | Declined:
        began, cpu = time.monotonic(), time.thread_time()
        answer = self._read(request)
        return replace(answer, spent=Spend(time.monotonic() - began, time.thread_time() - cpu))

    def _read(self, request: Request) -> Observation | Declined:
        place = request.paths["path"]
        name = text.quoted(place.path, 120)
        try:
            data = self.scope.read(place)
        except OSError as error:
            return Declined(
                f"{name} cannot be read: {error.strerror or 'it is not a regular file'}", "name another file"
            )
        if len(data) > MAX_FILE:
            return Declined(
                f"{name} is larger than {MAX_FILE} bytes, too large to show", "search it for a text instead"
            )
        if is_binary(data):
            return Declined(f"{name} is binary ({len(data)} bytes); only text is shown", "name a text file")
        decoded = decode(data, self.encodings)
        decoded = replace(decoded, text=str(mask(decoded.text, request.secrets)))
        page = _page(name, text.lines(decoded.text), request.input.get("start"), request.input.get("end"))
        return page if isinstance(page, Declined) else _observation(place, data, decoded, page)


def _page(name: str, lines: list[str], start: Json, end: Json) -> _Page | Declined:
    first = start if isinstance(start, int) else 1
    last = end if isinstance(end, int) else len(lines)
    if isinstance(end, int) and end < first:
        return Declined(f"line {end} does not come after line {first}", "start is the first line wanted, end the last")
    if not lines and first == 1:
        return _Page(0, 0, ())
    if first > len(lines):
        return Declined(
            f"{name} has {len(lines)} lines; line {first} is beyond its end", f"ask for lines 1 to {len(lines)}"
        )
    return _filled(first, lines[first - 1 : last])


def _filled(first: int, lines: list[str]) -> _Page:
    """As many whole lines as fit; always at least one."""
    shown: list[str] = []
    room = SHOWN_BYTES
    for line in lines:
        safe = text.visible(_clip(line))
        room -= len(safe.encode("utf-8", "backslashreplace")) + 1
        if room < 0 and shown:
            break
        shown.append(safe)
    clipped = any(len(line) > LINE_CHARACTERS for line in lines[: len(shown)])
    return _Page(first, first + len(shown) - 1, tuple(shown), clipped)


def _clip(line: str) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    return f"{line[:LINE_CHARACTERS]}[... {len(line) - LINE_CHARACTERS} more characters of this line]"


def _observation(place: Located, data: bytes, decoded: Decoded, page: _Page) -> Observation:
    digest = digest_bytes(data)
    total = text.count_lines(decoded.text)
    fields: dict[str, Json] = {
        "path": place.path,
        "digest": digest,
        "encoding": decoded.encoding,
        "encoding_certain": decoded.certain,
        "total_lines": total,
        "first_line": page.first,
        "last_line": page.last,
        "content": "\n".join(page.lines),
    }
    if decoded.bad:
        fields["bad_bytes"] = [{"line": line, "offset": offset} for line, offset in _bad_lines(data, decoded)]
    return Observation(
        fields,
        _excerpt(place, decoded, page, total),
        attachments={place.path: data},
        reads={place.path: digest},
        flags=_flags(decoded, page),
    )


def _bad_lines(data: bytes, decoded: Decoded) -> list[tuple[int, int]]:
    before = [data[:offset].decode(decoded.encoding, "backslashreplace") for offset in decoded.bad]
    return [(text.count_lines(f"{part}x"), offset) for part, offset in zip(before, decoded.bad, strict=True)]


def _flags(decoded: Decoded, page: _Page) -> tuple[str, ...]:
    whole = decoded.text
    found = {
        "encoding_guessed": not decoded.certain and not decoded.bad,
        "encoding_declaration_wrong": decoded.contradicted,
        "undecodable_bytes": bool(decoded.bad),
        "invisible_characters": text.has_invisible(whole),
        "nul_bytes": "\x00" in whole,
        "no_final_newline": bool(whole) and not whole.endswith("\n"),
        "lone_carriage_returns": any("\r" in line for line in page.lines) or "\r" in whole.replace("\r\n", "\n"),
        "long_lines_clipped": page.clipped,
    }
    return tuple(flag for flag, there in found.items() if there)


def _excerpt(place: Located, decoded: Decoded, page: _Page, total: int) -> str:
    """Numbered lines under one line that says what they are; no line of the file begins at column 0."""
    sure = decoded.encoding if decoded.certain else f"{decoded.encoding} (a guess)"
    what = f"lines {page.first}-{page.last} of {total}, {sure}" if total else "an empty file"
    head = f"file {place.path}: {what}"
    width = len(str(page.last))
    body = [f"{page.first + n:>{width}}: {line}" for n, line in enumerate(page.lines)]
    return "\n".join([head, *body])
