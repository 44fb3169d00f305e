"""A model that copies absolute paths from a traceback is understood: in every field that names a path or a test.

What lies outside stays outside, however it is written.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rootproof.assemble import Options, assemble, load_document, open_store, request_for, run
from rootproof.authority import authorise
from rootproof.case import Case
from rootproof.contract import read_document
from rootproof.event import Blocked, Observed, Rejected
from rootproof.investigations.root_cause.terms import Numbers, terms
from rootproof.models.scripted import Scripted
from rootproof.policy import Allowed, Denied
from rootproof.protocol import Action
from rootproof.tools.interface import Declined, Observation
from small_project import Small, small

FILES = {
    "pytest.ini": "[pytest]\n",
    "src/basket.py": "def count(items):\n    return price(items) + 1\n\n\ndef price(items):\n    return len(items['all'])\n",
    "conftest.py": "import sys\n\nsys.path.insert(0, 'src')\n",
    "tests/test_basket.py": """
        from basket import count


        def test_red():
            assert count({"all": [1]}) == 1


        def test_raises():
            count({})


        def test_green():
            assert count({"all": []}) == 1
        """,
}
RED, GREEN = "tests/test_basket.py::test_red", "tests/test_basket.py::test_green"
SOURCE = "src/basket.py"
EDIT = {"path": SOURCE, "start": 2, "end": 2, "text": "    return price(items)"}
INPUTS: dict[str, dict[str, Any]] = {
    "run_test": {"test": RED, "after": [GREEN]},
    "search_code": {"query": "count", "path": "src"},
    "read_file": {"path": SOURCE},
    "list_files": {"path": "src"},
    "history": {"what": "log", "path": SOURCE},
    "trace_test": {"test": RED},
    "search_changes": {"test": RED},
    "probe": {"test": RED, "path": SOURCE, "line": 2, "expressions": [{"expression": "items"}], "beside": GREEN},
    "try_change": {"edits": [EDIT], "target": RED},
    "try_condition": {"kind": "order", "target": RED, "before": [{"test": GREEN}]},
}
NAMED = {RED, GREEN, SOURCE, "src"}


@pytest.fixture
def project(tmp_path: Path) -> Small:
    return small(tmp_path / "project", FILES)


def document() -> dict[str, Any]:
    return terms(RED, "pytest", ["tests/test_basket.py"], Numbers())


def case_of(root: Path) -> Case:
    options = Options(model=Scripted([]), containment="none", trusted=True, interpreter=Path(sys.executable))
    return assemble(read_document(document()), root, options)


def absolute(value: Any, root: Path) -> Any:
    """The same input with every path and test as a traceback would show it."""
    if isinstance(value, dict):
        return {key: absolute(item, root) for key, item in value.items()}
    if isinstance(value, list):
        return [absolute(item, root) for item in value]
    return f"{root}/{value}" if value in NAMED else value


def test_every_field_that_names_something_is_tried_here(project: Small) -> None:
    tools = case_of(project.root).tools
    assert set(INPUTS) == set(tools)
    for name, tool in tools.items():
        for field in tool.spec.fields:
            if field.kind in ("path", "name") or field.of or "path" in field.items.values():
                assert field.name in INPUTS[name], f"{name} has a field {field.name} that is not tried"


@pytest.mark.parametrize("tool", INPUTS)
def test_it_is_the_same_request(tool: str, project: Small) -> None:
    case = case_of(project.root)
    plain = authorise(case, Action(tool, INPUTS[tool]))
    copied = authorise(case, Action(tool, absolute(INPUTS[tool], project.root)))
    assert isinstance(plain, Allowed) and isinstance(copied, Allowed), (plain, copied)
    if tool != "try_condition":  # whose list of tests the tool itself reads
        assert copied == plain


@pytest.mark.parametrize("name", ["/etc/test_a.py::test_x", "{root}/../test_a.py::test_x", "{root}2/test_a.py::test_x"])
def test_what_lies_outside_stays_outside(name: str, project: Small) -> None:
    test = name.format(root=project.root)
    case = case_of(project.root)
    assert isinstance(authorise(case, Action("run_test", {"test": test})), Denied)
    assert isinstance(authorise(case, Action("run_test", {"test": RED, "after": [test]})), Denied)
    assert isinstance(authorise(case, Action("read_file", {"path": test.split("::")[0]})), Denied)
    declined = case.tools["try_condition"].run(
        request_for(case, "try_condition", {"kind": "order", "before": [{"test": test}]})
    )
    assert isinstance(declined, Declined) and "no test of the contract" in declined.reason


def test_a_traceback_is_shown_from_the_root(project: Small) -> None:
    case = case_of(project.root)
    raised = "tests/test_basket.py::test_raises"
    seen = case.tools["run_test"].run(request_for(case, "run_test", {"test": raised}))
    assert isinstance(seen, Observation)
    assert "src/basket.py:6: KeyError" in seen.excerpt and str(project.root) not in seen.excerpt
    (project.root / "tests" / "test_basket.py").write_text("import no_module_of_anybody\n")
    seen = case.tools["run_test"].run(request_for(case, "run_test", {"test": raised}))
    assert isinstance(seen, Observation)
    assert "tests/test_basket.py" in seen.excerpt and str(project.root) not in seen.excerpt


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_traceback_of_node_is_shown_from_the_root(tmp_path: Path) -> None:
    test = "import { test } from 'node:test'\nimport { f } from '../src/f.mjs'\ntest('t', () => { f() })\n"
    files = {"src/f.mjs": "export const f = () => { throw new TypeError('no') }\n", "test/a.test.mjs": test}
    root = small(tmp_path / "project", {"package.json": "{}\n", **files}).root
    options = Options(model=Scripted([]), containment="none", trusted=True, runner="node_test")
    case = assemble(
        read_document(terms("test/a.test.mjs#t", "node_test", ["test/a.test.mjs"], Numbers())), root, options
    )
    seen = case.tools["run_test"].run(request_for(case, "run_test", {"test": f"{root}/test/a.test.mjs#t"}))
    assert isinstance(seen, Observation) and "src/f.mjs:1" in seen.excerpt, seen.excerpt
    assert str(root) not in seen.excerpt


def test_a_whole_run_of_absolute_paths_is_not_blocked(project: Small, tmp_path: Path) -> None:
    asked = ("run_test", "read_file", "search_code", "probe")
    inputs = {**INPUTS, "run_test": {"test": RED}}
    said = [{"type": "action", "tool": tool, "input": absolute(inputs[tool], project.root)} for tool in asked]
    store = tmp_path / "runs.db"
    options = Options(store=store, model=Scripted([*said, {"type": "final"}]), containment="none", trusted=True)
    options = replace(options, interpreter=Path(sys.executable))
    outcome = run(load_document(document(), project.root, "test"), options)
    opened = open_store(store, read_only=True)
    events = [stored.event for stored in opened.events(outcome.run)]
    assert tuple(event.tool for event in events if isinstance(event, Observed)) == asked
    assert not [event for event in events if isinstance(event, Blocked | Rejected)]
