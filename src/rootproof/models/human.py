"""A person at the terminal as the model: sees what a model sees, picks a number or types a message."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rootproof.errors import ModelUnavailable
from rootproof.models import requests
from rootproof.models.interface import Reply, View
from rootproof.models.requests import Offer
from rootproof.text import lines, one_line, visible

MOST_LINES = 40


class Human:
    """One person."""

    name = "human"
    notice = ""

    def __init__(self, keys: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._keys = keys or sys.stdin
        self._screen = screen or sys.stderr

    def propose(self, view: View) -> Reply:
        """Show the view, list the choices, take one.

        Raises:
            ModelUnavailable: the terminal's input ended; the run can be resumed.
        """
        seen = json.loads(view.text)
        offered = requests.offers(seen)
        self._say(*screen(seen), *listed(offered))
        while True:
            typed = self._line(f"number from 1 to {len(offered)}, or a JSON message> ")
            if typed.startswith("{"):
                return Reply(typed)
            if typed.isascii() and typed.isdigit() and 1 <= int(typed[:6]) <= len(offered):
                return Reply(self._message(offered[int(typed[:6]) - 1]))
            self._say("that is neither; nothing was sent")

    def _message(self, choice: Offer) -> str:
        if not choice.tool:
            return json.dumps({"type": "final"})
        given = dict(choice.input)
        for name, takes in choice.ask.items():
            given[name] = _typed(self._line(f"  {name} ({one_line(takes, 160)})> "), takes)
        return json.dumps({"type": "action", "tool": choice.tool, "input": given}, ensure_ascii=False)

    def _line(self, prompt: str) -> str:
        self._screen.write(prompt)
        self._screen.flush()
        typed = self._keys.readline()
        if not typed:
            raise ModelUnavailable("the terminal's input ended")
        return typed.strip()

    def _say(self, *said: str) -> None:
        self._screen.write("".join(f"{line}\n" for line in said))
        self._screen.flush()


def _typed(text: str, takes: str) -> object:
    """A typed value as the field wants it; what does not fit is sent as it is and rejected with the reason."""
    if takes.startswith("whole number") and text.lstrip("-").isdigit() and len(text) < 18:
        return int(text)
    if takes.startswith("true or false") and text in ("true", "false"):
        return text == "true"
    return text


def screen(seen: Mapping[str, Any]) -> list[str]:
    """The view for a person. Every line of text from outside is indented, marked and inert."""
    shown = ["", f"step {seen.get('step')} of {seen.get('max_steps')}: {one_line(str(seen.get('goal')), 300)}"]
    if seen.get("refused"):
        shown.append(f"refused: {one_line(str(seen['refused']), 600)}")
    shown += _block("still missing", seen.get("missing"))
    facts = seen.get("facts")
    if isinstance(facts, Mapping):
        known = [f"{one_line(key, 80)} = {one_line(repr(value), 240)}" for key, value in facts.items()]
        shown += _block("known", known)
    return shown + _last(seen.get("last"))


def _block(title: str, entries: object) -> list[str]:
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        return []
    return [f"{title}:", *(f"  - {one_line(str(entry), 300)}" for entry in entries)]


def _last(last: object) -> list[str]:
    if not isinstance(last, Mapping):
        return []
    result = last.get("result")
    pairs = result.items() if isinstance(result, Mapping) else ()
    brief = ", ".join(f"{one_line(str(key), 40)}={one_line(str(value), 120)}" for key, value in pairs)
    shown = [f"last, from {one_line(str(last.get('tool')), 60)} (unverified): {brief}"]
    body = lines(visible(str(last.get("text", ""))))
    shown += [f"  | {one_line(line, 200)}" for line in body[:MOST_LINES]]
    if len(body) > MOST_LINES:
        shown.append(f"  | ... and {len(body) - MOST_LINES} more lines")
    return shown


def listed(offered: Sequence[Offer]) -> list[str]:
    """The numbered choices."""
    return ["choices:", *(f"  {number:>2}  {choice.words()}" for number, choice in enumerate(offered, 1))]
