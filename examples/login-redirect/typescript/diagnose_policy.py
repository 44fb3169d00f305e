"""A scripted model for `rootproof diagnose` here: it looks at both ends of the session key and lets the reader follow.

It chooses each step from the view alone, whichever of the two runners runs the test.
"""

from __future__ import annotations

from typing import Any

LOGIN = "src/auth/login.ts"
CALLBACK = "src/auth/callback.ts"
LINE = 16
"""Where the callback reads the key."""


def propose(view: dict[str, Any]) -> dict[str, Any]:
    """The next message: run the test, look for the key, read both files, try the change, ask to end."""
    target = view["tools"]["try_change"]["settings"]["target"]
    facts = view["facts"]
    if not view["missing"]:
        return {"type": "final"}
    if not facts.get("test_outcomes"):
        return _action("run_test", test=target)
    for path in (LOGIN, CALLBACK):
        if path not in {str(entry).split(" ")[0] for entry in facts.get("files_read", [])}:
            return _action("read_file", path=path)
    if not facts.get("change_verdicts"):
        text = "  const landing = session['return_to'] ?? '/'"
        return _action("try_change", edits=[{"path": CALLBACK, "start": LINE, "end": LINE, "text": text}])
    return {"type": "final"}


def _action(tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": "action", "tool": tool, "input": fields}
