"""Small real runs whose reports are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rootproof import assemble
from rootproof.assemble import Options, load_document, run
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.detective.policy import Detective
from rootproof.report.build import Ledger, build
from small_project import small

FILES = {
    "stock.py": "def free(total, held):\n    return total + held\n",
    "test_stock.py": "from stock import free\n\n\ndef test_free():\n    assert free(3, 1) == 2\n",
}
_REPORTS: dict[str, dict[str, Any]] = {}


def undetermined(folder: Path) -> dict[str, Any]:
    """The report of a diagnosis that had too few steps; made once."""
    if "undetermined" not in _REPORTS:
        project, store = small(folder / "project", FILES), folder / "runs.db"
        document = terms("test_stock.py::test_free", "pytest", project.site().test_files, Numbers(steps=2, test_runs=8))
        options = Options(store=store, model=Detective(), containment="none", trusted=True)
        outcome = run(load_document(document, project.root, "test"), options)
        assert outcome.status not in ("success", "failed"), outcome
        opened = assemble.open_store(store, read_only=True)
        _REPORTS["undetermined"] = build(Ledger(outcome.run, tuple(opened.events(outcome.run)), opened.blob))
    return _REPORTS["undetermined"]
