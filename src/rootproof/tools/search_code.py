"""Search the readable files for words, a literal text or a pattern.

Only readable files are opened: secrets, links and special files are counted, never looked into. The search program
says where; the lines shown are read again through the scope, so no text reaches an observation that ``read_file``
would not give. The count is of matching lines and exact; nothing found is stated with how much was searched.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rootproof import text
from rootproof.canonical import Json, to_bytes
from rootproof.encoding import decode, is_binary
from rootproof.place import Located
from rootproof.scope import MAX_FILE, Scope
from rootproof.tools import hits
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec
from rootproof.tools.ripgrep import Query, Ripgrep, Spot, TimeUp, program

MODES = ("terms", "literal", "regex")
MAX_RESULTS = 50
HITS_BYTES = 12_000
"""Most bytes of all hits together, in canonical JSON; beyond, fewer are shown and ``truncated`` says so."""
FOREIGN = 200
"""Most files that are not UTF-8 and are searched in their own encoding, where the query is not plain ASCII."""

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
            "terms: any of the words; literal: the text as it is; regex: a pattern without look-around",
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
        Result(
            "matches",
            "integer",
            "matching lines; not there where it was cut, or none were found in a part only",
        ),
        Result("found_so_far", "integer", "matching lines found, where matches is not there"),
        Result("complete", "flag", "every file in scope was searched to its end", required=True),
        Result("files_scanned", "integer", "files searched", required=True),
        Result("files_matched", "integer", "files with a match", required=True),
        Result("shown", "integer", "hits given here", required=True),
        Result("truncated", "flag", "there are more matches than shown", required=True),
        Result(
            "hits", "list", "path, line and column from 1 (bytes), text, clipped; by path, then line", required=True
        ),
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

    files: list[str]
    skipped: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)
    scanned: int = 0
    hits: list[hits.Hit] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    encodings: dict[str, str] = field(default_factory=dict)
    """Raw path → the encoding a file was searched in, where that is not UTF-8."""
    timed_out: bool = False
    secrets: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def complete(self) -> bool:
        return not (self.timed_out or self.skipped["unreadable"] or self.skipped["closed_folders"])


class SearchCode:
    """Searches one scope."""

    spec = SPEC

    def __init__(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        """Raises NotRunnable where the search program is not installed."""
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
        query = _query(str(request.input["query"]), str(request.input["mode"]), request.input["ignore_case"] is True)
        if isinstance(query, Declined):
            return query
        search = self._files(request.paths.get("path"))
        if isinstance(search, Declined):
            return search
        search.secrets = request.secrets
        rg = Ripgrep(self.program, self.scope.root, until)
        try:
            fault = rg.fault(query) if query.regex else ""
            if fault:
                return _no_pattern(fault)
            self._count(rg, query, search)
            self._count_foreign(rg, query, search)
            most = request.input["max_results"]
            self._show(rg, query, search, most if isinstance(most, int) else MAX_RESULTS)
        except TimeUp:
            search.timed_out = True
        return _observation(request, search)

    def _files(self, place: Located | None) -> _Search | Declined:
        path = "." if place is None else str(place.absolute.relative_to(self.scope.root))
        part = self.scope.survey().under(path)
        files = [name for name in part.read if self._fits(name)]
        skipped = {
            "sensitive": len(part.secret),
            "symlink": len(part.links),
            "special": len(part.special),
            "too_large": len(part.read) - len(files),
            "binary": 0,
            "unreadable": 0,
            "closed_folders": len(part.closed),
        }
        if files:
            return _Search(files, skipped)
        where = "the scope" if path == "." else text.quoted(text.show_path(path), 120)
        passed = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
        hint = f"passed over: {passed}" if passed else "search a folder that has readable files, or leave path out"
        return Declined(f"there is no readable file in {where}: nothing was searched", hint)

    def _fits(self, name: str) -> bool:
        try:
            return os.lstat(f"{self.scope.root}/{name}").st_size <= MAX_FILE
        except OSError:
            return True  # gone since: the search will find that it cannot be read

    def _count(self, rg: Ripgrep, query: Query, search: _Search) -> None:
        for counts, searched in rg.counts(query, search.files):
            search.counts.update(counts)
            search.scanned += searched
        search.skipped["unreadable"] = len(search.files) - search.scanned
        for name in rg.listed([r"--regexp=\x00"], sorted(search.counts)):
            if is_binary(self._bytes(name)):
                del search.counts[name]
                search.scanned -= 1
                search.skipped["binary"] += 1

    def _count_foreign(self, rg: Ripgrep, query: Query, search: _Search) -> None:
        """A query that is not ASCII has other bytes in other encodings: such files are searched again in theirs."""
        if query.ascii:
            return
        foreign = rg.listed(["--invert-match", "--regexp=^.*$"], search.files)
        if len(foreign) > FOREIGN:
            search.flags.add("some_encodings_not_searched")
        groups: dict[str, list[str]] = {}
        for name in foreign[:FOREIGN]:
            rg.check_time()
            data = self._bytes(name)
            decoded = decode(data, self.encodings)
            if not is_binary(data) and not decoded.bad and not decoded.encoding.startswith("utf"):
                groups.setdefault(decoded.encoding, []).append(name)
        for encoding, names in sorted(groups.items()):
            found: dict[str, int] = {}
            searched = 0
            for counts, number in rg.counts(query, names, encoding):
                found.update(counts)
                searched += number
            if searched < len(names):
                search.flags.add("some_encodings_not_searched")
                continue
            for name in names:
                search.counts.pop(name, None)
                search.encodings[name] = encoding
            search.counts.update(found)

    def _show(self, rg: Ripgrep, query: Query, search: _Search, most: int) -> None:
        chosen = hits.first(search.counts, most)
        spots: list[Spot] = []
        for encoding in sorted({search.encodings.get(name, "") for name in chosen}):
            names = [name for name in chosen if search.encodings.get(name, "") == encoding]
            spots.extend(rg.spots(query, names, most, encoding))
        alike = hits.lookalikes(search.counts)
        search.flags.update(["lookalike_paths"] if alike else [])
        if any("\\" in text.show_path(name) for name in search.counts):
            search.flags.add("unaddressable_paths")
        room = HITS_BYTES
        for name in chosen:
            rg.check_time()
            mine = [spot for spot in spots if spot.path == name][: most - len(search.hits)]
            for hit in self._hits(name, mine, search, name in alike):
                room -= len(to_bytes(hit.fields))
                if room < 0:
                    return
                search.hits.append(hit)

    def _hits(self, name: str, spots: Sequence[Spot], search: _Search, alike: bool) -> list[hits.Hit]:
        data = self._bytes(name)
        file = hits.File(name, data, decode(data, self.encodings), name in search.encodings, alike, search.secrets)
        found = [hits.hit(file, spot) for spot in spots]
        shown = [one for one in found if one is not None]
        if len(shown) < len(found):
            search.flags.add("changed_while_searching")
        if file.decoded.bad:
            search.flags.add("undecodable_bytes")
        if any(text.has_invisible(one.line) for one in shown):
            search.flags.add("invisible_characters")
        return shown

    def _bytes(self, name: str) -> bytes:
        """A file's bytes, read as ``read_file`` reads them; none where it is gone or became a link."""
        try:
            return self.scope.read(Located(text.show_path(name), self.scope.root / name))
        except OSError:
            return b""


