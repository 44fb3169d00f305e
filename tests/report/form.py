"""The published form of a report, as anyone would hold one against it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "report.json").read_text("utf-8"))
_VALIDATOR = Draft202012Validator(SCHEMA)


def faults(report: dict[str, Any]) -> list[str]:
    """What is wrong with a report, by its published form alone."""
    as_stored = json.loads(json.dumps(report))
    return [f"{error.json_path}: {error.message[:200]}" for error in _VALIDATOR.iter_errors(as_stored)]
