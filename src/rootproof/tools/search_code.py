"""Search the readable files for words, a literal text or a pattern.

Only readable files are opened: secrets, links and special files are counted, never looked into. The search program
says where; the lines shown are read again through the scope, so no text reaches an observation that ``read_file``
would not give. The count is of matching lines and exact; nothing found is stated with how much was searched.
"""

from __future__ import annotations

import os
import resource
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rootproof import text
from rootproof.canonical import Json, to_bytes
from rootproof.encoding import decode, is_binary
from rootproof.place import Located
from rootproof.scope import MAX_FILE, Scope
from rootproof.survey import Survey
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec
from rootproof.tools.ripgrep import Query, Ripgrep, Spot, TimeUp, program

MODES = ("terms", "literal", "regex")
MAX_RESULTS = 50
HIT_BYTES = 512
"""Most bytes of one line that are shown, around its first match."""
HITS_BYTES = 24_000
"""Most bytes of all hits together, in canonical JSON; beyond, fewer are shown and ``truncated`` says so."""
_BEFORE = 40
"""Characters shown before the match where a line is clipped."""

SPEC = ToolSpec(
    name="search_code",
    version="1",
    doc="Find lines in the readable files. Says how many lines match, where, and how much was searched.",
    fields=(
        Field("query", "text", "what to look for, on one line", least=1, most=100),
        Field("path", "path", "only in this folder or file", required=False, of="folder"),
        Field(
            "mode",
            "choice",
            "terms: lines with any of the words; literal: the text as it is; regex: a regular expression (no look-around)",
            required=False,
            default="terms",
            choices=MODES,
        ),
        Field("ignore_case", "flag", "whether A and a are the same", required=False, default=False),
        Field("max_results", "integer", "lines shown", required=False, default=MAX_RESULTS, least=1, most=MAX_RESULTS),
    ),
    results=(
        Result("query", "text", "as asked", required=True),
        Result("mode", "text", "as used", required=True, choices=MODES),
        Result("ignore_case", "flag", "as used", required=True),
        Result("matches", "integer", "matching lines, all of them; not there where the search is not complete"),
        Result("found_so_far", "integer", "matching lines found before the search was cut"),
        Result("complete", "flag", "every file in scope was searched to its end", required=True),
        Result("files_scanned", "integer", "files searched", required=True),
        Result("files_matched", "integer", "files with a match", required=True),
        Result("shown", "integer", "hits given here", required=True),
        Result("truncated", "flag", "there are more matches than shown", required=True),
        Result("hits", "list", "path, line and column from 1 (bytes), text, clipped; by path, then line", required=True),
        Result("skipped", "object", "files not searched, by reason", required=True),
    ),
    settings=(
        Field("mode", "choice", "the mode where none is asked for", required=False, default="terms", choices=MODES),
        Field("max_query_chars", "integer", "longest query", required=False, default=100, least=1, most=1000),
        Field("timeout_seconds", "integer", "time for one search", required=False, default=30, least=1, most=600),
        Field("encodings", "text", "to try where a file declares none, e.g. 'gbk, big5'", required=False),
    ),
    reaches=("files",),
    echoes=("query", "mode", "ignore_case"),
    records=(Record("search_matches", "matches", "set", unless=0),),
)


@dataclass
class _Search:
    """What one search has found so far."""

    files: tuple[str, ...]
    skipped: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)
    scanned: int = 0
    hits: list[dict[str, Json]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    timed_out: bool = False
    encodings: dict[str, str] = field(default_factory=dict)
    """Raw path → the encoding a file was searched in, where that is not UTF-8."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def complete(self) -> bool:
        return not self.timed_out and not self.skipped["unreadable"] and not self.skipped["folders_closed"]


class SearchCode:
    """Searches one scope."""

    spec = SPEC

    def __init__(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        """Raises:
        NotRunnable: the search program is not installed.
        """
        self.scope = scope
        limit = settings.get("timeout_seconds")
        self.seconds = float(limit) if isinstance(limit, int) else 30.0
        self.encodings = tuple(name.strip() for name in str(settings.get("encodings") or "").split(",") if name.strip())
        self.program = program()

    def run(self, request: Request) -> Observation | Declined:
        began, used = time.monotonic(), _cpu()
        answer = self._answer(request, began + min(self.seconds, request.seconds))
        return replace(answer, spent=Spend(time.monotonic() - began, max(_cpu() - used, 0.0)))

    def _answer(self, request: Request, until: float) -> Observation | Declined:
        rg = Ripgrep(self.program, self.scope.root, until)
        query = _query(request)
        if isinstance(query, Declined):
            return query
        search = self._files(request.paths.get("path"))
        if isinstance(search, Declined):
            return search
        try:
            fault = rg.fault(query) if query.regex else ""
            if fault:
                hint = "use mode literal or terms to look for the text as it is"
                return Declined(f"$.input.query is no regular expression here: {text.one_line(fault, 200)}", hint)
            self._count(rg, query, search)
            self._show(rg, query, search, int(str(request.input["max_results"])))
        except TimeUp:
            search.timed_out = True
        return _observation(request, search)

    def _files(self, place: Located | None) -> _Search | Declined:
        path = "." if place is None else str(place.absolute.relative_to(self.scope.root))
        part = self.scope.survey().under(path)
        files, large = self._sized(part.read)
        if not files:
            where = "the scope" if path == "." else text.quoted(text.show_path(path), 120)
            return Declined(f"there is no readable file in {where}: nothing was searched", _passed_over(part, large))
        skipped = {
            "sensitive": len(part.secret),
            "symlink": len(part.links),
            "special": len(part.special),
            "too_large": large,
            "binary": 0,
            "unreadable": 0,
            "folders_closed": len(part.closed),
        }
        return _Search(tuple(files), skipped)

    def _sized(self, paths: Sequence[str]) -> tuple[list[str], int]:
        kept, large = [], 0
        for path in paths:
            try:
                fits = os.lstat(f"{self.scope.root}/{path}").st_size <= MAX_FILE
            except OSError:
                fits = True  # gone since: the search program will say that it cannot be read
            if fits:
                kept.append(path)
            else:
                large += 1
        return kept, large

    def _count(self, rg: Ripgrep, query: Query, search: _Search) -> None:
        for counts, searched in rg.counts(query, search.files):
            search.counts.update(counts)
            search.scanned += searched
        search.skipped["unreadable"] = len(search.files) - search.scanned
        for path in rg.listed(["--fixed-strings", "--regexp=\0"], sorted(search.counts)):
            data = self._bytes(path)
            if data is not None and is_binary(data):
                del search.counts[path]
                search.scanned -= 1
                search.skipped["binary"] += 1

    def _bytes(self, path: str) -> bytes | None:
        """A file's bytes, read as ``read_file`` reads them; None where it is gone or became a link."""
        place = self.scope.locate(path)
        try:
            return self.scope.read(place) if isinstance(place, Located) else None
        except OSError:
            return None
