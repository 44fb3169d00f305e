"""Text from outside where something may read commands out of it: Markdown, and the logs of build services. Pure.

Controls, invisible and direction-changing characters become visible escapes (``text``). So do the marks by which a
build service takes commands out of a log (``::error::`` where a line begins; ``##[error]``, ``##vso[...]``,
``##teamcity[...]`` anywhere) and what would end a code span, a fence or a table's cell.
"""

from __future__ import annotations

import re

from rootproof.text import one_line, visible

_LINE_COMMAND = re.compile(r"^(\s*):(?=:)", re.M)
_ANYWHERE = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))", re.I)


def no_commands(text: str) -> str:
    """The text without anything that a build service obeys; what was there stays readable.

    The escapes are those of JSON: in a document they change no value.
    """
    return _ANYWHERE.sub(r"\\u0023", _LINE_COMMAND.sub(r"\1\\u003a", text))


def code(value: object, limit: int = 200) -> str:
    """A value as inline code that cannot end early."""
    shown = no_commands(one_line(str(value), limit)).replace("`", "ˋ").replace("|", "¦").strip()
    return f"`{shown}`" if shown else "(empty)"


def fenced(text: str, kind: str = "") -> list[str]:
    """Lines as a block that none of them can end; ``kind`` is a word of ours."""
    shown = no_commands(visible(text.rstrip("\n")))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return [f"{fence}{kind}", *shown.split("\n"), fence]
