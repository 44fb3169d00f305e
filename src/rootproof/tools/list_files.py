"""A bounded map of the scope: which files there are, how large, in which folders. Opens none of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from rootproof import pattern, text
from rootproof.canonical import Json, to_bytes
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

SHOWN = 100
MAX_RESULTS = 200
FOLDERS = 40
"""Most folders that are listed with their counts."""
ENTRIES_BYTES = 10_000
"""Most bytes of all entries together, in canonical JSON."""

SPEC = ToolSpec(
    name="list_files",
    version="1",
    doc="List the files in scope, with their sizes, and how many each folder holds.",
    fields=(
        Field("path", "path", "only in this folder", required=False, of="folder"),
        Field("glob", "text", "only these: * within a name, ** over folders", required=False, least=1, most=200),
        Field("max_results", "integer", "files listed", required=False, default=SHOWN, least=1, most=MAX_RESULTS),
    ),
    results=(
        Result("files", "integer", "files in scope that fit", required=True),
        Result("bytes", "integer", "their sizes together", required=True),
        Result("shown", "integer", "files listed here", required=True),
        Result("truncated", "flag", "there are more than listed", required=True),
        Result("entries", "list", "path, bytes, and whether it may be read or is a test only; by path", required=True),
        Result("folders", "object", "folder → files in it and below, the fullest ones", required=True),
        Result("skipped", "object", "what was passed over, by reason", required=True),
    ),
    reaches=("files",),
)


class ListFiles:
    """Lists one scope."""

    spec = SPEC

    def __init__(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        self.scope = scope

    def run(self, request: Request) -> Observation | Declined:
        began, cpu = time.monotonic(), time.thread_time()
        answer = self._answer(request)
        return replace(answer, spent=Spend(time.monotonic() - began, time.thread_time() - cpu))

    def _answer(self, request: Request) -> Observation | Declined:
        place = request.paths.get("path")
        path = "." if place is None else str(place.absolute.relative_to(self.scope.root))
        glob = str(request.input.get("glob") or "**")
        part = self.scope.survey().under(path)
        names = {text.show_path(name): name for name in part.files}
        found = [shown for shown in names if pattern.matches(glob, shown)]
        if not found:
            return _nothing(path, glob)
        sizes = {shown: _size(f"{self.scope.root}/{names[shown]}") for shown in found}
        most = request.input.get("max_results")
        entries = _entries(found[: most if isinstance(most, int) else SHOWN], sizes, {*map(text.show_path, part.read)})
        skipped = {"sensitive": part.secret, "symlink": part.links, "special": part.special, "closed": part.closed}
        fields: dict[str, Json] = {
            "files": len(found),
            "bytes": sum(sizes.values()),
            "shown": len(entries),
            "truncated": len(entries) < len(found),
            "entries": entries,
            "folders": _folders(found, path),
            "skipped": {reason: len(paths) for reason, paths in skipped.items() if paths},
        }
        flags = ("truncated",) if fields["truncated"] else ()
        return Observation(fields, _excerpt(fields, entries), flags=flags)


def _nothing(path: str, glob: str) -> Declined:
    where = "the scope" if path == "." else text.quoted(text.show_path(path), 120)
    fit = "" if glob == "**" else f" that fits {text.quoted(glob, 120)}"
    return Declined(f"there is no file in {where}{fit}", "leave path and glob out to list the whole scope")


def _entries(names: list[str], sizes: Mapping[str, int], readable: set[str]) -> list[dict[str, Json]]:
    entries: list[dict[str, Json]] = []
    room = ENTRIES_BYTES
    for name in names:
        entry: dict[str, Json] = {"path": name, "bytes": sizes[name], "readable": name in readable}
        room -= len(to_bytes(entry))
        if room < 0:
            break
        entries.append(entry)
    return entries


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _folders(found: list[str], path: str) -> dict[str, Json]:
    """The folders one and two levels below ``path`` that hold the most files."""
    depth = 0 if path == "." else path.count("/") + 1
    counts: Counter[str] = Counter()
    for name in found:
        parts = name.split("/")[:-1]
        for level in (depth + 1, depth + 2):
            if len(parts) >= level:
                counts["/".join(parts[:level])] += 1
    fullest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:FOLDERS]
    return {name[:200]: count for name, count in sorted(fullest)}


def _excerpt(fields: Mapping[str, Json], entries: list[dict[str, Json]]) -> str:
    lines = [f"{fields['files']} files, {fields['bytes']} bytes; {fields['shown']} listed"]
    lines.extend(
        f"  {entry['path']} ({entry['bytes']}{'' if entry['readable'] else ', test only'})" for entry in entries
    )
    return "\n".join(lines)
