"""A model that is no language model: a small program for `rootproof diagnose --model "command:python greedy.py NOTES"`.

It is started once for every step, gets the view as one JSON line on standard input and prints one message. What it
wants to remember between two steps it writes into the file NOTES. It knows nothing of rootproof but the view.
"""

import json
import sys
from pathlib import Path


def action(tool, why, **given):
    return {"type": "action", "tool": tool, "input": given, "note": why}


def choose(view, notes):
    """The next message: look once, search once, then try what turned the test green, one function after the other."""
    test = view["settings"]["target"]
    if not view["missing"]:
        return {"type": "final"}
    if "traced" not in notes:
        notes["traced"] = True
        return action("trace_test", "see what it runs", test=test)
    if "found" not in notes:
        notes["found"] = []
        return action("search_changes", "see which small changes turn it green", test=test, most=300)
    for change in notes["found"]:
        for edit in change["edits"]:
            if [edit["path"], edit["start"]] not in notes["read"]:
                notes["read"].append([edit["path"], edit["start"]])
                lines = {"start": max(1, edit["start"] - 20), "end": edit["end"] + 20}
                return action("read_file", "what is changed must have been read", path=edit["path"], **lines)
        if change not in notes["tried"]:
            notes["tried"].append(change)
            return action("try_change", f"is it {change.get('function')}?", target=test, edits=change["edits"])
    return {"type": "final", "note": "nothing is left to try"}


def learn(view, notes):
    """Take from the last observation what the search found: clean changes first, one of each function in front."""
    last = view.get("last")
    if not isinstance(last, dict) or last.get("tool") != "search_changes" or notes.get("found"):
        return
    found = last["result"].get("flips")
    clean = [change for change in found if change.get("clean")] if isinstance(found, list) else []
    functions = set()
    first = [c for c in clean if not (c.get("function") in functions or functions.add(c.get("function")))]
    notes["found"] = [*first, *(change for change in clean if change not in first)][:8]


def main():
    view = json.loads(sys.stdin.readline())
    file = Path(sys.argv[1])
    fresh = {"read": [], "tried": []}
    notes = json.loads(file.read_text()) if file.exists() and view["step"] > 1 else fresh
    learn(view, notes)
    message = choose(view, notes)
    file.write_text(json.dumps(notes))
    print(json.dumps(message))


main()
