"""A scripted model for this case: it chooses the next step from the facts it is shown, and from nothing else.

`propose` goes with `contract.toml`, `propose_node_test` with `contract-node-test.toml`. The first message is a sentence
of prose, as language models like to begin; the gate counts it as a parse error.
"""

from __future__ import annotations

import json
from typing import Any

VITEST = "tests/auth/login-redirect.test.ts"
NODE_TEST = "tests-node/auth/login-redirect-test.mjs"
LOGIN = "src/auth/login.ts"
CALLBACK = "src/auth/callback.ts"


def propose(view: dict[str, Any]) -> str:
    """The next message, with the tests of vitest."""
    return _propose(view, VITEST)


def propose_node_test(view: dict[str, Any]) -> str:
    """The next message, with the tests of node:test."""
    return _propose(view, NODE_TEST)


def _propose(view: dict[str, Any], tests: str) -> str:
    if view["step"] == 1:
        return "Let me start by running the failing test to see what really happens."
    facts = view["facts"]
    if not facts.get("reproduced"):
        return _action("run_test", test=f"{tests}#returns-to-requested-page")
    if not facts.get("search_matches"):
        return _action("search_code", query="return_to next_path")
    for path in (LOGIN, CALLBACK):
        if not _was_read(path, facts):
            return _action("read_file", path=path)
    if not facts.get("contract_mismatch"):
        return _action("run_test", test=f"{tests}#session-key-contract")
    return json.dumps({"type": "final"})


def _action(tool: str, **fields: str) -> str:
    return json.dumps({"type": "action", "tool": tool, "input": fields})


def _was_read(path: str, facts: dict[str, Any]) -> bool:
    """Whether a file is among those read; entries begin with the path and may go on with lines and digest."""
    return any(str(entry).split(" ")[0] == path for entry in facts.get("files_read", []))
