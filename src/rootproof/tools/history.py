"""``history``: who changed a span last, when, and how: log, blame and diff of one file by git.

git runs inside containment only. A repository's own settings can make git start programs, so its configuration is
replaced in the throw-away copy by an empty one, hooks and external helpers are off, and nothing is fetched.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rootproof.canonical import Json
from rootproof.sandbox.interface import Command, Completed, Limits, Sandbox
from rootproof.scope import Scope
from rootproof.text import visible
from rootproof.tools.interface import Declined, Field, Observation, Request, Result, Spend, ToolSpec

REVISION = re.compile(r"(HEAD(~[0-9]{1,4})?|[0-9a-f]{7,64})")
SHOWN = 8_000
MOST = 20
CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
"""What stands in for the repository's own configuration while git runs."""
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null", "protocol.allow=never", "submodule.recurse=false", "gc.auto=0", "color.ui=false",
    "log.showSignature=false", "core.sshCommand=false", "diff.external=", "maintenance.auto=false",
)  # fmt: skip
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "",
}

SPEC = ToolSpec(
    name="history",
    version="1",
    doc="Log, blame or diff of a file or of lines of it, from the repository's git history.",
    fields=(
        Field("what", "choice", "log, blame or diff", choices=("log", "blame", "diff")),
        Field("path", "path", "source file"),
        Field("start", "integer", "first line; none: the whole file", required=False, least=1, most=10_000_000),
        Field("end", "integer", "last line", required=False, least=1, most=10_000_000),
        Field("revision", "text", "diff: against HEAD, HEAD~N or a commit", required=False, default="HEAD", most=64),
    ),
    results=(
        Result("what", "text", "what was asked", required=True),
        Result("path", "text", "the file", required=True),
        Result("commits", "list", "commit, date and subject, newest first", required=True),
        Result("text", "text", "what git said, bounded", required=True),
        Result("cut", "flag", "whether the text is longer than what is shown", required=True),
        Result("problem", "text", "why git said nothing"),
    ),
    reaches=("files", "processes"),
    echoes=("what",),
)


@dataclass(frozen=True)
class History:
    """Asks git about one root, through one sandbox."""

    scope: Scope
    sandbox: Sandbox
    settings: Mapping[str, Json]
    spec: ToolSpec = SPEC

    def run(self, request: Request) -> Observation | Declined:
        given, root = request.input, self.scope.root
        git = shutil.which("git")
        if git is None:
            return Declined("there is no git here", "install git")
        if not (root / ".git").is_dir() or (root / ".git").is_symlink():
            return Declined("the root is no git repository of its own", "read the files instead")
        revision = str(given.get("revision") or "HEAD")
        if not REVISION.fullmatch(revision):
            return Declined(f"{revision[:60]!r} is no revision", "HEAD, HEAD~N or a commit in hexadecimal")
        place = request.paths.get("path")
        if place is None:
            return Declined(f"there is no file {str(given['path'])[:120]}", "name a file that exists")
        path, span = str(given["path"]), _span(given.get("start"), given.get("end"))
        began = time.monotonic()
        completed = self.sandbox.run(command(git, root, arguments(str(given["what"]), path, span, revision)))
        spent = Spend(time.monotonic() - began, completed.cpu_seconds, 0)
        return _observation(str(given["what"]), path, completed, spent)


def _span(start: Json, end: Json) -> tuple[int, int] | None:
    if type(start) is not int:
        return None
    return start, max(start, end) if type(end) is int else start


def arguments(what: str, path: str, span: tuple[int, int] | None, revision: str) -> tuple[str, ...]:
    """What git is asked. No part of it comes from a request but a path in scope, two numbers and a revision."""
    plain = ("--no-ext-diff", "--no-textconv")
    if what == "blame":
        lines = ("-L", f"{span[0]},{span[1]}") if span else ()
        return ("blame", "--date=short", "-s", *lines, "HEAD", "--", path)
    if what == "diff":
        return ("diff", *plain, revision, "--", path)
    head = ("log", f"--max-count={MOST}", "--date=short", "--format=commit %H %ad %s", *plain)
    return (*head, f"-L{span[0]},{span[1]}:{path}") if span else (*head, "--patch", "--", path)


def command(git: str, root: Path, asked: tuple[str, ...]) -> Command:
    """git over a throw-away copy in which the repository's configuration is ours."""
    settings = tuple(part for setting in SETTINGS for part in ("-c", setting))
    return Command(
        argv=(git, "--no-pager", "--literal-pathspecs", "--no-optional-locks", *settings, *asked),
        root=root,
        cwd=root,
        env=ENVIRONMENT,
        writable=True,
        changes={".git/config": CONFIG, ".git/config.worktree": b"", ".git/info/attributes": b""},
        limits=Limits(seconds=30.0, cpu_seconds=30.0, memory_mb=1024),
    )


def _observation(what: str, path: str, completed: Completed, spent: Spend) -> Observation:
    text = visible(completed.stdout.text())
    problem = "" if completed.exit_code == 0 else visible(completed.stderr.text()[-400:]) or "git gave no answer"
    fields: dict[str, object] = {
        "what": what,
        "path": path,
        "commits": _commits(text) if what == "log" else [],
        "text": text[:SHOWN],
        "cut": len(text) > SHOWN or completed.stdout.dropped > 0,
        "problem": problem,
    }
    return Observation(fields, text[:SHOWN] or problem, spent=spent)


def _commits(text: str) -> list[dict[str, str]]:
    found = re.findall(r"(?m)^commit ([0-9a-f]{40,64}) (\d{4}-\d\d-\d\d) (.*)$", text)
    return [{"commit": commit[:12], "date": date, "subject": subject[:160]} for commit, date, subject in found[:MOST]]
