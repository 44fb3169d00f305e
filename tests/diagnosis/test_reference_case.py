"""The reference case, diagnosed with no script and no model; its report; and what a re-check makes of edits."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from report.browser import chromium, needs_chromium
from report.form import faults
from rootproof import assemble, verify
from rootproof.assemble import Options
from rootproof.report.as_html import html
from rootproof.report.as_markdown import markdown
from rootproof.report.build import Ledger, build

pytestmark = pytest.mark.contained

PROJECT = Path(__file__).parents[2] / "examples" / "login-redirect" / "python"
TARGET = "tests/auth/test_login_redirect.py::test_returns_to_requested_page"
OPTIONS = Options(interpreter=Path(sys.executable))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("diagnosis")


@pytest.fixture(scope="module")
def project(place: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv")
    return Path(shutil.copytree(PROJECT, place / "shop", ignore=ignored))


@pytest.fixture(scope="module")
def report(place: Path, project: Path) -> dict[str, Any]:
    """One real diagnosis for all tests of this file."""
    command = [sys.executable, "-m", "rootproof", "diagnose", TARGET, "--root", str(project), "--json"]
    command += ["--store", str(place / "runs.db"), "--python", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    (outcome,) = json.loads(done.stdout)
    assert outcome["status"] == "success"
    store = assemble.open_store(place / "runs.db", read_only=True)
    return build(Ledger(outcome["run"], tuple(store.events(outcome["run"])), store.blob))


def test_the_cause_is_the_mismatch_of_both_sides(report: dict[str, Any]) -> None:
    cause = report["derived"]["cause"]
    assert {span["path"] for span in cause["spans"]} == {"src/shop/auth/login.py", "src/shop/auth/callback.py"}
    assert cause["grade"] == ("A" if report["derived"]["containment"] == "contained" else "B")
    assert "return_to" in cause["diff"] and "next_path" in cause["diff"]
    assert cause["neighbours"]["kept"] >= 3 and not cause["neighbours"]["broken"]


def test_the_report_has_its_published_form(report: dict[str, Any]) -> None:
    assert not faults(report)


@needs_chromium
def test_the_page_is_shown_in_peace(report: dict[str, Any], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html(report), "utf-8")
    with chromium(tmp_path / "profile") as browser:
        for width, scheme in ((1000, "light"), (1000, "dark"), (390, "light"), (390, "dark")):
            shown = browser.show(page, f"success-{width}-{scheme}", width, scheme)
            assert shown.requests == [page.as_uri()] and not shown.console and shown.overflow <= 0


def test_every_neighbour_is_named_before_and_after(report: dict[str, Any]) -> None:
    cause = report["derived"]["cause"]
    assert len(cause["runs"]) == cause["pairs"]["needed"]
    assert {(pair["unchanged"], pair["changed"]) for pair in cause["runs"]} == {("failed", "passed")}
    assert len(cause["tests"]) == cause["neighbours"]["kept"]
    assert {(one["before"], one["after"]) for one in cause["tests"]} == {("passed", "passed")}


def test_nothing_of_the_project_is_written(report: dict[str, Any], project: Path) -> None:
    def tree(root: Path) -> dict[str, bytes]:
        files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {str(path.relative_to(root)): path.read_bytes() for path in files if ".venv" not in path.parts}

    source = {k: v for k, v in tree(PROJECT).items() if ".pytest_cache" not in k}
    assert tree(project) == source


def test_every_stated_fact_names_its_event(report: dict[str, Any]) -> None:
    page = markdown(report)
    for fact in report["derived"]["facts"]:
        assert f"event {fact['event']}" in page
    assert "unverified" in page, "the model's own words stand apart"


def test_the_page_is_whole_and_needs_no_network(report: dict[str, Any]) -> None:
    page = html(report)
    assert "<script" not in page and "http://" not in page and "https://" not in page
    assert "src/shop/auth/callback.py" in page and report["head"] in page


def test_what_a_test_prints_is_inert_in_every_form(report: dict[str, Any]) -> None:
    forged = copy.deepcopy(report)
    forged["derived"]["reason"] = forged["derived"]["goal"] = "\x1b[2J`` ` <img src=x onerror=alert(1)>\n# heading"
    page, text = html(forged), markdown(forged)
    assert "<img" not in page and "\x1b" not in page + text
    assert not any(line.startswith("# heading") for line in text.splitlines())


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for key, item in enumerate(value) for leaf in leaves(item, (*path, key))]
    return [path]


def edited(report: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(report)
    at = changed
    for key in path[:-1]:
        at = at[key]
    value = at[path[-1]]
    at[path[-1]] = (value + 1) if isinstance(value, int) and not isinstance(value, bool) else f"{value}x"
    return changed


def test_any_edited_field_that_can_be_derived_is_refuted(report: dict[str, Any], project: Path) -> None:
    paths = leaves({"derived": report["derived"], "head": report["head"], "events": report["events"]})
    step = max(len(paths) // 40, 1)
    for path in paths[::step]:
        found = verify.verify(edited(report, path), project, OPTIONS)
        assert found.answer == "refuted", (path, found)


def test_an_edited_observation_is_refuted(report: dict[str, Any], project: Path) -> None:
    for digest in report["observations"]:
        changed = copy.deepcopy(report)
        changed["observations"][digest] = "AAAA" + changed["observations"][digest][4:]
        assert verify.verify(changed, project, OPTIONS).answer == "refuted"


def test_one_changed_source_line_makes_it_stale(report: dict[str, Any], project: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(project, tmp_path / "other"))
    with (other / "src/shop/web.py").open("a") as file:
        file.write("# one more line\n")
    found = verify.verify(report, other, OPTIONS)
    assert found.answer == "stale"
    assert "src/shop/web.py" in found.reasons[0]


def test_a_head_held_elsewhere_must_be_the_same(report: dict[str, Any], project: Path) -> None:
    assert verify.verify(report, project, OPTIONS, head="0" * 64).answer == "refuted"


@pytest.mark.suites
def test_another_checkout_confirms_it(report: dict[str, Any], project: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(project, tmp_path / "other"))
    assert verify.verify(report, other, OPTIONS).answer == "confirmed"
