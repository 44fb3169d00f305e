"""A model without a model: a fixed list of messages, or a function over the view. Used by the demo and by tests.

The message for a step is chosen by the step's number in the view, so a resumed run goes on where it stopped.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rootproof.errors import ModelError, ModelUnavailable
from rootproof.models.interface import Reply, View
from rootproof.text import one_line, quoted

MAX_FILE = 16 * 1024 * 1024

Said = str | Mapping[str, Any] | Reply
"""A raw message, an object that becomes one, or a whole reply."""
Policy = Callable[[dict[str, Any]], Said]
"""Chooses the message from a fresh copy of the view, which it may do anything to."""

_FORM = 'the file holds a JSON array of messages, or Python with "def propose(view: dict) -> str | dict"'


class Scripted:
    """Replays a list, or asks a function."""

    name = "scripted"
    notice = ""

    def __init__(self, source: Sequence[Said] | Policy) -> None:
        if callable(source):
            self._policy: Policy = source
        else:
            messages = tuple(source)
            self._policy = lambda view: _nth(messages, view["step"])

    def propose(self, view: View) -> Reply:
        """The message for the view's step; after the last one the reply is empty.

        Raises:
            ModelUnavailable: the function failed, or returned something that is no message.
        """
        seen = json.loads(view.text)
        try:
            said = self._policy(seen)
        except Exception as error:  # a user's function may raise anything
            raise ModelUnavailable(f"the scripted model raised {_shown(error)}", "mend its propose function") from error
        return as_reply(said)


def _nth(messages: Sequence[Said], step: int) -> Said:
    return messages[step - 1] if step <= len(messages) else Reply("", "empty")


def as_reply(said: object) -> Reply:
    """What a script said, as a reply. Nothing in it is checked: that is the parser's work.

    Raises:
        ModelUnavailable: it is no text, no object and no reply.
    """
    if isinstance(said, Reply):
        return said
    if isinstance(said, str):
        return Reply(said)
    if isinstance(said, Mapping):
        try:
            return Reply(json.dumps(dict(said), ensure_ascii=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise ModelUnavailable(f"the scripted model's object is no JSON: {_shown(error)}", _FORM) from error
    raise ModelUnavailable(f"the scripted model returned {type(said).__name__}, not a text or an object", _FORM)


def from_file(path: Path) -> Scripted:
    """A scripted model from a file: Python where the name ends in ``.py``, else a JSON array.

    Raises:
        ModelError: it cannot be read, or holds neither.
    """
    if path.suffix == ".py":
        return Scripted(_function(path))
    data = _bytes(path)
    try:
        messages = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{quoted(str(path))} is no JSON: {_shown(error)}", _FORM) from None
    if not isinstance(messages, list) or not all(isinstance(m, str | dict) for m in messages):
        raise ModelError(f"{quoted(str(path))} is no array of texts or objects", _FORM)
    return Scripted(messages)


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise ModelError(f"{quoted(str(path))} is no file", _FORM)
        if path.stat().st_size > MAX_FILE:
            raise ModelError(f"{quoted(str(path))} has more than {MAX_FILE >> 20} MiB", _FORM)
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{quoted(str(path))} cannot be read: {error.strerror or error}", _FORM) from None


def _function(path: Path) -> Policy:
    _bytes(path)
    try:
        # The user named this file on the command line; it is their program, like any other model.
        names = runpy.run_path(str(path), run_name="rootproof_script")
    except Exception as error:  # importing a user's file may raise anything
        raise ModelError(f"{quoted(str(path))} cannot be loaded: {_shown(error)}", _FORM) from error
    policy = names.get("propose")
    if not callable(policy):
        raise ModelError(f"{quoted(str(path))} has no function propose", _FORM)
    return policy  # type: ignore[no-any-return]


def _shown(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", 200)