def _query(wanted: str, mode: str, ignore_case: bool) -> Query | Declined:
    words = tuple(dict.fromkeys(wanted.split())) if mode == "terms" else (wanted,)
    if any(not character.isprintable() and character != "\t" for word in words for character in word):
        reason = "$.input.query holds a line break, a control or an invisible character"
        return Declined(reason, "a query is one line of visible text; in mode regex write such characters as escapes")
    return Query(words, mode == "regex", ignore_case)


def _no_pattern(fault: str) -> Declined:
    reason = f"$.input.query is not a regular expression that can be searched for: {text.one_line(fault, 200)}"
    return Declined(reason, "use mode literal or terms to look for the text as it is")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + time.thread_time()


def _observation(request: Request, search: _Search) -> Observation:
    truncated = len(search.hits) < search.total
    fields: dict[str, Json] = {
        "query": request.input["query"],
        "mode": request.input["mode"],
        "ignore_case": request.input["ignore_case"],
        "matches" if search.complete or (search.total and not search.timed_out) else "found_so_far": search.total,
        "complete": search.complete,
        "files_scanned": search.scanned,
        "files_matched": len(search.counts),
        "shown": len(search.hits),
        "truncated": truncated,
        "hits": [hit.fields for hit in search.hits],
        "skipped": {reason: count for reason, count in search.skipped.items() if count},
    }
    flags = {*search.flags, *(["truncated"] if truncated else []), *([] if search.complete else ["partial"])}
    shown = _excerpt(fields, search)
    return Observation(fields, shown, cut="timeout" if search.timed_out else "", flags=tuple(sorted(flags)))


def _excerpt(fields: Mapping[str, Json], search: _Search) -> str:
    how = f"{fields['mode']}, {'any case' if fields['ignore_case'] else 'case-sensitive'}"
    cut = "; the time limit was reached, so this is not all" if search.timed_out else ""
    lines = [f"{search.total} lines match in {len(search.counts)} of {search.scanned} files searched ({how}){cut}"]
    if len(search.hits) < search.total:
        lines.append(f"shown are {len(search.hits)}: narrow the query or the path for others")
    lines.extend(hit.shown for hit in search.hits)
    skipped = [f"{count} {reason}" for reason, count in search.skipped.items() if count]
    return "\n".join([*lines, *([f"not searched: {', '.join(skipped)}"] if skipped else [])])
