"""Secrets are masked at capture, in everything that is stored and shown, and the observation says so."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.cli import Cli
from gate.reference import LOGIN, READ_LOGIN, Store, policy
from rootproof import masking
from rootproof.event import Started
from rootproof.masking import MASK, Masks, scanner
from rootproof.recording import record
from rootproof.tools.interface import Observation

# Put together here, so that no scanner takes this file for a leak.
TOKENS = {
    "github_token": "ghp" + "_" + "a1B2" * 9,
    "aws": "AKIA" + "QYLPMN5HFIQR7XYA",
    "stripe": "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "slack": "xoxb-" + "123456789012-1234567890123-" + "a1b2c3d4e5f6g7h8",
    "pypi_token": "pypi-AgEIcHlwaS5vcmc" + "aB3_" * 20,
    "gitlab_token": "glpat-" + "aB3dE5fG7hJ9kL1mN3pQ",
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".c2lnbmF0dXJl",
    "openai": "sk-" + "a1B2c3D4e5F6g7H8i9J0" + "T3BlbkFJ" + "a1B2c3D4e5F6g7H8i9J0",
}
KEY = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + "MIIEpAIBAAKCAQEA7bq\n" * 3 + "-----END RSA PRIVATE " + "KEY-----"


def recorded(report: Observation, secrets: tuple[str, ...] = ()) -> tuple[Any, bytes]:
    """The event, and all bytes that would be stored."""
    entry = record(Started(tool="t", input={}, request="r"), report, (), secrets)
    return entry.event, json.dumps(entry.event.model_dump(mode="json")).encode() + b"".join(entry.attachments.values())


def test_the_scanner_is_the_one_that_is_installed_and_every_format_of_it_is_used() -> None:
    assert scanner().name == "detect-secrets"
    assert {form.kind for form in scanner().formats} == {"private_key", *masking._FORMATS}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("place", ["field", "list", "key", "excerpt", "conditions", "attachment", "utf-16"])
def test_a_token_is_masked_wherever_it_stands_and_the_mask_is_stated(kind: str, place: str) -> None:
    token = TOKENS[kind]
    text = f"before\ntoken = '{token}' # and after\n"
    report = {
        "field": Observation({"actual": text}),
        "list": Observation({"hits": [{"text": text, "line": 2}]}),
        "key": Observation({"object": {token: 1}}),
        "excerpt": Observation({}, text),
        "conditions": Observation({}, conditions={"change": text}),
        "attachment": Observation({}, "", {"a.py": text.encode()}),
        "utf-16": Observation({}, "", {"a.py": text.encode("utf-16")}),
    }[place]
    event, stored = recorded(report)
    body = token.rsplit(".", 1)[0] if kind == "jwt" else token
    assert body.encode() not in stored and body.encode("utf-16-le") not in stored
    assert body not in stored.replace(b"\x00", b"").decode("latin-1")
    assert [flag for flag in event.flags if flag.startswith("masked:")] == [f"masked:{kind}:1"]
    if place == "attachment":
        assert stored.endswith(b" # and after\n") and MASK.encode() in stored


def test_a_private_key_is_masked_with_its_lines_kept() -> None:
    text = f"first\n{KEY}\nlast\n"
    entry = record(Started(tool="t", input={}, request="r"), Observation({}, text, {"k": text.encode()}), (), ())
    (data,) = entry.attachments.values()
    assert data.count(b"\n") == text.count("\n") and data.startswith(b"first\n[masked]") and data.endswith(b"\nlast\n")
    assert entry.event.flags == ("masked:private_key:2",)  # type: ignore[union-attr]
    cut = Masks().value(KEY[:90])
    assert "MIIEp" not in str(cut), "cut before its end it is one too"


def test_known_from_one_place_it_is_masked_in_the_others() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
    event, stored = recorded(
        Observation({"actual": f"got {secret}"}, "", {"conf.py": f'aws_secret_key = "{secret}"\n'.encode()})
    )
    assert secret.encode() not in stored and event.fields == {"actual": f"got {MASK}"}
    assert event.flags == ("masked:aws:2",)


def test_values_of_the_environment_are_masked_and_counted() -> None:
    event, stored = recorded(Observation({"a": "x hunter2-canary y"}, "hunter2-canary"), ("hunter2-canary",))
    assert b"hunter2-canary" not in stored and event.flags == ("masked:environment:2",)


@pytest.mark.parametrize(
    "text",
    [
        "password = 'hunter2'", "sha256:" + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://user:password@localhost/path", "session['return_to'] = path", "key = 'AKIA'", "sk_test_123", "eyJ.eyJ.x",
        "-----BEGIN RSA PRIVATE KEY-----", "ghp_short", "status passed", "10.0.0.1", "AC", "a" * 5000,
    ],
)  # fmt: skip
def test_what_an_investigation_is_about_is_not_masked(text: str) -> None:
    event, stored = recorded(Observation({"actual": text}, text, {"f": text.encode()}))
    assert event.fields == {"actual": text} and event.excerpt == text and event.flags == ()
    assert stored.endswith(text.encode())


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=400), text=st.text(max_size=200), kind=st.sampled_from(sorted(TOKENS)))
def test_masking_takes_any_bytes_and_changes_nothing_else(data: bytes, text: str, kind: str) -> None:
    masks = Masks()
    assert masks.data(data) == data and masks.flags == ()
    joined = data + b"\n" + TOKENS[kind].encode() + b"\n" + data
    masked = Masks().data(joined)
    assert TOKENS[kind].rsplit(".", 1)[0].encode() not in masked
    assert masked.startswith(data + b"\n" + MASK.encode()) and masked.endswith(data)
    again = Masks().value(f"{text} {TOKENS[kind]} {text}")
    assert isinstance(again, str) and TOKENS[kind] not in again
    assert Masks().value(again) == again, "what is masked stays as it is"


def test_a_file_full_of_tokens_is_masked_in_one_pass() -> None:
    many = "\n".join(f"ghp_{number:036d}" for number in range(20_000))
    event, stored = recorded(Observation({}, "", {"tokens.txt": many.encode()}))
    assert b"ghp_" not in stored and event.flags == ("masked:github_token:20000",)


def test_the_run_states_it_and_the_store_never_had_it(store: Store, cli: Cli) -> None:
    token = TOKENS["github_token"]
    place = store.root / LOGIN
    place.write_text(place.read_text() + f"// {token}\n")
    run = store.play(lambda view: READ_LOGIN if view["step"] == 1 else policy(view))
    assert run.status == "success" and run.stored[0].event.masking == "detect-secrets"  # type: ignore[union-attr]
    (seen,) = [event for event in run.events("observed") if any(flag.startswith("masked:") for flag in event.flags)]
    assert seen.excerpt.count(MASK) == 1 and token not in json.dumps(seen.model_dump(mode="json"))
    for file in store.path.parent.iterdir():
        assert token.encode() not in file.read_bytes()
    said = cli("audit", run.outcome.run)
    assert said.code == 0 and "masked {'github_token': " in said.out
    assert token not in cli("show", run.outcome.run, "--json").out


def test_without_the_extra_keys_and_the_environment_are_masked_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("detect_secrets")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "detect_secrets", None)
    scanner.cache_clear()
    try:
        assert scanner().name == "private keys only"
        event, stored = recorded(Observation({"a": "canary-value"}, KEY), ("canary-value",))
        assert b"MIIEp" not in stored and event.flags == ("masked:environment:1", "masked:private_key:1")
    finally:
        scanner.cache_clear()
