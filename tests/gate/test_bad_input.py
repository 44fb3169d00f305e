"""Bad input: each a clear error that names place and remedy; nothing is run, nothing is written, nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.cli import Cli
from gate.reference import Store
from gate.spoiled import NAME, Place, nobody


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)


def _huge(path: Path) -> None:
    path.write_bytes(b'goal = "' + b"x" * 50_000_000 + b'"\n')


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: path.unlink(), "there is no such file"),
    "empty": (lambda path: path.write_bytes(b""), "it is empty"),
    "blank": (lambda path: path.write_bytes(b" \n\t\n"), "it is empty"),
    "binary": (lambda path: path.write_bytes(b"\x7fELF\x02\x01\x01\x00\xff\xfe"), "not UTF-8 text (byte 8)"),
    "text in UTF-16": (lambda path: path.write_text(path.read_text(), "utf-16"), "not UTF-8 text (byte 0)"),
    "zeros": (lambda path: path.write_bytes(b"\x00" * 64), "not valid TOML"),
    "half-written": (lambda path: path.write_text(path.read_text()[:900].rsplit('"', 1)[0]), "not valid TOML"),
    "half-written, at the end of a line": (
        lambda path: path.write_text(path.read_text()[:900]),
        "completion: it is missing",
    ),
    "nested deeply": (lambda path: path.write_text("goal = " + "[" * 50_000), "not valid TOML"),
    "50 MB of nothing": (_sparse, "larger than 1000000 bytes"),
    "50 MB of text": (_huge, "larger than 1000000 bytes"),
    "a folder": (_folder, "cannot be read"),
    "a pipe": (_pipe, "it is empty"),
}


@pytest.mark.parametrize(("spoil", "found"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_contract(place: Place, spoil: Callable[[Path], object], found: str) -> None:
    spoil(place.file)
    place.refused(place.run(), f"{NAME}: ", found)


KEYS = {
    "top": ("[budget]", "[budgit]", "budgit: unknown key", "did you mean 'budget'?"),
    "section": ("max_steps", "max_stepz", "budget.max_stepz: unknown key", "did you mean 'max_steps'?"),
    "item": ("otherwise", "otherwize", "evidence[0].otherwize: unknown key", "did you mean 'otherwise'?"),
    "tool": ("[tools.read_file]", "[tools.read_fiel]", "tools.read_fiel: there is no such tool", "'read_file'"),
    "setting": ("timeout_seconds", "timeout_second", "tools.run_test.timeout_second", "did you mean 'timeout_seconds'?"),
    "input field": ("where = { path", "where = { paht", "where.paht", "did you mean 'path'?"),
    "result field": ("expect = { matches_min", "expect = { match_min", "expect.match_min", "did you mean 'matches'?"),
    "bound field": ('wanted = "expected"', 'wanted = "expacted"', "bind.wanted", "did you mean 'expected'?"),
    "status": ('status = "failed"', 'status = "faild"', "'faild' can never be seen", "did you mean 'failed'?"),
    "item's tool": ('tool = "search_code"', 'tool = "grep"', "the tool 'grep' is not allowed", "known are"),
    "a test not listed": (
        'where  = { test = "tests/auth/test_login_redirect.py::test_session_key_contract"',
        'where  = { test = "tests/auth/test_login_redirect.py::test_session_key_contrakt"',
        "is not among scope.tests",
        "did you mean 'tests/auth/test_login_redirect.py::test_session_key_contract'?",
    ),
    "a path not readable": ('path = "src/shop/auth/login.py"', 'path = "src/shop/app.py"', "is not among scope.read", "did you mean"),
    "a file that is not there": ('read  = ["src/shop/auth/login.py",', 'read  = ["src/shop/auth/log.py",', "scope.read[0]: there is no file 'src/shop/auth/log.py'", "name a file that exists"),
    "a test file that is not there": ('tests = ["tests/auth/test_login_redirect.py', 'tests = ["tests/auth/test_x.py', "scope.tests[0]: there is no file", "name a file that exists"),
    "a path that leads out": ('read  = ["src/shop/auth/login.py",', 'read  = ["../x",', "scope.read[0]: '../x' is no root-relative path", "relative to the root"),
    "a secret": ('read  = ["src/shop/auth/login.py",', 'read  = [".env",', "scope.read[0]: '.env' is a secret file", "never readable"),
    "no step": ("max_steps = 8", "max_steps = 0", "budget.max_steps: '0'", "write 1 or more"),
    "not a number": ("max_steps = 8", 'max_steps = "8"', "budget.max_steps: '8'", "hint"),
    "no end": ("seconds = 300", "seconds = inf", "budget.seconds", "hint"),
    "a date": ("seconds = 300", "seconds = 2020-01-01", "budget.seconds", "hint"),
    "an integer of 5,000 digits": ("max_steps = 8", f"max_steps = {'9' * 5000}", "", "hint"),
    "another schema": ("contract/1", "contract/9", "schema: 'rootproof/contract/9' is not a schema", "rootproof/contract/1"),
    "another mode": ('mode   = "react"', 'mode   = "yolo"', "mode: 'yolo' is no mode", "react, workflow or plan"),
    "an excluded effect": ('excluded = ["write",', 'excluded = ["processes", "write",', "tools.run_test: it reaches processes", "leave the tool out"),
    "a backtracking pattern": (r"session\[['\"](?P<producer_key>\w+)", r"(?=x)(?P<producer_key>\w+)", "evidence[2] (producer).capture", "RE2"),
    "an item that expects nothing": ("expect = { matches_min = 1 }", "", "it expects nothing", "add expect or capture"),
    "one fact twice": ('bind = { wanted = "expected"', 'bind = { fallback = "expected"', "'fallback' is already made by", "one name"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "found", "mend"), KEYS.values(), ids=KEYS)
def test_a_key_that_is_wrong(place: Place, old: str, new: str, found: str, mend: str) -> None:
    if old not in place.file.read_text():
        old = old.replace('\\"', '"')
    place.refused(place.spoil(old, new), found, mend)


def _all(*criteria: str) -> str:
    return f"all = {list(criteria)!r}"


CRITERIA = {
    "a fact no evidence makes": (("reproduced", "explained"), "no evidence can make the fact 'explained'"),
    "another type": (("producer_key == 5",), "producer_key is a text and is compared with 5: this can never be met"),
    "two values at once": (("producer_key == 'a'", "producer_key == 'b' and reproduced"), "both 'a' and 'b'"),
    "never": (("reproduced", "1 == 2"), "'1 == 2' can never be met"),
    "never, by a word": (("reproduced and false",), "can never be met"),
    "nothing at all": ((), "success needs nothing"),
    "always": (("true",), "it holds over no facts at all"),
    "always, in disguise": (("1 < 2 or reproduced",), "it holds over no facts at all"),
    "always, denied twice": (("not (not true)",), "it holds over no facts at all"),
    "no check": (("search_completed",), "success would need no external check"),
    "no check, one way": (("search_completed or reproduced",), "success would need no external check"),
    "a call": (("reproduced", "exit()"), "only names, literals, comparisons, and/or/not (Call is not)"),
    "an attribute": (("reproduced.real",), "Attribute is not"),
    "no expression": (("reproduced ==",), "not an expression"),
    "nested without end": (("not " * 60 + "reproduced",), "nested too deeply"),
}


@pytest.mark.parametrize(("criteria", "found"), CRITERIA.values(), ids=CRITERIA)
def test_criteria_that_cannot_decide(place: Place, criteria: tuple[str, ...], found: str) -> None:
    line = next(line for line in place.file.read_text().splitlines() if line.startswith("all = ["))
    place.refused(place.spoil(line, _all(*criteria)), "completion.all", found)


TEMPLATES = {
    "a name no fact provides": ("{{ fallbak }}", "no evidence can make the fact 'fallbak'", "did you mean 'fallback'?"),
    "a call": ("{{ fallback.upper() }}", "only {{ name }} is allowed", "write text with"),
    "a filter": ("{{ fallback|safe }}", "only {{ name }} is allowed", "write text with"),
    "a statement": ("{% for x in fallback %}{% endfor %}", "only {{ name }} is allowed", "write text with"),
    "unfinished": ("{{ fallback", "line 1", "write text with"),
}


@pytest.mark.parametrize(("template", "found", "mend"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_that_cannot_be_filled(place: Place, template: str, found: str, mend: str) -> None:
    place.refused(place.spoil("{{ fallback }}", template), "answer.template", found, mend)


ROOTS = {
    "missing": ("nowhere", "there is no folder 'nowhere'"),
    "a file": ("policy.py", "'policy.py' is a file"),
    "the whole file system": ("/", "'/' is the whole file system"),
    "the same, the long way": ("/usr/..", "'/usr/..' is the whole file system"),
}


@pytest.mark.parametrize(("root", "found"), ROOTS.values(), ids=ROOTS)
def test_a_root_that_is_none(place: Place, root: str, found: str) -> None:
    place.refused(place.spoil('root  = "."', f'root  = "{root}"'), "scope.root", found, "folder")


def test_a_root_that_cannot_be_read(place: Place, shared: Path) -> None:
    said = place.spoil('root  = "."', 'root  = "nowhere"')  # and so everything is imported that nobody may read
    contract = shared / NAME
    contract.write_text(place.file.read_text().replace("nowhere", "closed"))
    (shared / "closed").mkdir(mode=0)
    with nobody():
        said = place.cli("check", contract, store=False)
    said.clear(2, NAME, "scope.root", "'closed' cannot be read", "make it readable")


def test_the_root_given_by_a_flag_is_judged_too(place: Place) -> None:
    for root in (place.root / "nowhere", place.root / "policy.py", "/", "/usr/.."):
        place.run("--root", root).clear(2, f"the repository is not at {root}", "--root")
    assert not place.store.exists()


def test_every_fault_is_named_at_once(place: Place) -> None:
    text = place.file.read_text()
    for old, new in (
        (KEYS[name][0], KEYS[name][1]) for name in ("top", "setting", "result field", "status", "no step")
    ):
        text = text.replace(old, new)
    place.file.write_text(text.replace("{{ fallback }}", "{{ fallbak }}"))
    said = place.run()
    place.refused(said, "budgit", "timeout_second", "expect.match_min", "'faild'", "fallbak")
    assert said.err.splitlines()[0].startswith("error: the contract does not load: ")


def test_faults_as_json_are_one_document(place: Place) -> None:
    said = place.spoil("max_steps = 8", "max_steps = 0")
    said = place.run("--json")
    assert said.code == 2 and said.document["error"] == "contract_invalid"
    (fault,) = said.document["faults"]
    assert "budget.max_steps" in fault["place"] and fault["mend"]


# The command line's own arguments.

USAGE = {
    "no such command": (["dmeo"], ""),
    "no such flag": (["demo", "--max-stepz", "3"], ""),
    "no number": (["demo", "--max-steps", "many"], ""),
    "no contract": (["check"], "no contract is named"),
    "containment that is none": (["run", "x.toml", "--containment", "perhaps"], ""),
}


@pytest.mark.parametrize(("words", "found"), USAGE.values(), ids=USAGE)
def test_usage(cli: Cli, store: Store, words: list[str], found: str) -> None:
    said = cli(*words, store=False)
    assert said.code == 2 and found in said.err and "Traceback" not in said.err and not said.out
    assert not store.path.exists()


@pytest.mark.parametrize("model", ["", "gpt", "scripted:", "scripted:nowhere.py", "command:", "command:/nowhere/x"])
def test_a_model_that_is_none(place: Place, model: str) -> None:
    said = place.cli("run", place.file, "--model", model)
    said.clear(2)
    assert not place.store.exists()


def test_trust_is_asked_for_by_name(place: Place) -> None:
    place.run("--containment", "none").clear(9, "--trust-this-repository")
    assert not place.store.exists()
