"""A scripted model for `rootproof diagnose` in either project: it looks at both ends of the session key, then lets the
reader follow the writer.

It chooses each step from the view alone, whichever runner runs the test.
"""

from __future__ import annotations

from typing import Any

PYTHON = ("src/shop/auth/login.py", "src/shop/auth/callback.py")
SCRIPT = ("src/auth/login.ts", "src/auth/callback.ts")
FOLLOWS = {
    PYTHON[1]: (21, '    landing = session.pop("return_to", "/")'),
    SCRIPT[1]: (16, "  const landing = session['return_to'] ?? '/'"),
}
"""The line of the reader, and what it would be."""


def propose(view: dict[str, Any]) -> dict[str, Any]:
    """The next message: run the test, read both files, try the change, ask to end."""
    target, facts = view["settings"]["target"], view["facts"]
    if not facts.get("test_outcomes"):
        return _action("run_test", test=target)
    writer, reader = PYTHON if ".py::" in target else SCRIPT
    for path in (writer, reader):
        if path not in {str(entry).split(" ")[0] for entry in facts.get("files_read", [])}:
            return _action("read_file", path=path)
    if not facts.get("change_verdicts"):
        line, text = FOLLOWS[reader]
        return _action("try_change", edits=[{"path": reader, "start": line, "end": line, "text": text}])
    return {"type": "final"}


def _action(tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": "action", "tool": tool, "input": fields}
