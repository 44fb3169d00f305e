"""A smaller view for a model whose context is full: what is least useful goes first, the fixed part stays as it is."""

from __future__ import annotations

import json
from typing import Any

from rootproof.models.interface import View

LEVELS = 4
"""How many times smaller a view can be made."""
GONE = "left out: the model's context is full"


def smaller(view: View, level: int) -> View:
    """The view at a level: 0 is the view itself, each further one is smaller; above ``LEVELS`` nothing more goes."""
    fixed: dict[str, Any] = json.loads(view.text[: view.fixed] + "}") if view.fixed else {}
    moving = {key: value for key, value in json.loads(view.text).items() if key not in fixed}
    if level >= 1 and moving.get("earlier"):
        moving["earlier"] = [GONE]
    if level >= 2:
        _shorten(moving, 1_500 if level == 2 else 400)
    if level >= 4:
        moving["last"] = GONE if moving.get("last") else None
    if not fixed:
        return View(json.dumps(moving, ensure_ascii=False))
    return View(f"{view.text[: view.fixed]}, {json.dumps(moving, ensure_ascii=False)[1:]}", view.fixed)


def _shorten(moving: dict[str, Any], most: int) -> None:
    last = moving.get("last")
    if isinstance(last, dict) and len(str(last.get("text", ""))) > most:
        last["text"] = f"{str(last['text'])[:most]} [{GONE}]"
    moving["missing"] = (moving.get("missing") or [])[:4]
    moving["your_last_note"] = None
