"""Listing concrete admissible requests in the view. Off by default: it helps small models, and a random chooser too.

A run with it is marked by the model's name in the ledger, so that no figure is read without it.
"""

from __future__ import annotations

import json
from typing import Any

from rootproof.models import requests
from rootproof.models.interface import Model, Reply, View

CEILING = 12_000
MOST = 1_500
KEY = "could_ask"


class Suggesting:
    """Another model, shown whole requests that the contract allows. It changes nothing in what is authorised."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner
        self.name = f"{inner.name}+suggestions"
        self.notice = getattr(inner, "notice", "")
        self.prompt = getattr(inner, "prompt", "")
        self.needs_token_limit = getattr(inner, "needs_token_limit", False)

    def propose(self, view: View) -> Reply:
        """Ask the other model with the longer view.

        Raises:
            ModelUnavailable: as the other model does.
        """
        return self._inner.propose(suggested(view))


def suggested(view: View) -> View:
    """The view with a list of whole requests at its end, as far as there is room; never edits of the program."""
    seen: dict[str, Any] = json.loads(view.text)
    listed: list[dict[str, Any]] = []
    room = min(MOST, CEILING - len(view.text) - len(KEY) - 10)
    for offer in requests.offers(seen):
        if offer.ask or offer.tool in requests.PRODUCING or (not offer.tool and seen.get("missing")):
            continue
        message: dict[str, Any] = {"type": "action", "tool": offer.tool, "input": dict(offer.input)}
        entry = message if offer.tool else {"type": "final"}
        room -= len(json.dumps(entry, ensure_ascii=False)) + 2
        if room < 0:
            break
        listed.append(entry)
    if not listed:
        return view
    added = json.dumps({KEY: listed}, ensure_ascii=False)
    return View(f"{view.text[:-1]}, {added[1:]}", view.fixed)
