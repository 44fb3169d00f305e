"""Live progress of a run: what was asked, what came back, what became known, what is missing."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

from rootproof.apps.cli import words
from rootproof.event import Checked, Event, FinalJudged, Observed, Started
from rootproof.state import State
from rootproof.text import one_line

_COLOURS = {
    "parse_error": "33",
    "rejected": "33",
    "blocked": "31",
    "invalid_observation": "31",
    "final: accepted": "32",
}


QUIET_SECONDS = 5.0
"""Where nothing can be written in place, so long must pass between two lines about one action."""


class Progress:
    """A listener that writes one block a step."""

    def __init__(self, stream: TextIO | None = None, total: int = 0) -> None:
        self.stream = stream or sys.stdout
        self.total = total
        self.lively = self.stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self._asked = ""
        self._before: tuple[object, ...] = ()
        self._refused: tuple[str, ...] = ()
        self._wrote = time.monotonic()
        self._back = ""
        self._found: tuple[str, ...] = ()

    def __call__(self, state: State, event: Event) -> None:
        if isinstance(event, Started):
            self._asked = words.asked(event)
            self._live(f"  {state.step:>3} {self._asked} ...")
        elif isinstance(event, Observed):
            self._back = words.came_back(event)
            self._found = words.suspect_lines(event)
        elif isinstance(event, Checked):
            self._step(state.step, event.tool, f"{self._asked[len(event.tool) :].strip()} → {self._back}")
            for text in (*self._found, words.checked_line(state, event)):
                self._under(text)
        else:
            line = words.step_line(event)
            if line and (state.step, *line) != self._before:
                self._judged(state.step, line, event)
                self._before = (state.step, *line)

    def _judged(self, step: int, line: tuple[str, str], event: Event) -> None:
        refused = isinstance(event, FinalJudged) and not event.accepted
        said = event.note if isinstance(event, FinalJudged) and refused else ""
        if refused and (*line, said) == self._refused:
            self._step(step, line[0], "as before")
            return
        self._step(step, *line)
        if said:
            self._under(f"the proposer says, and nothing rests on it: {said}")
        self._refused = (*line, said) if refused else self._refused

    def note(self, text: str) -> None:
        """How far a long action is: in place on a terminal, else a line now and then."""
        self._live(f"      {self._asked[:40]}{': ' if self._asked else ''}{text}")
        if not self.lively and time.monotonic() - self._wrote > QUIET_SECONDS:
            self._under(f"... {text}")

    def _step(self, step: int, word: str, text: str) -> None:
        self._live("")
        self._before = ()
        shown = self._colour(word, f"{word:<15}")
        self.stream.write(f"{step:>3} {shown} {one_line(text, 300)}".rstrip() + "\n")
        self.stream.flush()

    def _under(self, text: str) -> None:
        self._wrote = time.monotonic()
        self.stream.write(f"{'':>19} {one_line(text, 300)}\n")
        self.stream.flush()

    def _live(self, text: str) -> None:
        if self.lively:
            self.stream.write(f"\r\x1b[2K{text[:120]}")
            self.stream.flush()

    def _colour(self, word: str, text: str) -> str:
        code = _COLOURS.get(word)
        return f"\x1b[{code}m{text}\x1b[0m" if code and self.lively else text
